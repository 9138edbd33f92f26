"""Names across files: what modules export, to a fixed point."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Mapping, Set
from heapq import heappop, heappush
from typing import Any, Generic, Protocol, TypeVar
from zlib import crc32

from ..imports import Bound
from ..languages.spec import LanguageSpec
from . import scopes
from .scopes import (
    EXTERNAL,
    IMPORTED,
    NOTHING,
    OUTSIDE,
    PACKAGE,
    PASSED_ON,
    Def,
    File,
    Known,
    Module,
    Value,
    all_of,
)

A = TypeVar("A")
Q = TypeVar("Q", bound=tuple[Any, ...])

Source = Hashable
"""A source that an answer may depend on."""


class Search(Generic[A]):
    """Find answers, each once, and keep account of what they depend on.

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
        """Sources of the answers that were given since this was emptied."""
        self.reads: set[int] = set()
        """Marks that were looked up since this was emptied, found or not: ``scopes.mark``."""
        self._nothing = nothing
        self._first = (nothing,)
        self._deepest = deepest
        self.tables: list[Answers[Any, A]] = []
        self._stack: list[Pending[A]] = []
        """Every question without an answer that stands, in the order of being come upon."""
        self._path: list[Pending[A]] = []
        """Open questions, each asked for the one before."""
        self._put_off = 0
        """Questions of the path that must be asked again, without a call under way."""
        self._stale: list[int] = []
        """A heap of places on the stack, negative: what was found last is asked again first."""

    def table(self, find: Callable[..., A]) -> Answers[Q, A]:
        """Return a table of answers to questions of one kind; ``find(*question)`` finds one."""
        made: Answers[Q, A] = Answers(self, find)
        self.tables.append(made)
        return made

    def forget(self) -> None:
        """Forget all answers."""
        for answers in self.tables:
            answers.clear()
            answers.open.clear()

    def forget_grown(self, grown: Set[Any]) -> None:
        """Forget the answers that depend on what has grown."""
        for answers in self.tables:
            for question in [q for q, (_, sources) in answers.open.items() if sources & grown]:
                del answers.open[question]

    def answer(self, answers: Answers[Q, A], question: Q) -> A:
        """Return the answer to a question that has none that is final."""
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
        """Return the answer to a question that no other has led to."""
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
        """Ask a question at the end of the path; whether its answer stands.

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
        """Keep a component's answers; each depends on what any of them depends on."""
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
        """Answers that were found and dropped: at first nothing."""
        self.sources: set[Source]
        self.readers: set[Pending[A]] | None = None
        """Questions whose answers were made of this one."""
        self.place = place
        """On the stack."""
        self.low = place
        """The lowest place on the stack of a question that is needed for this one."""
        self.stale = False
        """True if an answer has changed since it was read for this one."""
        self.settled = False
        """True if it stays as it is, whatever it is made of."""

    def keep(self, sources: Set[Source]) -> None:
        """Let the answer stand, for ever if it depends on nothing."""
        answers, question = self.answers, self.question
        del answers.pending[question]
        if sources:
            answers.open[question] = (self.found, sources)
        else:
            answers[question] = self.found


class Answers(dict[Q, A]):
    """Answers by question: final ones in itself, those that may change in ``open``.

    An open answer has with it what it depends on; a ``pending`` question has none that stands.
    """

    __slots__ = ("find", "open", "pending", "reads", "search")

    def __init__(self, search: Search[A], find: Callable[..., A]) -> None:
        super().__init__()
        self.search = search
        self.find = find
        self.open: dict[Q, tuple[A, Set[Source]]] = {}
        self.pending: dict[Q, Pending[A]] = {}
        self.reads: dict[Q, bytes] = {}
        """Marks that were looked up for each answer, over all its lookups."""

    def __missing__(self, question: Q) -> A:
        return self.search.answer(self, question)


class _TooDeep(Exception):
    """A question that is to be answered before those that lead to it."""

    def __init__(self, answers: Answers[Any, Any], question: Any) -> None:
        super().__init__(question)
        self.answers = answers
        self.question = question


class Members(Protocol):
    """A source of the members of values: in practice ``inference.Values``."""

    search: Search[Known]

    def members(self, values: tuple[Value, ...], sure: float, name: str) -> Known:
        """Return ``.name`` of each of the values."""

    def several(self, file: File, scope: str, text: str) -> Known:
        """Return what an expression of several names stands for in a scope."""


