"""Answers to questions that need one another, some of which may yet grow."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Set
from typing import Any, Generic, TypeVar

A = TypeVar("A")
Q = TypeVar("Q", bound=tuple[Any, ...])

Source = Hashable
"""What an answer may hang on, and may grow with."""

_TURNS = 8
"""How often a circle is gone through at most."""
_CUT = 0
"""The level of what is too deep to be answered."""
_NOTHING_YET: Set[Source] = frozenset()
_NONE = 1 << 30
"""The level of an answer that needs no question under way."""


class Search(Generic[A]):
    """Finds answers, each once, and keeps account of what they hang on.

    Questions that need one another in a circle get the least answers that agree: the first
    of them is asked again, with what was found so far for the others, until nothing changes
    (Kleene's fixed point; the circle is a strongly connected component, told by the lowest
    level that is reached, as Tarjan's algorithm tells it). So it is the same with which of
    them one begins; but for what is ``deepest`` questions deep, which has ``nothing`` for
    an answer then.
    """

    def __init__(self, nothing: A, deepest: int) -> None:
        self.asked: set[Source] = set()
        """What the answers hang on that were given since this was emptied."""
        self._nothing = nothing
        self._deepest = deepest
        self._level = _CUT
        self._low = _NONE
        self._tables: list[Answers[Any, A]] = []
        self._circle: list[tuple[Answers[Any, A], Any]] = []
        """Questions that were answered with the help of one that is under way."""
        self._so_far: dict[tuple[int, Any], A] = {}
        self._changes = 0

    def table(self, find: Callable[..., A]) -> Answers[Q, A]:
        """Answers to one kind of questions, tuples: ``find(*question)`` finds one."""
        made: Answers[Q, A] = Answers(self, find)
        self._tables.append(made)
        return made

    def forget(self) -> None:
        """Forgets all answers."""
        for answers in self._tables:
            answers.clear()
            answers.open.clear()

    def forget_grown(self, grown: Set[Any]) -> None:
        """Forgets the answers that hang on what has grown."""
        for answers in self._tables:
            for question in [q for q, (_, sources, _) in answers.open.items() if sources & grown]:
                del answers.open[question]

    def answer(self, answers: Answers[Q, A], question: Q) -> A:
        """The answer to a question that has none that stands."""
        kept = answers.open.get(question)
        if kept is not None:
            found, sources, low = kept
            self.asked |= sources
            self._low = min(self._low, low)
            return found
        if self._level == self._deepest:
            self._low = _CUT
            return self._nothing
        asked, low = self.asked, self._low
        self._level += 1
        begin = len(self._circle)
        found = self._find(answers, question)
        if self._low > self._level:
            answers.keep(question, found, self.asked)
        else:
            found = self._in_circle(answers, question, found, begin)
        self._level -= 1
        asked |= self.asked
        self.asked, self._low = asked, min(low, self._low)
        return found

    def _find(self, answers: Answers[Q, A], question: Q) -> A:
        so_far = self._so_far.get((id(answers), question), self._nothing)
        answers.open[question] = (so_far, _NOTHING_YET, self._level)
        self.asked, self._low = set(), _NONE
        return answers.find(*question)

    def _in_circle(self, answers: Answers[Q, A], question: Q, found: A, begin: int) -> A:
        """The answer to a question that needs itself, or one that is under way."""
        key = (id(answers), question)
        changes = -1
        for _ in range(_TURNS):
            if self._low != self._level or (
                changes == self._changes and found == self._so_far.get(key, self._nothing)
            ):
                break
            self._so_far[key], changes = found, self._changes
            self._forget_from(begin)
            found = self._find(answers, question)
        if self._low < self._level and self._level > 1:
            self._hold(answers, question, found)
            return found
        self._so_far.pop(key, None)
        for others, other in self._circle[begin:]:
            others.keep(other, others.open[other][0], self.asked)
            self._so_far.pop((id(others), other), None)
        del self._circle[begin:]
        answers.keep(question, found, self.asked)
        self._low = _NONE
        return found

    def _hold(self, answers: Answers[Q, A], question: Q, found: A) -> None:
        """Keeps an answer until the question under way that it needs has its own."""
        key = (id(answers), question)
        if self._so_far.get(key, self._nothing) != found:
            self._so_far[key] = found
            self._changes += 1
        answers.open[question] = (found, self.asked, self._low)
        self._circle.append((answers, question))

    def _forget_from(self, begin: int) -> None:
        for answers, question in self._circle[begin:]:
            del answers.open[question]
        del self._circle[begin:]


class Answers(dict[Q, A]):
    """What was found out, by question: in itself what stands, in ``open`` what may yet change.

    An open answer has with it what it hangs on, and the lowest level of a question under
    way that it needs: its own, while it is being looked for.
    """

    __slots__ = ("find", "open", "search")

    def __init__(self, search: Search[A], find: Callable[..., A]) -> None:
        super().__init__()
        self.search = search
        self.find = find
        self.open: dict[Q, tuple[A, Set[Source], int]] = {}

    def __missing__(self, question: Q) -> A:
        return self.search.answer(self, question)

    def keep(self, question: Q, found: A, sources: Set[Source]) -> None:
        """An answer that needs no question under way any more."""
        if sources:
            self.open[question] = (found, sources, _NONE)
        else:
            self[question] = found
            self.open.pop(question, None)
