"""Answers to questions that need one another, some of which may yet grow."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Set
from heapq import heappop, heappush
from typing import Any, Generic, TypeVar

A = TypeVar("A")
Q = TypeVar("Q", bound=tuple[Any, ...])

Source = Hashable
"""What an answer may hang on, and may grow with."""


class Search(Generic[A]):
    """Finds answers, each once, and keeps account of what they hang on.

    Questions that need one another are a strongly connected component of the graph of
    questions, told while they are asked (Tarjan's algorithm). A component has a worklist:
    when an answer changes, those that have read it are asked again, until none changes.
    Where answers only grow with the answers that they are made of, and not for ever, these
    are the least that agree: the same with whichever question one begins. An answer that
    comes back to what it was before does not only grow, as one of too many values that is
    none: then it stays what it has come back to, or what it was before it came to nothing.

    At most ``deepest`` questions are asked one within the other. The next one is answered
    first, and then those that waited for it are asked again: a chain may be of any length.
    """

    def __init__(self, nothing: A, deepest: int) -> None:
        self.asked: set[Source] = set()
        """What the answers hang on that were given since this was emptied."""
        self.reads: set[int] = set()
        """What was looked up since this was emptied, found or not: ``marks``."""
        self._nothing = nothing
        self._first = (nothing,)
        self._deepest = deepest
        self.tables: list[Answers[Any, A]] = []
        self._stack: list[Pending[A]] = []
        """Every question without an answer that stands, in the order of being come upon."""
        self._path: list[Pending[A]] = []
        """Those that are being asked, each for the one before."""
        self._put_off = 0
        """How many of the path are to be asked again, and have no call under way."""
        self._stale: list[int] = []
        """A heap of places on the stack, negative: what was found last is asked again first."""

    def table(self, find: Callable[..., A]) -> Answers[Q, A]:
        """Answers to one kind of questions, tuples: ``find(*question)`` finds one."""
        made: Answers[Q, A] = Answers(self, find)
        self.tables.append(made)
        return made

    def forget(self) -> None:
        """Forgets all answers."""
        for answers in self.tables:
            answers.clear()
            answers.open.clear()

    def forget_grown(self, grown: Set[Any]) -> None:
        """Forgets the answers that hang on what has grown."""
        for answers in self.tables:
            for question in [q for q, (_, sources) in answers.open.items() if sources & grown]:
                del answers.open[question]

    def answer(self, answers: Answers[Q, A], question: Q) -> A:
        """The answer to a question that has none that stands for ever."""
        kept = answers.open.get(question)
        if kept is not None:
            found, sources = kept
            self.asked |= sources
            return found
        path = self._path
        asked = answers.pending.get(question)
        if asked is None:
            if not path:
                return self._from_outside(answers, question)
            if len(path) - self._put_off >= self._deepest:
                raise _TooDeep(answers, question)
            asked = self._begin(answers, question)
            stands = self._solve(asked)
            path.pop()
            if stands:
                self.asked |= asked.sources
                return asked.found
        reader = path[-1]
        if asked.readers is None:
            asked.readers = set()
        asked.readers.add(reader)
        reader.low = min(reader.low, asked.low)
        return asked.found

    def _from_outside(self, answers: Answers[Q, A], question: Q) -> A:
        """The answer to a question that no other has led to."""
        path, asked, reads = self._path, self.asked, self.reads
        first = self._begin(answers, question)
        while path:
            last = path[-1]
            self._put_off = len(path) - 1
            try:
                self._solve(last)
            except _TooDeep as deeper:
                self._begin(deeper.answers, deeper.question)
                continue
            path.pop()
            if path:  # it may not ask that again
                path[-1].low = min(path[-1].low, last.low)
        self.asked, self.reads = asked, reads
        asked |= first.sources
        return first.found

    def _begin(self, answers: Answers[Q, A], question: Q) -> Pending[A]:
        made = Pending(answers, question, self._first, len(self._stack))
        answers.pending[question] = made
        self._stack.append(made)
        self._path.append(made)
        return made

    def _solve(self, first: Pending[A]) -> bool:
        """Asks a question at the end of the path; whether its answer stands.

        It does when no question before it on the stack was needed: then the component is
        the rest of the stack.
        """
        self._ask(first)
        while first.low == first.place:
            if not self._stale or -self._stale[0] < first.place:
                self._keep_from(first)
                return True
            again = self._stack[-heappop(self._stale)]
            again.stale = False
            if again is first:
                self._ask(first)
            else:
                self._path.append(again)
                self._ask(again)
                self._path.pop()
                first.low = min(first.low, again.low)
        return False

    def _ask(self, pending: Pending[A]) -> None:
        asked, self.asked = self.asked, set()
        reads, self.reads = self.reads, set()
        found = pending.answers.find(*pending.question)
        pending.sources, self.asked = self.asked, asked
        read, self.reads = self.reads, reads
        if read:
            kept = pending.answers.reads
            kept[pending.question] = kept.get(pending.question, b"") + array("I", read).tobytes()
        if found == pending.found or pending.settled:
            return
        if pending.readers:
            if found in pending.former:
                pending.settled = True
                if found == self._nothing:
                    return
            pending.former = (*pending.former, found)
            for reader in pending.readers:
                if not reader.stale:
                    reader.stale = True
                    heappush(self._stale, -reader.place)
        pending.found = found

    def _keep_from(self, first: Pending[A]) -> None:
        """A component's answers stand; each of them hangs on what any of them hangs on."""
        stack, sources = self._stack, first.sources
        if stack[-1] is first:
            stack.pop().keep(sources)
            return
        members = stack[first.place :]
        del stack[first.place :]
        sources.update(*(member.sources for member in members))
        for member in members:
            member.keep(sources)


class Pending(Generic[A]):
    """A question of which the answer may yet change."""

    __slots__ = (
        "answers", "former", "found", "low", "place", "question", "readers", "settled", "sources",
        "stale",
    )  # fmt: skip

    def __init__(
        self, answers: Answers[Any, A], question: Any, former: tuple[A, ...], place: int
    ) -> None:
        self.answers = answers
        self.question = question
        self.found = former[0]
        self.former = former
        """What was found so far and then was no more: at first nothing."""
        self.sources: set[Source]
        self.readers: set[Pending[A]] | None = None
        """Questions whose answers were made of this one."""
        self.place = place
        """On the stack."""
        self.low = place
        """The lowest place on the stack of a question that is needed for this one."""
        self.stale = False
        """Whether an answer has changed since it was read for this one."""
        self.settled = False
        """Whether it stays as it is, whatever it is made of."""

    def keep(self, sources: Set[Source]) -> None:
        """Lets the answer stand, for ever if it hangs on nothing."""
        answers, question = self.answers, self.question
        del answers.pending[question]
        if sources:
            answers.open[question] = (self.found, sources)
        else:
            answers[question] = self.found


class Answers(dict[Q, A]):
    """What was found out, by question: in itself what stands, in ``open`` what may yet change.

    An open answer has with it what it hangs on; a ``pending`` question has none that stands.
    """

    __slots__ = ("find", "open", "pending", "reads", "search")

    def __init__(self, search: Search[A], find: Callable[..., A]) -> None:
        super().__init__()
        self.search = search
        self.find = find
        self.open: dict[Q, tuple[A, Set[Source]]] = {}
        self.pending: dict[Q, Pending[A]] = {}
        self.reads: dict[Q, bytes] = {}
        """What was looked up for each answer, of all times that it was looked for."""

    def __missing__(self, question: Q) -> A:
        return self.search.answer(self, question)


class _TooDeep(Exception):
    """A question that is to be answered before those that lead to it."""

    def __init__(self, answers: Answers[Any, Any], question: Any) -> None:
        super().__init__(question)
        self.answers = answers
        self.question = question
