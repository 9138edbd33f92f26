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
from .scopes import MOST_VALUES, Def, File, Module, Place, Super, Value

ROUNDS = 8
"""How often what callers pass is followed into what they call: the longest chain of that."""
_MANY = 20_000
"""Calls that are worth a process."""

Written = tuple[str, str, str]
"""A value as every process can read it: its class, its path or key, its qualified name."""

Message = dict[Written, list[Written]]
"""What calls pass, by parameter: the function's path, its qualified name, the parameter's."""


class Round(NamedTuple):
    """What one part is to do next: the first round, a further one, or the end."""

    paths: Sequence[str] = ()
    passed: Message | None = None


class RoundAnswer(NamedTuple):
    passed: Message
    draft: Draft | None = None


Meanwhile = Callable[[], object]

Ask = Callable[[Sequence[Round], Meanwhile], list[RoundAnswer]]
"""Gives each part its job, does something meanwhile, and has all their answers."""


def draw_calls(
    files: Mapping[str, File], values: Values, draft: Draft, processes: int, meanwhile: Meanwhile
) -> None:  # fmt: skip
    """Draws what the calls of all files reach; other processes do that ``meanwhile``."""
    part = _Worker(files, values)
    parts = _dealt(files, processes)
    if len(parts) <= 1:
        _run(part.alone, parts, draft, meanwhile)
        return
    from ..pool import Team

    with Team(part.answer, len(parts)) as team:
        _run(team.each, parts, draft, meanwhile)


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


def _run(ask: Ask, parts: Sequence[list[str]], draft: Draft, meanwhile: Meanwhile) -> None:
    known: dict[Written, set[Written]] = {}
    passed = _new(ask([Round(paths=part) for part in parts], meanwhile), known)
    for _ in range(ROUNDS):
        if not passed:
            break
        passed = _new(ask([Round(passed=passed)] * len(parts), _nothing), known)
    for answer in ask([Round()] * len(parts), _nothing):
        if answer.draft is not None:
            draft.join(answer.draft)


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
        return RoundAnswer({}, self._draft)

    @staticmethod
    def _answer(passed: Passed) -> RoundAnswer:
        return RoundAnswer({
            (made.file.path, made.qualified, name): [_written(value) for value in values]
            for (made, name), values in passed.items()
        })  # fmt: skip

    def _read(self, message: Message) -> dict[Place, list[Value]]:
        return {
            (self._files[path].defs[qualified], name): [self._value(one) for one in values]
            for (path, qualified, name), values in message.items()
        }

    def _value(self, written: Written) -> Value:
        kind, path, qualified = written
        if kind == Module.__name__:
            return self._values.modules.module(path)
        made = self._files[path].defs[qualified]
        if kind == Super.__name__:
            return self._values.super_of(made)
        return made if kind == Def.__name__ else made.instance


def _written(value: Value) -> Written:
    if isinstance(value, Module):
        return (Module.__name__, value.key, "")
    made = value if isinstance(value, Def) else value.of
    return (type(value).__name__, made.file.path, made.qualified)
