"""What the resolver of a language says about one import."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ..parse.facts import FileFacts, Import

RESOLVED = "resolved"
EXTERNAL = "external"
AMBIGUOUS = "ambiguous"
UNRESOLVED = "unresolved"
DECLARED = "declared"
"""No import of a file: a package's own name, a namespace, an export of the file's own."""

CERTAIN = 1.0
"""The language's own rule leads to the file."""
BY_CONVENTION = 0.9
"""A layout that the language's tools use by default leads to it: ``src/``, ``@/``."""
BY_SUFFIX = 0.8
"""The only file in the tree whose path ends like that."""
BY_NEARNESS = 0.6
"""Of several such files, the one that is nearest to the one that imports."""


class Bound(NamedTuple):
    """A name that an import gives to a file."""

    local: str
    """The name here; ``*`` for every name of the module."""
    module: str
    """A file, or a folder for what spans files (a Go package); "" for what is external."""
    name: str = ""
    """The name there; empty for the module itself."""


class Found(NamedTuple):
    outcome: str
    files: tuple[str, ...] = ()
    """Where the edge ``imports`` goes."""
    bound: tuple[Bound, ...] = ()
    confidence: float = CERTAIN


class Importer(Protocol):
    """One language's rule, made for one tree."""

    def find(self, facts: FileFacts, item: Import) -> Found: ...


def outside(*names: str) -> Found:
    """An import from outside the tree, which binds ``names``."""
    return Found(EXTERNAL, (), tuple(Bound(name, "") for name in names if name))
