"""A page: the title, links and tags of the text of a document.

Pages are untrusted: every expression takes time linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape
from importlib import import_module
from os.path import splitext
from typing import NamedTuple
from urllib.parse import unquote

from ..core.model import Record

WIKI, RELATIVE, PATH, NAME, FIELD = "wiki", "relative", "path", "name", "field"
"""Kinds of links; a field is of the front matter. An unresolved path or name is not
reported: it may be a mere word."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_LOCATION = re.compile(r"(.+?):(\d{1,9}(?:-\d{1,9})?)$")
_LINE_ANCHOR = re.compile(r"L(\d{1,9})(?:-L?(\d{1,9}))?$")
_LONGEST_PATH = 500
_LONGEST_TARGET = 2_000


class Link(NamedTuple):
    """A link as it is written.

    ``line`` is the line in the file, ``lines`` the range of lines in the target, ``at`` the offsets
    in the text of the document: several where a definition is used several times. ``says`` is the
    relation written before the link.
    """

    kind: str
    target: str
    line: int = 0
    lines: str = ""
    at: Sequence[int] = ()
    says: str = ""


def relative_link(text: str) -> Link | None:
    """Return a link to a file; None for a URL, an anchor in the page or an overlong target."""
    if len(text) > _LONGEST_TARGET:
        return None
    target = _ESCAPE.sub(r"\1", unescape(text.strip("<>").strip()))
    if _SCHEME.match(target):
        return None
    target, _, part = target.partition("#")
    target = unquote(target.partition("?")[0])
    anchor = _LINE_ANCHOR.match(part)
    lines = "-".join(filter(None, anchor.groups())) if anchor else ""
    return Link(RELATIVE, target, lines=lines) if target and "\0" not in target else None


def code_link(text: str) -> Link | None:
    """Return a span of code as a link, with the lines that it names: ``a.py:3-9``."""
    target = text.strip()
    if not target or "\n" in target or len(target) > _LONGEST_PATH:
        return None
    location = _LOCATION.match(target)
    return Link(PATH, location[1], lines=location[2]) if location else Link(PATH, target)


class Page(Record):
    """The title of a text, or an empty text, with the place; links and tags.

    ``title_span`` are the first and last offset of the title with markup. ``links`` are ``(offset,
    link)``, in the order of the text.
    """

    __slots__ = ("_defined", "_used", "links", "tags", "title", "title_span")

    def __init__(self, title: str = "", title_span: tuple[int, int] = (0, 0)) -> None:
        self.title = title
        self.title_span = title_span
        self.links: list[tuple[int, Link]] = []
        self.tags: list[str] = []
        self._defined: dict[str, int] = {}  # label to the offset of the first definition
        self._used: dict[str, list[int]] = {}

    def add(self, link: Link | None, at: int) -> None:
        """Add a link at an offset; ignore None."""
        if link is not None:
            self.links.append((at, link._replace(at=(at,))))

    def define(self, label: str, link: Link | None, at: int) -> None:
        """Add the link of a label; ``place_definitions`` moves it to the uses."""
        self.add(link, at)
        self._defined.setdefault(_folded(label), at)

    def use(self, label: str, at: int, *, is_image: bool = False) -> None:
        """Note a use of a label, which may be defined later or not at all."""
        uses = self._used.setdefault(_folded(label), [])
        if not is_image:
            uses.append(at)

    def place_definitions(self) -> None:
        """Put the link of each used label where the label is used; drop labels of images."""
        used = {at: self._used[label] for label, at in self._defined.items() if label in self._used}
        placed = [(at, link._replace(at=used.get(at, link.at))) for at, link in self.links]
        self.links = [(at, link) for at, link in placed if link.at]


def _folded(label: str) -> str:
    return " ".join(label.split()).casefold()


_FORMS = {".rst": ".rst", ".adoc": ".asciidoc", ".asciidoc": ".asciidoc"}
"""Extension to the module that reads it; Markdown reads the others."""


def read_page(text: str, path: str) -> Page:
    """Return the page of a text, in the form of the file's extension."""
    form = _FORMS.get(splitext(path)[1].lower(), ".markdown")
    page: Page = import_module(form, __package__).read(text)
    return page
