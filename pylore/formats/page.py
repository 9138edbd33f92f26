"""A page of a document: its title and its links, whatever its form."""

from __future__ import annotations

import re
from html import unescape
from importlib import import_module
from urllib.parse import unquote

from ..core.model import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    class Form(Protocol):
        """A module that reads one form."""

        def read(self, lines: Sequence[str], first_line: int) -> Page:
            """Return the title and links of a text; the first of its lines is ``first_line``."""


WIKI, RELATIVE, PATH, NAME = "wiki", "relative", "path", "name"
"""Kinds of links. One by a path or a name may be no link: where it leads to nothing,
nothing is said."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_LOCATION = re.compile(r"(.+?):(\d{1,9}(?:-\d{1,9})?)$")
_LINE_ANCHOR = re.compile(r"L(\d{1,9})(?:-L?(\d{1,9}))?$")
_LONGEST_PATH = 500


class Link(Record):
    """A link as it is written: its kind, where it leads, which lines there, and its own place.

    ``places`` are where it stands, lines from 1 and columns from 0: a definition, where it is
    used. ``at`` are the same in the body of its document, in characters. ``says`` is the relation
    that stands before it, as it is written.
    """

    __slots__ = ("at", "kind", "line", "lines", "places", "says", "target")

    def __init__(
        self, kind: str, target: str, line: int, lines: str = "", at: Sequence[int] = (),
        says: str = "",
    ) -> None:  # fmt: skip
        self.kind = kind
        self.target = target
        self.line = line
        self.lines = lines
        self.places: list[tuple[int, int]] = []
        self.at = [*at]
        self.says = says


def relative_link(text: str) -> Link | None:
    """Return a link to a file; None where it leads elsewhere."""
    target = _ESCAPE.sub(r"\1", unescape(text.strip("<>").strip()))
    if _SCHEME.match(target):
        return None
    target, _, part = target.partition("#")
    target = unquote(target.partition("?")[0])
    anchor = _LINE_ANCHOR.match(part)
    lines = "-".join(filter(None, anchor.groups())) if anchor else ""
    return Link(RELATIVE, target, 0, lines) if target and "\0" not in target else None


def code_link(text: str) -> Link | None:
    """Return a span of code as a link, with the lines that it names: ``a.py:3-9``."""
    target = text.strip()
    if not target or "\n" in target or len(target) > _LONGEST_PATH:
        return None
    location = _LOCATION.match(target)
    return Link(PATH, location[1], 0, location[2]) if location else Link(PATH, target, 0)


FORMS = {
    ".md": "mdlinks", ".markdown": "mdlinks", ".rst": "rst", ".adoc": "asciidoc",
    ".asciidoc": "asciidoc", ".txt": "plain_text",
}  # fmt: skip
"""The ending of a file's name, and the module that reads such files."""


class Page(Record):
    """``title`` is empty where the text has none; ``title_lines`` are the indexes of its lines,
    ``tags`` those that its prose has."""

    __slots__ = ("links", "tags", "title", "title_lines")

    def __init__(self, title: str = "", title_lines: Sequence[int] = ()) -> None:
        self.title = title
        self.title_lines = [*title_lines]
        self.links: list[Link] = []
        self.tags: list[str] = []

    def add(self, link: Link | None, line: int, column: int) -> None:
        """Add a link, if it is one, that is at a line (from 1) and a column (from 0)."""
        if link is not None:
            link.line, link.places = line, [(line, column)]
            self.links.append(link)


def form_of(path: str) -> Form:
    """Return what reads a file of this name; what has no form is Markdown."""
    ending = path.lower().rpartition(".")[2]
    module = FORMS.get(f".{ending}", "mdlinks")
    form: Form = import_module(f".{module}", __package__)
    return form
