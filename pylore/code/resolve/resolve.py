"""Resolving all names of a tree, in rounds, in one process or several."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ...core.vocabulary import file_id
from ..facts import FileFacts, Import
from ..imports import DECLARED, RESOLVED, Bound, Importers, SourceTree
from ..languages.registry import language
from . import scopes
from .calls import ArgumentTypes, Calls, Draft, Resolution, adopt, inherit, merge
from .inference import Values
from .kept import AWAITS, CALLS, IMPORTS, FileAnswers, Passes, Reads, Written, join, posts, put
from .scopes import MOST_VALUES, OUTSIDE, Def, File, Module, Place, Super, Value, import_type, told

ROUNDS = 8
"""Rounds in which argument types are followed into calls: the longest chain."""
_MANY = 20_000
"""Calls that are worth a process."""

Message = dict[Written, list[Written]]
"""Argument types by parameter: the function's path, its qualified name, the parameter's."""


class Round(NamedTuple):
    """The next task of a part: the first round, a further one, or the end."""

    paths: Sequence[str] = ()
    argument_types: Message | None = None


class Drawn(NamedTuple):
    """Result of the calls of some files."""

    draft: Draft
    passes: dict[str, Passes]
    reads: Reads


class RoundAnswer(NamedTuple):
    argument_types: Message
    drawn: Drawn | None = None


Meanwhile = Callable[[], object]

Ask = Callable[[Sequence[Round], Meanwhile], list[RoundAnswer]]
"""Gives each part its job, does something meanwhile, and has all their answers."""


def draw_calls(
    files: Mapping[str, File], values: Values, processes: int, meanwhile: Meanwhile
) -> Drawn:  # fmt: skip
    """Draw what the calls of all files reach; other processes do that ``meanwhile``."""
    drawn = Drawn(Draft(), {}, {})
    part = _Worker(files, values)
    parts = _dealt(files, processes)
    if len(parts) <= 1:
        _run(part.alone, parts, drawn, meanwhile)
        return drawn
    from ..worker import Team

    with Team(part.answer, len(parts)) as team:
        _run(team.each, parts, drawn, meanwhile)
    return drawn


def enough(files: Mapping[str, File]) -> int:
    """Return how many processes help with the calls of these files."""
    calls = sum(len(file.facts.calls) for file in files.values())
    return max(1, min(os.cpu_count() or 1, 8, calls // _MANY))


def _dealt(files: Mapping[str, File], count: int) -> list[list[str]]:
    """Return the files in so many parts, with about as many calls in each.

    Neighbours stay together: they look up the same names.
    """
    parts: list[list[str]] = [[] for _ in range(count)]
    share = sum(len(file.facts.calls) for file in files.values()) / count
    dealt = 0
    for path, file in files.items():
        parts[min(int(dealt / share), count - 1) if share else 0].append(path)
        dealt += len(file.facts.calls)
    return [part for part in parts if part]


def _run(ask: Ask, parts: Sequence[list[str]], drawn: Drawn, meanwhile: Meanwhile) -> None:
    known: dict[Written, set[Written]] = {}
    types = _new(ask([Round(paths=part) for part in parts], meanwhile), known)
    for _ in range(ROUNDS):
        if not types:
            break
        types = _new(ask([Round(argument_types=types)] * len(parts), _nothing), known)
    for answer in ask([Round()] * len(parts), _nothing):
        if answer.drawn is not None:
            drawn.draft.join(answer.drawn.draft)
            drawn.passes.update(answer.drawn.passes)
            join(drawn.reads, answer.drawn.reads)


def _nothing() -> None:
    """Do nothing meanwhile, after the first round."""


def _new(answers: Iterable[RoundAnswer], known: dict[Written, set[Written]]) -> Message:
    """Return the argument types that are new, of all parts together."""
    found: Message = {}
    for answer in answers:
        for place, values in answer.argument_types.items():
            held = known.setdefault(place, set())
            fresh = [value for value in values if value not in held]
            if fresh and len(held) <= MOST_VALUES:
                held.update(fresh)
                found.setdefault(place, []).extend(fresh)
    return found


class _Worker:
    """A process's work: a part of the calls, among the names of all files."""

    def __init__(self, files: Mapping[str, File], values: Values) -> None:
        self._files = files
        self._values = values
        self._draft = Draft()
        self._calls = Calls(files.values(), values, self._draft)

    def alone(self, jobs: Sequence[Round], meanwhile: Meanwhile) -> list[RoundAnswer]:
        meanwhile()
        return [self.answer(job) for job in jobs]

    def answer(self, job: Round) -> RoundAnswer:
        if job.paths:
            return self._answer(self._calls.first(self._files[path] for path in job.paths))
        if job.argument_types:
            return self._answer(self._calls.again(self._read(job.argument_types)))
        self._calls.finish()
        return RoundAnswer({}, Drawn(self._draft, written_passes(self._calls), self._reads()))

    def _reads(self) -> Reads:
        reads = self._values.looked_up()
        for root, each in ((CALLS, self._calls.reads), (AWAITS, self._calls.awaits)):
            for path, looked in each.items():
                put(reads, path, root, looked)
        return reads

    @staticmethod
    def _answer(types: ArgumentTypes) -> RoundAnswer:
        return RoundAnswer({
            (made.file.path, made.qualified, name): [written(value) for value in values]
            for (made, name), values in types.items()
        })  # fmt: skip

    def _read(self, message: Message) -> dict[Place, list[Value]]:
        return {
            (self._files[path].defs[qualified], name): [self._value(one) for one in values]
            for (path, qualified, name), values in message.items()
        }

    def _value(self, written: Written) -> Value:
        return read_value(self._files, self._values, written)


