"""Imports as written → files of the tree: the part that languages share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .facts import FileFacts, Import
from .tree import SourceTree

CERTAIN, BY_CONVENTION, BY_SUFFIX, BY_NEARNESS = 1.0, 0.9, 0.8, 0.6
"""Confidence in a file by the language's rule; by a default layout of tools, as ``src/`` or ``@/``;
by the only path with this end; by the nearest of several such paths."""


class Bound(NamedTuple):
    """A name that an import gives to a file."""

    local: str  # the name here; ``*`` for every name of the module
    module: str  # a file, or the folder of a Go package; "" outside the tree
    name: str = ""  # the name there; empty for the module itself


class Found(NamedTuple):
    """The target of an import."""

    files: tuple[str, ...] = ()  # targets of the edge ``imports``
    bound: tuple[Bound, ...] = ()
    confidence: float = CERTAIN


NOWHERE = Found()  # for ambiguous and generated targets, and for the package declaration


def outside(name: str = "") -> Found:
    """Return an import from outside the tree, which binds ``name``."""
    return Found((), (Bound(name, ""),)) if name else NOWHERE


def whole(path: str, sure: float = CERTAIN) -> Found:
    """Return an import of all names of a file."""
    return Found((path,), (Bound("*", path),), sure)


class Importer:
    """The rule of a language for a tree."""

    def __init__(self, tree: SourceTree, files: Mapping[str, FileFacts]) -> None:
        """Take a tree and the facts of the files; note packages that span files in the tree."""
        self.tree = tree

    def find(self, facts: FileFacts, item: Import) -> Found:
        """Return the target of an import of a file."""
        raise NotImplementedError
