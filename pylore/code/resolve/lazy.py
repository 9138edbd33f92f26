"""Files that are read as they are asked for, and what depends on a change."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from ..facts import FileFacts, Symbol
from ..languages.registry import language
from ..languages.spec import LanguageSpec
from . import scopes
from .calls import Calls, Draft, only_tests_call
from .inference import Values
from .kept import (
    ADOPTS,
    AWAITS,
    MENTIONS,
    FileAnswers,
    Passes,
    Reads,
    Written,
    is_candidate,
    unpacked,
)
from .resolve import read_value, written_passes
from .scopes import MOST_CANDIDATES, MOST_VALUES, Def, File, Place, Value


class WholeError(Exception):
    """Too much depends on a change: everything is to be resolved again."""


class Kept(Protocol):
    """Answers of the last resolution."""

    def facts(self, path: str) -> FileFacts | None: ...

    def names(self, path: str) -> FileFacts | None:
        """Return the same without imports and calls."""

    def answers(self, path: str) -> FileAnswers | None: ...

    def reads(self) -> Sequence[tuple[str, bytes]]:
        """Return, for each file, package and folder, what was looked up: see ``kept.packed``."""

    def holding(self, mark: int) -> Sequence[str]:
        """Return the files that have a mark: see ``kept.posts``."""


class LazyDef(Def):
    """A definition whose bases and subclasses are read when they are asked for."""

    __slots__ = ("_bases", "_subclasses", "_world")

    def __init__(self, symbol: Symbol, file: LazyFile, id: str) -> None:
        self._world = file.world
        self._bases: list[tuple[Def, float]] | None = None
        self._subclasses: list[Def] | None = None
        super().__init__(symbol, file, id)

    @property
    def bases(self) -> list[tuple[Def, float]]:
        if not self._world.has_bases or not self.is_class:
            return []
        if self._bases is None:
            self._bases = self._world.bases_of(self)
        return self._bases

    @bases.setter
    def bases(self, value: list[tuple[Def, float]]) -> None:
        """Ignore: they are computed on demand."""

    @property
    def subclasses(self) -> list[Def]:
        if not self._world.has_bases:
            return []
        if self._subclasses is None:
            self._subclasses = self._world.subclasses_of(self)
        return self._subclasses

    @subclasses.setter
    def subclasses(self, value: list[Def]) -> None:
        """Ignore: they are computed on demand."""

    @property
    def open(self) -> bool:
        world = self._world
        return world.has_bases and self.qualified in world.classes(self.file.path).open

    @open.setter
    def open(self, value: bool) -> None:
        """Ignore: it is computed on demand."""


class LazyFile(File):
    __slots__ = ("world",)

    def __init__(self, facts: FileFacts, spec: LanguageSpec, world: LazyFiles) -> None:
        self.world = world
        super().__init__(facts, spec)

    def _make(self, symbol: Symbol, id: str) -> Def:
        return LazyDef(symbol, self, id)


class LazyFiles(Mapping[str, File]):
    """The files as they are now, by path."""

    def __init__(
        self, kept: Kept, changed: Mapping[str, FileFacts | None], languages: Mapping[str, str]
    ) -> None:
        self.kept = kept
        self.changed = changed
        self.languages = languages
        """Of all files that there are now."""
        self.answers: dict[str, FileAnswers] = {}
        """Answers that were found again."""
        self.has_bases = False
        """True when classes have their bases."""
        self.adopting: set[str] = set()
        """Families of which classes have members from other files."""
        self._loaded: dict[str, LazyFile] = {}
        self._whole: set[str] = set()

    def __contains__(self, path: object) -> bool:
        return path in self.languages

    def __iter__(self) -> Iterator[str]:
        return iter(self.languages)

    def __len__(self) -> int:
        return len(self.languages)

    def get(self, path: str, default: object = None) -> File | None:  # type: ignore[override]
        return self[path] if path in self.languages else None

    def __getitem__(self, path: str) -> File:
        found = self._loaded.get(path)
        if found is None:
            if path not in self.languages:
                raise WholeError
            found = self._load(path)
        return found

    def whole(self, path: str) -> File:
        """Return a file with its imports and calls."""
        file = self[path]
        if path not in self.changed and path not in self._whole:
            facts = self.kept.facts(path)
            if facts is None:
                raise WholeError
            file.facts = facts
            self._whole.add(path)
        return file

    def _load(self, path: str) -> LazyFile:
        facts = self.changed.get(path) or self.kept.names(path)
        if facts is None:
            raise WholeError
        file = self._loaded[path] = LazyFile(facts, language(facts.language), self)
        if path not in self.changed:
            answers = self.classes(path)
            file.bind(answers.bound)
            file.mates = answers.mates
        if file.language.family in self.adopting:
            self._adopt(file)
        return file

    def _adopt(self, file: LazyFile) -> None:
        """Give classes the members that other files define."""
        answers = None if file.path in self.changed else self.classes(file.path)
        for path, _ in (answers.adopted if answers else {}).values():
            self[path]
        for cls in file.defs.values():
            if not cls.is_class:
                continue
            for path in self.kept.holding(scopes.mark(cls.place, ADOPTS)):
                for name, owner in self.classes(path).adopted.items():
                    if owner == (file.path, cls.qualified) and path in self.languages:
                        made = self[path].defs[name]
                        made.outer = cls
                        cls.children.setdefault(made.qualified.rpartition(".")[2], made)

    def classes(self, path: str) -> FileAnswers:
        """Return what a file's names came to, as it was kept or is found by now."""
        found = self.answers.get(path)
        if found is None:
            found = self.kept.answers(path)
            if found is None:
                raise WholeError
        return found

    def bases_of(self, cls: Def) -> list[tuple[Def, float]]:
        written = self.classes(cls.file.path).bases.get(cls.qualified, ())
        try:
            return [(self[path].defs[name], sure) for path, name, sure in written]
        except KeyError:
            raise WholeError from None

    def subclasses_of(self, cls: Def) -> list[Def]:
        return [self[path].defs[name] for path, name in self.below(cls.file.path, cls.qualified)]

    def below(self, path: str, name: str) -> list[tuple[str, str]]:
        """Return path and name of the classes that inherit from one, as it is now."""
        mark = scopes.mark(scopes.inner(scopes.place(path), name), scopes.SUBCLASSES)
        found = []
        for one in sorted({*self.kept.holding(mark), *self.answers}):
            if one in self.languages:
                found += _inheriting(self.classes(one), one, path, name)
        return found

    def was_below(self, path: str, name: str) -> list[tuple[str, str]]:
        """Return the same before the change."""
        mark = scopes.mark(scopes.inner(scopes.place(path), name), scopes.SUBCLASSES)
        found = []
        for one in self.kept.holding(mark):
            answers = self.kept.answers(one)
            if answers is not None:
                found += _inheriting(answers, one, path, name)
        return found