def read_value(files: Mapping[str, File], values: Values, written: Written) -> Value:
    """Return the value that was written."""
    kind, path, qualified = written
    if kind == Module.__name__:
        return values.modules.module(path) if path else OUTSIDE
    made = files[path].defs[qualified]
    if kind == Super.__name__:
        return values.super_of(made)
    return made if kind == Def.__name__ else made.instance


def written_passes(calls: Calls) -> dict[str, Passes]:
    """Return what the calls of each file pass."""
    return {
        path: {
            (made.file.path, made.qualified, name): {
                written(value): number for value, number in values.items()
            }
            for (made, name), values in emitted.items()
            if values
        }
        for path, emitted in calls.emitted.items()
    }


def written(value: Value) -> Written:
    """Return a value so that every process can read it."""
    if isinstance(value, Module):
        return (Module.__name__, value.key, "")
    made = value if isinstance(value, Def) else value.of
    kind = Def if isinstance(value, Def) else type(value)
    return (kind.__name__, made.file.path, made.qualified)


_PART = re.compile(r"[^\s./:\\'\"<>]+")

UNNAMED_USE = 0.5
"""Of a package from which no name is seen to be used its first file is imported, with this."""


def resolve(
    files: Mapping[str, FileFacts],
    root: str,
    processes: int = 0,
    meanwhile: Callable[[], object] = lambda: None,
) -> Resolution:
    """Return the edges between ``files`` (path from ``root`` → facts), and what became of each
    name.

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
    """Return what is kept of a file that is resolved."""
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
    """Return what a file's imports give it."""
    return (*(one for some in file.bound.values() for one in some), *file.stars)


def bind(
    file: File, importers: Importers, known: Mapping[str, File], draft: Draft, reads: Reads
) -> None:  # fmt: skip
    """Give a file its imports, and draw the edges ``imports``."""
    make = file.language.importer
    if make is None:
        return
    family = file.language.family
    parts = {part for item in file.facts.imports for part in _parts(item)}
    looked = {scopes.imported(family, part) for part in parts}
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
                looked.add(scopes.top(target, scopes.WHOLE))
                for path, sure in _of_package(importers.packages.get(target, ()), used, known):
                    draft.add(here, file_id(path), "imports", min(sure, found.confidence),
                              told("package", kind))  # fmt: skip
    if looked:
        put(reads, file.path, IMPORTS, looked)


def _parts(item: Import) -> list[str]:
    """Return the names in an import that may be of files, folders, packages, or classes."""
    return [*_PART.findall(item.module), *_PART.findall(item.name)]


def _used(file: File) -> set[str]:
    """Return every name that the calls, bases and assignments of a file have in them."""
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
    """Return the files of a package whose names are used; its first file where none can be told."""
    found = [(path, 1.0) for path in paths if not used.isdisjoint(known[path].top)]
    return found or [(path, UNNAMED_USE) for path in paths[:1]]
