"""All files' facts → the edges between them: imports, calls, inherits, instantiates.

A pure function but for the manifests of the languages' own tools, which are read from
the root as data.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Mapping

from ...core.vocabulary import file_id
from ..imports import DECLARED, RESOLVED, Bound, Importers, SourceTree
from ..languages.registry import language
from ..parse.facts import FileFacts, Import
from . import marks
from .bases import adopt, inherit, merge
from .differences import posts
from .edges import Draft, Resolution
from .import_types import import_type, told
from .inference import Values
from .kept import IMPORTS, FileAnswers, Passes, Reads, join, put
from .rounds import draw_calls, enough
from .scopes import File

_PART = re.compile(r"[^\s./:\\'\"<>]+")

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
    draft, reads = Draft(), Reads()
    known = {path: File(facts, language(facts.language)) for path, facts in files.items()}
    importers = Importers(SourceTree(files, root), files)
    for file in known.values():
        bind(file, importers, known, draft, reads)
    values = Values(
        known, {path: file.language for path, file in known.items()}, importers.packages
    )
    every = list(known.values())
    merge(every, values)
    adopt(every, values, reads)
    inherit(every, values, draft, reads)
    join(reads, values.looked_up())
    drawn = draw_calls(known, values, processes or enough(known), meanwhile)
    draft.join(drawn.draft)
    join(reads, drawn.reads)
    answers = {
        path: answers_of(file, drawn.passes.get(path, {}), draft) for path, file in known.items()
    }
    languages = {path: facts.language for path, facts in files.items()}
    edges = dict(sorted(draft.edges.items()))
    adopting = {known[path].language.family for path, each in answers.items() if each.adopted}
    return Resolution(
        edges,
        draft.by_language(languages),
        answers,
        {path: posts(known[path], each) for path, each in answers.items()},
        reads,
        importers.tree.manifests(),
        adopting,
    )


def answers_of(file: File, passes: Passes, draft: Draft) -> FileAnswers:
    """What is kept of a file that is resolved."""
    bases = {
        made.qualified: [(base.file.path, base.qualified, sure) for base, sure in made.bases]
        for made in file.defs.values() if made.bases
    }  # fmt: skip
    adopted = {
        made.qualified: (made.outer.file.path, made.outer.qualified)
        for made in file.defs.values()
        if made.outer is not None and made.outer.file is not file
    }
    return FileAnswers(
        all_bound(file), file.mates,
        bases, tuple(made.qualified for made in file.defs.values() if made.open),
        adopted, passes, draft.counts.get(file.path, {}),
    )  # fmt: skip


def all_bound(file: File) -> tuple[Bound, ...]:
    """What a file's imports give it."""
    return (*(one for some in file.bound.values() for one in some), *file.stars)


def bind(
    file: File, importers: Importers, known: Mapping[str, File], draft: Draft, reads: Reads
) -> None:  # fmt: skip
    """Gives a file what it imports, and draws the edges ``imports``."""
    make = file.language.importer
    if make is None:
        return
    family = file.language.family
    parts = {part for item in file.facts.imports for part in _parts(item)}
    looked = {marks.imported(family, part) for part in parts}
    importer = importers.of(file.language.family, make)
    file.mates = importers.package_of(file.path)
    used: set[str] | None = None
    here = file_id(file.path)
    for item in file.facts.imports:
        found = importer.find(file.facts, item)
        file.bind(found.bound)
        if found.outcome == DECLARED:
            continue
        draft.count(file.path, "imports", found.outcome)
        if found.outcome != RESOLVED:
            continue
        kind = import_type(file.path, item, file.language)
        for target in found.files:
            if target in known:
                draft.add(here, file_id(target), "imports", found.confidence, told("file", kind))
            else:
                used = _used(file) if used is None else used
                looked.add(marks.top(target, marks.WHOLE))
                for path, sure in _of_package(importers.packages.get(target, ()), used, known):
                    draft.add(here, file_id(path), "imports", min(sure, found.confidence),
                              told("package", kind))  # fmt: skip
    if looked:
        put(reads, file.path, IMPORTS, looked)


def _parts(item: Import) -> list[str]:
    """The names in an import that may be of files, folders, packages, or classes."""
    return [*_PART.findall(item.module), *_PART.findall(item.name)]


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