def _inheriting(
    answers: FileAnswers, path: str, base_path: str, base_name: str
) -> list[tuple[str, str]]:
    return [
        (path, qualified)
        for qualified, bases in answers.bases.items()
        if any(base[0] == base_path and base[1] == base_name for base in bases)
    ]


class LazyCalls(Calls):
    """Calls of some files, among the names of all."""

    def __init__(self, files: LazyFiles, values: Values, draft: Draft) -> None:
        super().__init__((), values, draft)
        self._files = files

    def candidates(
        self, language: LanguageSpec, name: str, is_method: bool, path: str
    ) -> Sequence[Def]:
        if not is_method:
            raise WholeError
        files = self._files
        paths = [
            one for one in sorted(
                {*files.kept.holding(scopes.named(language.family, name)), *files.changed}
            )
            if one in files
        ]  # fmt: skip
        if not only_tests_call(path, language.tests):
            paths = [one for one in paths if not self._is_test(one)]
        sure = [one for one in paths if one not in files.changed]
        if len(sure) > MOST_CANDIDATES:
            return _Many()
        return [
            made
            for one in paths
            for made in self._files[one].defs.values()
            if made.name == name and made.outer is not None and is_candidate(made)
            and made.file.language.family == language.family
        ]  # fmt: skip

    def _is_test(self, path: str) -> bool:
        from ..languages.registry import language

        return only_tests_call(path, language(self._files.languages[path]).tests)


