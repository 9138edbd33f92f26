"""Imports as written → files of the tree: what the languages share of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .facts import FileFacts, Import
from .tree import SourceTree

CERTAIN, BY_CONVENTION, BY_SUFFIX, BY_NEARNESS = 1.0, 0.9, 0.8, 0.6
"""Confidence in a file to which the language's own rule leads; a layout that its tools use by
default, as ``src/`` or ``@/``; that is the only one whose path ends so; that is nearest of several.
"""


class Bound(NamedTuple):
    """A name that an import gives to a file."""

    local: str  # the name here; ``*`` for every name of the module
    module: str  # a file, or a folder for what spans files (a Go package); "" for what is external
    name: str = ""  # the name there; empty for the module itself


class Found(NamedTuple):
    """Where an import leads."""

    files: tuple[str, ...] = ()  # targets of the edge ``imports``
    bound: tuple[Bound, ...] = ()
    confidence: float = CERTAIN


NOWHERE = Found()
"""Of what is ambiguous, generated, or no import: the name of the package itself."""


def outside(name: str = "") -> Found:
    """Return an import from outside the tree, which binds ``name``."""
    return Found((), (Bound(name, ""),)) if name else NOWHERE


def whole(path: str, sure: float = CERTAIN) -> Found:
    """Return an import of all names of a file."""
    return Found((path,), (Bound("*", path),), sure)


class Packages:
    """Packages of all languages; keys are unlike any file's path."""

    def __init__(self) -> None:
        self.files: dict[str, list[str]] = {}
        self.of: dict[str, str] = {}  # file → the key of its package

    def put(self, key: str, path: str, *, is_seen: bool = True) -> None:
        """Put a file into a package; others see its names there if ``is_seen``."""
        self.of[path] = key
        if is_seen:
            self.files.setdefault(key, []).append(path)


class Importer:
    """One language's rule for one tree."""

    def __init__(
        self, tree: SourceTree, files: Mapping[str, FileFacts], packages: Packages
    ) -> None:
        """Take the files of a tree and what each says; ``packages`` gets those that span files."""
        self.tree = tree

    def find(self, facts: FileFacts, item: Import) -> Found:
        """Return where an import of a file leads."""
        raise NotImplementedError


class Importers:
    """The importer of each family of languages, made when the first file asks for it."""

    def __init__(self, tree: SourceTree, files: Mapping[str, FileFacts]) -> None:
        self.tree = tree
        self._files = files
        self._made: dict[str, Importer] = {}
        self._packages = Packages()

    @property
    def packages(self) -> dict[str, list[str]]:
        """Map key to files, of the packages of all importers that were made."""
        return self._packages.files

    def package_of(self, path: str) -> str:
        """Return the key of the package whose names a file sees without an import; "" for none."""
        return self._packages.of.get(path, "")

    def of(self, family: str, make: type[Importer]) -> Importer:
        """Return what finds the files that a family's imports mean."""
        if family not in self._made:
            self._made[family] = make(self.tree, self._files, self._packages)
        return self._made[family]
