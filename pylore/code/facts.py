"""What one file says by itself, before any name in it is resolved.

``extract`` makes these from a file's text, ``resolve`` makes edges of all files'
facts together. They are kept in the store as JSON, so that a changed file can be
resolved against unchanged ones without reading those again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

MODULE = ""
"""The qualified name of what stands at the top level of a file."""


@dataclass(frozen=True)
class Symbol:
    """A definition. Lines count from 1, the last one included."""

    name: str
    qualified: str
    """With its containers, in dots whatever the language: ``Login.check``."""
    kind: str
    """function, method, class, interface, type or constant."""
    line_start: int
    line_end: int
    signature: str = ""
    doc: str = ""
    """The docstring, or the comment that stands right before it."""
    bases: tuple[str, ...] = ()
    """What a class inherits or implements, as written."""


@dataclass(frozen=True)
class Import:
    """One imported thing, as written; each language's resolver knows the form."""

    module: str
    """``os.path``, ``../auth/jwt``, ``crate::auth::jwt``, ``"stdio.h"``."""
    name: str = ""
    """What is taken from the module; ``*`` for everything; empty for the module itself."""
    alias: str = ""
    """What it is called here, where that is another name."""
    level: int = 0
    """Python: the dots of a relative import."""
    line: int = 0
    kind: str = "import"
    """import, export (a re-export), mod (Rust), include (C), use, require, source…"""


@dataclass(frozen=True)
class Call:
    """A call or an instantiation, as written."""

    caller: str
    """The qualified name of the symbol whose body holds it; ``MODULE`` at the top level."""
    callee: str
    """``check``, ``self.check``, ``jwt.decode``, ``super().check``; separators in dots."""
    line: int = 0


@dataclass
class FileFacts:
    """Everything that one file says."""

    path: str
    language: str
    symbols: list[Symbol] = field(default_factory=list)
    imports: list[Import] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    assigned: dict[str, str] = field(default_factory=dict)
    """Names that a plain assignment or annotation ties to a name or a constructor:
    qualified name of the scope, a dot, the variable → ``Login`` (for the type of a
    receiver) or ``other_name`` (for an alias)."""