class _Many(Sequence[Def]):
    """More than anybody looks at."""

    def __len__(self) -> int:
        return MOST_CANDIDATES + 1

    def __getitem__(self, place: object) -> Def:  # type: ignore[override]
        raise IndexError(place)


_NO_ROW = array("I")


class Dependents:
    """Rows of what was looked up, and what of it depends on the marks that were given."""

    def __init__(self, rows: Sequence[tuple[str, bytes]], most: int) -> None:
        self._rows = {owner: array("I", row) for owner, row in rows}
        self._most = most
        self._read: Reads = {}
        self.marks: set[int] = set()
        self.roots: dict[int, set[str]] = {root: set() for root in range(1, MENTIONS + 1)}
        """Parts of a file that depend on them: ``kept.CALLS`` and so on."""

    def add(self, marks: Iterable[int]) -> None:
        """Follow further marks.

        Raises:
            WholeError: too many files depend on them.
        """
        new = set(marks) - self.marks
        while new:
            self.marks |= new
            found: set[int] = set()
            for owner, row in self._rows.items():
                if not new.isdisjoint(row):
                    found |= self._hit(owner, row, new)
            if any(len(files) > self._most for files in self.roots.values()):
                raise WholeError
            new = found - self.marks

    def _hit(self, owner: str, row: array[int], new: set[int]) -> set[int]:
        entries = self._read.get(owner)
        if entries is None:
            entries = self._read[owner] = unpacked(row)
        found = set()
        for mark, looked in entries.items():
            if mark == AWAITS or new.isdisjoint(array("I", looked)):
                continue
            if mark <= MENTIONS:
                self.roots[mark].add(owner)
            else:
                found.add(mark)
        return found

    def awaiting(self, marks: set[int]) -> set[str]:
        """Return the files of which calls depend on parameters."""
        found = set()
        for owner, row in self._rows.items():
            if not marks.isdisjoint(row):
                looked = unpacked(row).get(AWAITS)
                if looked is not None and not marks.isdisjoint(array("I", looked)):
                    found.add(owner)
        return found

    def entries(self, owner: str) -> dict[int, bytes]:
        """Return all that was looked up for an owner."""
        found = self._read.get(owner)
        if found is None:
            found = unpacked(self._rows.get(owner, _NO_ROW))
        return dict(found)


_MORE: Written = ("Module", "", "")
"""More than was examined."""

_Told = frozenset[Written] | None
"""All that is passed for a parameter; None where it is too much."""


