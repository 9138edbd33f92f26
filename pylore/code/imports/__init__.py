"""Imports as written → files of the tree, one small file for each family of languages."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..parse.facts import FileFacts
from .bash import BashImports
from .c import CIncludes
from .found import AMBIGUOUS, DECLARED, EXTERNAL, RESOLVED, UNRESOLVED, Bound, Found, Importer
from .go import GoImports
from .java import JavaImports
from .javascript import JavaScriptImports
from .packages import Packages
from .python import PythonImports
from .ruby import RubyImports
from .rust import RustImports
from .tree import SourceTree

__all__ = [
    "AMBIGUOUS", "DECLARED", "EXTERNAL", "RESOLVED", "UNRESOLVED",
    "Bound", "Found", "Importers", "SourceTree",
]  # fmt: skip

_FAMILIES: dict[str, Callable[[SourceTree, Packages], Importer]] = {
    "python": PythonImports,
    "javascript": JavaScriptImports,
    "go": GoImports,
    "rust": RustImports,
    "java": JavaImports,
    "c": CIncludes,
    "ruby": RubyImports,
    "bash": BashImports,
}


class Importers:
    """The importer of each family of languages, made when the first file asks for it."""

    def __init__(self, tree: SourceTree, files: Mapping[str, FileFacts]) -> None:
        self._tree = tree
        self._made: dict[str, Importer | None] = {}
        self._packages = Packages(files)

    @property
    def packages(self) -> dict[str, list[str]]:
        return self._packages.files

    def package_of(self, path: str) -> str:
        """The key of the package whose names a file sees without an import; "" for none."""
        return self._packages.of.get(path, "")

    def of(self, family: str) -> Importer | None:
        if family not in self._made:
            make = _FAMILIES.get(family)
            self._made[family] = make(self._tree, self._packages) if make else None
        return self._made[family]
