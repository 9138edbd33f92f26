"""What files and packages have: their own names, what they pass on, what they include."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol
from zlib import crc32

from ..imports import Bound
from ..languages.spec import LanguageSpec
from . import marks
from .confidence import IMPORTED, PACKAGE, PASSED_ON
from .fixpoint import Answers, Search
from .scopes import EXTERNAL, NOTHING, OUTSIDE, Def, File, Known, Module, Value, all_of


class Members(Protocol):
    """What tells the members of values: in practice ``inference.Values``."""

    search: Search[Known]

    def members(self, values: tuple[Value, ...], sure: float, name: str) -> Known:
        """``.name`` of each of the values."""

    def several(self, file: File, scope: str, text: str) -> Known:
        """What an expression of several names stands for in a scope."""


class Modules:
    """Looks a name up from outside: ``exported`` is the one question."""

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
        """What ``name`` is in a file, a package or a folder; the module itself without one."""
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
        """A definition or an assignment at the top level of a file."""
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
        self._search.reads.add(marks.mark(file.place, marks.STARS))
        found = self._from_stars(file, name)
        if not found[0]:
            self._search.reads.add(marks.mark(file.place, "default"))
        if not found[0] and "default" in file.bound:
            # What a file exports whole, a function or an object, has the names.
            values, sure = self.exported(file.path, "default")
            return self._values.members(values, sure, name)
        return found

    def _taken(self, bound: Bound) -> Known:
        return self.exported(bound.module, bound.name)

    def _from_included(self, file: File, name: str) -> Known:
        """A definition in the files that this one includes, and those that they include."""
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
        """Whether a file is what its folder means as a module."""
        language = file.language
        return bool(language.modules) and file.path.endswith(
            language.package_file + language.modules[0]
        )

    def _default(self, file: File) -> Known:
        """The only definition of a file that does not say which is its default."""
        self._search.reads.add(marks.mark(file.place, marks.WHOLE))
        whole = [one for one in file.top.values() if one.kind in ("class", "function")]
        return ((whole[0],), PASSED_ON) if len(whole) == 1 else NOTHING


def _with_modules(languages: Iterable[LanguageSpec]) -> list[LanguageSpec]:
    """Those whose folders hold their modules, one of each family."""
    found = {one.family: one for one in languages if one.modules}
    return [found[family] for family in sorted(found)]


def _folders(path: str) -> Iterable[str]:
    folder = path.rpartition("/")[0]
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