class Modules:
    """Look a name up from outside: ``exported`` is the one question."""

    def __init__(
        self, files: Mapping[str, File], languages: Mapping[str, LanguageSpec],
        packages: Mapping[str, list[str]], values: Members,
    ) -> None:  # fmt: skip
        self._files = files
        self._packages = packages
        self._values = values
        self._search = values.search
        self._specs = _with_modules(languages.values())
        self._folders = {
            folder for path, language in languages.items()
            if language.modules and path.endswith(language.modules)
            for folder in _folders(path)
        }  # fmt: skip
        self._modules: dict[str, Module] = {}
        self.exports: Answers[tuple[str, str], Known] = values.search.table(self._export)
        self._tops: dict[tuple[str, str], list[Def]] = {}
        self._closures: dict[str, set[str]] = {}

    def exported(self, key: str, name: str) -> Known:
        """Return what ``name`` is in a file, a package or a folder; the module itself without
        one."""
        if not key:
            return EXTERNAL
        if not name:
            return (self.module(key),), IMPORTED
        self._search.reads.add(crc32(f"{key}\0{name}".encode()))
        return self.exports[key, name]

    def module(self, key: str) -> Module:
        return self._modules.setdefault(key, Module(key))

    def _export(self, key: str, name: str) -> Known:
        first, _, rest = name.partition(".")
        if rest:
            values, sure = self.exported(key, first)
            for part in rest.split("."):
                values, sure = self._values.members(values, sure, part)
            return values, sure
        file = self._files.get(key)
        if file is not None:
            return self._from_file(file, name)
        if key in self._packages:
            return all_of([self._from_own(self._files[path], name) for path in self._packages[key]])
        return self._submodule(key, name)

    def _from_own(self, file: File, name: str) -> Known:
        """Return a definition or an assignment at the top level of a file."""
        made = file.top.get(name)
        if made is not None and made.kind != "constant":
            return (made,), IMPORTED
        text = file.assigned.get(name)
        if text is not None:
            values, sure = self._values.several(file, "", text)
            if values:
                return values, min(sure, IMPORTED)
        return NOTHING if made is None else ((made,), IMPORTED)

    def _from_file(self, file: File, name: str) -> Known:
        found = self._from_own(file, name)
        if found[0] and not (found[0][0] is OUTSIDE and name in file.bound):
            return found
        if name in file.bound:
            values, sure = all_of([self._taken(one) for one in file.bound[name]])
            if values:
                return values, min(sure, IMPORTED) if values[0] is not OUTSIDE else sure
        if self._is_folder(file):
            found = self._submodule(file.path.rpartition("/")[0], name)
            if found[0]:
                return found
        if name == "default":
            return self._default(file)
        self._search.reads.add(scopes.mark(file.place, scopes.STARS))
        found = self._from_stars(file, name)
        if not found[0]:
            self._search.reads.add(scopes.mark(file.place, "default"))
        if not found[0] and "default" in file.bound:
            # What a file exports whole, a function or an object, has the names.
            values, sure = self.exported(file.path, "default")
            return self._values.members(values, sure, name)
        return found

    def _taken(self, bound: Bound) -> Known:
        return self.exported(bound.module, bound.name)

    def _from_included(self, file: File, name: str) -> Known:
        """Return a definition in the files that this one includes, and those that they include."""
        if not self._tops:
            for other in self._files.values():
                if other.language.functions_global:
                    for key, made in other.top.items():
                        self._tops.setdefault((other.language.family, key), []).append(made)
        found = self._tops.get((file.language.family, name))
        if found:
            included = self._included(file)
            for made in found:
                if made.file.path in included:
                    return (made,), PACKAGE
        return NOTHING

    def _included(self, file: File) -> set[str]:
        found = self._closures.get(file.path)
        if found is None:
            found = self._closures[file.path] = set()
            pending = [star.module for star in file.stars]
            while pending:
                path = pending.pop()
                if path not in found and path in self._files:
                    found.add(path)
                    pending += [star.module for star in self._files[path].stars]
        return found

    def _from_stars(self, file: File, name: str) -> Known:
        if file.language.functions_global:
            return self._from_included(file, name)
        for star in file.stars:
            inner = f"{star.name}.{name}" if star.name else name
            values, _ = self.exported(star.module, inner)
            if values and values[0] is not OUTSIDE:
                return values, PACKAGE
        return NOTHING

    def _submodule(self, folder: str, name: str) -> Known:
        base = f"{folder}/{name}" if folder else name
        for language in self._specs:
            first = language.modules[0]
            for path in (f"{base}/{language.package_file}{first}",
                         *(base + suffix for suffix in language.modules)):  # fmt: skip
                if path in self._files:
                    return (self.module(path),), IMPORTED
        return ((self.module(base),), IMPORTED) if base in self._folders else NOTHING

    @staticmethod
    def _is_folder(file: File) -> bool:
        """Return whether a file is what its folder means as a module."""
        language = file.language
        return bool(language.modules) and file.path.endswith(
            language.package_file + language.modules[0]
        )

    def _default(self, file: File) -> Known:
        """Return the only definition of a file that does not say which is its default."""
        self._search.reads.add(scopes.mark(file.place, scopes.WHOLE))
        whole = [one for one in file.top.values() if one.kind in ("class", "function")]
        return ((whole[0],), PASSED_ON) if len(whole) == 1 else NOTHING


def _with_modules(languages: Iterable[LanguageSpec]) -> list[LanguageSpec]:
    """Return those whose folders hold their modules, one of each family."""
    found = {one.family: one for one in languages if one.modules}
    return [found[family] for family in sorted(found)]


def _folders(path: str) -> Iterable[str]:
    folder = path.rpartition("/")[0]
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
