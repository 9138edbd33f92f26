"""Imports as written → files of the tree, one small file for each family of languages."""

from __future__ import annotations

from collections.abc import Callable

from .bash import BashImports
from .c import CIncludes
from .found import AMBIGUOUS, EXTERNAL, RESOLVED, UNRESOLVED, Bound, Found, Importer
from .go import GoImports
from .java import JavaImports
from .javascript import JavaScriptImports
from .python import PythonImports
from .ruby import RubyImports
from .rust import RustImports
from .tree import Tree

__all__ = ["AMBIGUOUS", "EXTERNAL", "RESOLVED", "UNRESOLVED", "Bound", "Found", "Importers", "Tree"]

_FAMILIES: dict[str, Callable[[Tree], Importer]] = {
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

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._made: dict[str, Importer | None] = {}

    def of(self, family: str) -> Importer | None:
        if family not in self._made:
            make = _FAMILIES.get(family)
            self._made[family] = make(self._tree) if make else None
        return self._made[family]
