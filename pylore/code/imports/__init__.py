"""Imports as written → files of the tree: what the languages share of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..parse.facts import FileFacts
from .tree import (
    AMBIGUOUS,
    DECLARED,
    EXTERNAL,
    RESOLVED,
    UNRESOLVED,
    Bound,
    Found,
    Importer,
    Packages,
    SourceTree,
)

__all__ = [
    "AMBIGUOUS", "DECLARED", "EXTERNAL", "RESOLVED", "UNRESOLVED",
    "Bound", "Found", "Importers", "MakeImporter", "Packages", "SourceTree",
]  # fmt: skip


MakeImporter = Callable[[SourceTree, Mapping[str, FileFacts], Packages], Importer]
"""Of the files of a tree, and of what each says. It notes the packages that span files."""


class Importers:
    """The importer of each family of languages, made when the first file asks for it."""

    def __init__(self, tree: SourceTree, files: Mapping[str, FileFacts]) -> None:
        self._tree = tree
        self._files = files
        self._made: dict[str, Importer] = {}
        self._packages = Packages()

    @property
    def tree(self) -> SourceTree:
        """Return the files, and what was read beside them."""
        return self._tree

    @property
    def packages(self) -> dict[str, list[str]]:
        """Map key to files, of the packages of all importers that were made."""
        return self._packages.files

    def package_of(self, path: str) -> str:
        """Return the key of the package whose names a file sees without an import; "" for none."""
        return self._packages.of.get(path, "")

    def of(self, family: str, make: MakeImporter) -> Importer:
        """Return what finds the files that a family's imports mean."""
        if family not in self._made:
            self._made[family] = make(self._tree, self._files, self._packages)
        return self._made[family]
