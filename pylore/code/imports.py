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


NOWHERE = Found()  # of what is ambiguous, generated, or no import: the name of the package itself


def outside(name: str = "") -> Found:
    """Return an import from outside the tree, which binds ``name``."""
    return Found((), (Bound(name, ""),)) if name else NOWHERE


def whole(path: str, sure: float = CERTAIN) -> Found:
    """Return an import of all names of a file."""
    return Found((path,), (Bound("*", path),), sure)


class Importer:
    """One language's rule for one tree."""

    def __init__(self, tree: SourceTree, files: Mapping[str, FileFacts]) -> None:
        """Take a tree and what its files say; note packages that span files in the tree."""
        self.tree = tree

    def find(self, facts: FileFacts, item: Import) -> Found:
        """Return where an import of a file leads."""
        raise NotImplementedError
