"""The calls of all files, resolved in rounds, by as many processes as help.

What a round's calls pass on counts from the next round, whatever the order of the files
and however they are dealt out: the edges are the same with one process as with eight.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from .calls import Calls, Passed
from .edges import Draft
from .inference import Values
from .kept import AWAITS, CALLS, Passes, Reads, Written, join, put
from .scopes import MOST_VALUES, OUTSIDE, Def, File, Module, Place, Super, Value

ROUNDS = 8
"""How often what callers pass is followed into what they call: the longest chain of that."""
_MANY = 20_000
"""Calls that are worth a process."""

Message = dict[Written, list[Written]]
"""What calls pass, by parameter: the function's path, its qualified name, the parameter's."""


class Round(NamedTuple):
    """What one part is to do next: the first round, a further one, or the end."""

    paths: Sequence[str] = ()
    passed: Message | None = None


class Drawn(NamedTuple):
    """What came of the calls of some files."""

    draft: Draft
    passes: dict[str, Passes]
    reads: Reads


class RoundAnswer(NamedTuple):
    passed: Message
    drawn: Drawn | None = None


Meanwhile = Callable[[], object]

Ask = Callable[[Sequence[Round], Meanwhile], list[RoundAnswer]]
"""Gives each part its job, does something meanwhile, and has all their answers."""


def draw_calls(
    files: Mapping[str, File], values: Values, processes: int, meanwhile: Meanwhile
) -> Drawn:  # fmt: skip
    """Draws what the calls of all files reach; other processes do that ``meanwhile``."""
    drawn = Drawn(Draft(), {}, {})
    part = _Worker(files, values)
    parts = _dealt(files, processes)
    if len(parts) <= 1:
        _run(part.alone, parts, drawn, meanwhile)
        return drawn
    from ..pool import Team

    with Team(part.answer, len(parts)) as team:
        _run(team.each, parts, drawn, meanwhile)
    return drawn


def enough(files: Mapping[str, File]) -> int:
    """How many processes help with the calls of these files."""
    calls = sum(len(file.facts.calls) for file in files.values())
    return max(1, min(os.cpu_count() or 1, 8, calls // _MANY))


def _dealt(files: Mapping[str, File], count: int) -> list[list[str]]:
    """The files in so many parts, with about as many calls in each.

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
    passed = _new(ask([Round(paths=part) for part in parts], meanwhile), known)
    for _ in range(ROUNDS):
        if not passed:
            break
        passed = _new(ask([Round(passed=passed)] * len(parts), _nothing), known)
    for answer in ask([Round()] * len(parts), _nothing):
        if answer.drawn is not None:
            drawn.draft.join(answer.drawn.draft)
            drawn.passes.update(answer.drawn.passes)
            join(drawn.reads, answer.drawn.reads)


def _nothing() -> None:
    """What is done meanwhile after the first round."""


def _new(answers: Iterable[RoundAnswer], known: dict[Written, set[Written]]) -> Message:
    """What was never passed before, of all parts together."""
    found: Message = {}
    for answer in answers:
        for place, values in answer.passed.items():
            held = known.setdefault(place, set())
            fresh = [value for value in values if value not in held]
            if fresh and len(held) <= MOST_VALUES:
                held.update(fresh)
                found.setdefault(place, []).extend(fresh)
    return found


class _Worker:
    """What one process does: a part of the calls, among the names of all files."""

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
        if job.passed:
            return self._answer(self._calls.again(self._read(job.passed)))
        self._calls.finish()
        return RoundAnswer({}, Drawn(self._draft, written_passes(self._calls), self._reads()))

    def _reads(self) -> Reads:
        reads = self._values.looked_up()
        for root, each in ((CALLS, self._calls.reads), (AWAITS, self._calls.awaits)):
            for path, looked in each.items():
                put(reads, path, root, looked)
        return reads

    @staticmethod
    def _answer(passed: Passed) -> RoundAnswer:
        return RoundAnswer({
            (made.file.path, made.qualified, name): [written(value) for value in values]
            for (made, name), values in passed.items()
        })  # fmt: skip

    def _read(self, message: Message) -> dict[Place, list[Value]]:
        return {
            (self._files[path].defs[qualified], name): [self._value(one) for one in values]
            for (path, qualified, name), values in message.items()
        }

    def _value(self, written: Written) -> Value:
        return read_value(self._files, self._values, written)


def read_value(files: Mapping[str, File], values: Values, written: Written) -> Value:
    """The value that was written."""
    kind, path, qualified = written
    if kind == Module.__name__:
        return values.modules.module(path) if path else OUTSIDE
    made = files[path].defs[qualified]
    if kind == Super.__name__:
        return values.super_of(made)
    return made if kind == Def.__name__ else made.instance


def written_passes(calls: Calls) -> dict[str, Passes]:
    """What the calls of each file pass."""
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
    """A value so that every process can read it."""
    if isinstance(value, Module):
        return (Module.__name__, value.key, "")
    made = value if isinstance(value, Def) else value.of
    kind = Def if isinstance(value, Def) else type(value)
    return (kind.__name__, made.file.path, made.qualified)