class KeptArgumentTypes(dict[Place, dict[Value, None]]):
    """``Values.argument_types`` as it is in one round, of the parameters that were asked for."""

    def __init__(self, files: LazyFiles, own: Calls, values: Values) -> None:
        super().__init__()
        self._files = files
        self._values = values
        self._calls = own
        self.round = 0
        self.own: dict[str, Passes] = {}
        """Argument types of the files that are resolved again."""
        self._now: dict[Written, list[dict[Written, int]]] = {}
        """The same by parameter."""
        self._was: dict[Written, list[Mapping[Written, int]]] = {}
        """Their former argument types."""
        self._others: dict[Written, dict[str, Mapping[Written, int]]] = {}

    def get(self, place: Place, default: object = None) -> dict[Value, None]:
        found = super().get(place)
        if found is None:
            found = self[place] = self._known(place)
        return found

    def _known(self, place: Place) -> dict[Value, None]:
        made, name = place
        told = self.told((made.file.path, made.qualified, name), self.round, is_new=True)
        if told is None:
            module = self._values.modules.module
            return dict.fromkeys(module(f"\0{number}") for number in range(MOST_VALUES + 1))
        files, values = self._files, self._values
        try:
            return {read_value(files, values, one): None for one in sorted(told)}
        except KeyError:
            raise WholeError from None

    def told(self, place: Written, round: int, *, is_new: bool) -> _Told:
        """Return what is passed until a round, as it is now or was before the change."""
        rows = self._rows(place, is_new=is_new)
        found = {value for row in rows for value, number in row.items() if number <= round}
        is_open = _MORE in found
        found.discard(_MORE)
        if len(found) > MOST_VALUES:
            return None
        if is_open and is_new:
            raise WholeError
        return None if is_open else frozenset(found)

    def _rows(self, place: Written, *, is_new: bool) -> list[Mapping[Written, int]]:
        own = self._now if is_new else self._was
        return [*self._rest(place).values(), *own.get(place, ())]

    def _before(self, path: str) -> Mapping[Written, Mapping[Written, int]]:
        answers = self._files.kept.answers(path)
        return {} if answers is None else answers.passes

    def _rest(self, place: Written) -> dict[str, Mapping[Written, int]]:
        """Return what the other files pass, of which nothing is resolved again."""
        found = self._others.get(place)
        if found is None:
            path, qualified, name = place
            mark = scopes.mark(scopes.inner(scopes.place(path), qualified), name)
            found = self._others[place] = {
                one: passes[place]
                for one in self._files.kept.holding(mark)
                if one not in self.own and place in (passes := self._before(one))
            }
        return found

    def take_over(self, paths: Iterable[str], round: int) -> None:
        """Resolve these files again from here on; what they passed until now counts."""
        for path in paths:
            own = self.own[path] = {}
            for place, values in self._before(path).items():
                self._was.setdefault(place, []).append(values)
                if place in self._others:
                    self._others[place].pop(path, None)
                kept = {value: number for value, number in values.items() if number <= round}
                if kept:
                    own[place] = kept
                    self._now.setdefault(place, []).append(kept)

    def update_own(self) -> None:
        """Take what the calls have passed by now."""
        for path, passes in written_passes(self._calls).items():
            held = self.own.setdefault(path, {})
            for place, values in passes.items():
                row = held.get(place)
                if row is None:
                    row = held[place] = {}
                    self._now.setdefault(place, []).append(row)
                for value, number in values.items():
                    row.setdefault(value, number)

    def differing(self, round: int) -> set[Written]:
        """Return the parameters for which something else is passed now, until a round."""
        looked_at: set[Written] = set()
        for path, now in self.own.items():
            before = self._before(path)
            looked_at.update(
                place for place in before.keys() | now.keys()
                if before.get(place) != now.get(place)
                and _until(before, place, round) != _until(now, place, round)
            )  # fmt: skip
        return {
            place for place in looked_at
            if self.told(place, round, is_new=False) != self.told(place, round, is_new=True)
        }  # fmt: skip

    def advance(self, round: int) -> set[Place]:
        """Go on to a round; the parameters of which there is more now."""
        self.round = round
        grown = set()
        for place in list(self):
            made, name = place
            rows = self._rows((made.file.path, made.qualified, name), is_new=True)
            if not any(round in row.values() for row in rows):
                continue
            known = self._known(place)
            if known.keys() != self[place].keys():
                self[place] = known
                grown.add(place)
        return grown


def _until(
    passes: Mapping[Written, Mapping[Written, int]], place: Written, round: int
) -> set[Written]:  # fmt: skip
    return {value for value, number in passes.get(place, {}).items() if number <= round}


def with_marks(places: Iterable[Written]) -> Mapping[int, Written]:
    """Return the marks of parameters."""
    return {
        scopes.mark(scopes.inner(scopes.place(path), qualified), name): (path, qualified, name)
        for path, qualified, name in places
    }
