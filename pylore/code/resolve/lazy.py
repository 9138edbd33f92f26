"""The files of a tree of which only those are read that a name leads to, with kept answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from ..languages.registry import language
from ..languages.spec import LanguageSpec
from ..parse.facts import FileFacts, Symbol
from . import marks
from .calls import Calls
from .confidence import MOST_CANDIDATES
from .differences import ADOPTS, is_candidate
from .edges import Draft
from .inference import Values
from .kept import FileAnswers
from .only_tests import only_tests_call
from .scopes import Def, File


class WholeError(Exception):
    """Too much hangs on a change: everything is to be resolved anew."""


class Kept(Protocol):
    """What was kept when the files were resolved last."""

    def facts(self, path: str) -> FileFacts | None: ...

    def names(self, path: str) -> FileFacts | None:
        """The same without imports and calls."""

    def answers(self, path: str) -> FileAnswers | None: ...

    def reads(self) -> Sequence[tuple[str, bytes]]:
        """Of each file, package and folder what was looked up for what: see ``kept.packed``."""

    def holding(self, mark: int) -> Sequence[str]:
        """The files that have a mark: see ``differences.posts``."""


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
        """They are asked for."""

    @property
    def subclasses(self) -> list[Def]:
        if not self._world.has_bases:
            return []
        if self._subclasses is None:
            self._subclasses = self._world.subclasses_of(self)
        return self._subclasses

    @subclasses.setter
    def subclasses(self, value: list[Def]) -> None:
        """They are asked for."""

    @property
    def open(self) -> bool:
        world = self._world
        return world.has_bases and self.qualified in world.classes(self.file.path).open

    @open.setter
    def open(self, value: bool) -> None:
        """It is asked for."""


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
        """What was found anew."""
        self.has_bases = False
        """Whether classes have their bases yet."""
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
        """A file with its imports and calls."""
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
        """Gives classes the members that other files define."""
        answers = None if file.path in self.changed else self.classes(file.path)
        for path, _ in (answers.adopted if answers else {}).values():
            self[path]
        for cls in file.defs.values():
            if not cls.is_class:
                continue
            for path in self.kept.holding(marks.mark(cls.place, ADOPTS)):
                for name, owner in self.classes(path).adopted.items():
                    if owner == (file.path, cls.qualified) and path in self.languages:
                        made = self[path].defs[name]
                        made.outer = cls
                        cls.children.setdefault(made.qualified.rpartition(".")[2], made)

    def classes(self, path: str) -> FileAnswers:
        """What a file's names came to, as it was kept or is found by now."""
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
        """Path and name of the classes that inherit from one, as it is now."""
        mark = marks.mark(marks.inner(marks.place(path), name), marks.SUBCLASSES)
        found = []
        for one in sorted({*self.kept.holding(mark), *self.answers}):
            if one in self.languages:
                found += _inheriting(self.classes(one), one, path, name)
        return found

    def was_below(self, path: str, name: str) -> list[tuple[str, str]]:
        """The same before the change."""
        mark = marks.mark(marks.inner(marks.place(path), name), marks.SUBCLASSES)
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
                {*files.kept.holding(marks.named(language.family, name)), *files.changed}
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
