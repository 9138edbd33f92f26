"""All files' facts → the edges between them: imports, calls, inherits, instantiates.

A pure function but for the manifests of the languages' own tools, which are read from
the root as data.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping

from ...core.vocabulary import file_id
from ..imports import DECLARED, RESOLVED, Importers, SourceTree
from ..languages.registry import language
from ..parse.facts import FileFacts
from .bases import adopt, inherit, merge
from .edges import Draft, Resolution
from .inference import Values
from .rounds import draw_calls, enough
from .scopes import File

UNNAMED_USE = 0.5
"""Of a package from which no name is seen to be used its first file is imported, with this."""


def resolve(
    files: Mapping[str, FileFacts],
    root: str,
    processes: int = 0,
    meanwhile: Callable[[], object] = lambda: None,
) -> Resolution:
    """The edges between ``files`` (path from ``root`` → facts), and what became of each name.

    Ends of edges are ``file-<path>`` and ``symbol-<path>::<qualified>``; weights are
    confidences. Names that lead nowhere are counted and get no edge. The same files give
    the same edges, with any number of processes (0: as many as help): of what might be
    several things the first by path counts. ``meanwhile`` is called once, while other
    processes are at work if there are any.
    """
    # Everything made here lives to the end: the collector would only search it in vain.
    collecting = gc.isenabled()
    gc.disable()
    try:
        return _resolve(dict(sorted(files.items())), root, processes, meanwhile)
    finally:
        if collecting:
            gc.enable()


def _resolve(
    files: Mapping[str, FileFacts], root: str, processes: int, meanwhile: Callable[[], object]
) -> Resolution:  # fmt: skip
    draft = Draft()
    known = {path: File(facts, language(facts.language)) for path, facts in files.items()}
    importers = Importers(SourceTree(files, root), files)
    for file in known.values():
        _imports(file, importers, known, draft)
    values = Values(known, importers.packages)
    every = list(known.values())
    merge(every, values)
    adopt(every, values)
    inherit(every, values, draft)
    draw_calls(known, values, draft, processes or enough(known), meanwhile)
    return draft.result()


def _imports(file: File, importers: Importers, known: Mapping[str, File], draft: Draft) -> None:
    make = file.language.importer
    if make is None:
        return
    importer = importers.of(file.language.family, make)
    file.mates = importers.package_of(file.path)
    used: set[str] | None = None
    here = file_id(file.path)
    for item in file.facts.imports:
        found = importer.find(file.facts, item)
        file.bind(found.bound)
        if found.outcome == DECLARED:
            continue
        draft.count(file.facts.language, "imports", found.outcome)
        if found.outcome != RESOLVED:
            continue
        for target in found.files:
            if target in known:
                draft.add(here, file_id(target), "imports", found.confidence, "file")
            else:
                used = _used(file) if used is None else used
                for path, sure in _of_package(importers.packages.get(target, ()), used, known):
                    draft.add(here, file_id(path), "imports", min(sure, found.confidence),
                              "package")  # fmt: skip


def _used(file: File) -> set[str]:
    """Every name that the calls, bases and assignments of a file have in them."""
    facts = file.facts
    chains = [call.callee for call in facts.calls]
    chains += [base for symbol in facts.symbols for base in symbol.bases]
    chains += facts.assigned.values()
    return {
        part.rstrip("()") for chain in chains for word in chain.split() for part in word.split(".")
    }


def _of_package(
    paths: list[str] | tuple[str, ...], used: set[str], known: Mapping[str, File]
) -> list[tuple[str, float]]:
    """The files of a package whose names are used; its first file where none can be told."""
    found = [(path, 1.0) for path in paths if not used.isdisjoint(known[path].top)]
    return found or [(path, UNNAMED_USE) for path in paths[:1]]
