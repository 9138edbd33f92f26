"""Pages: the title, links and tags of the text of a document; AsciiDoc and reStructuredText.

Pages are untrusted: every expression takes time linear in the length of the text. Nothing is
included, substituted or executed. ``markdown`` reads the other texts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape
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


def read_page(text: str, path: str) -> Page:
    """Return the page of a text, in the form of the file's extension."""
    ending = splitext(path)[1].lower()
    if ending == ".rst":
        return _read_rst(text)
    if ending in (".adoc", ".asciidoc"):
        return _read_asciidoc(text)
    from .markdown import read

    return read(text)


# --- AsciiDoc: delimited blocks of code, and comments, have no links

_ASCIIDOC = re.compile(
    r"""
    ^(?:
        (?P<block>(?P<mark>-{4,}|\.{4,}|\+{4,}|/{4,})[ \t]*$[\s\S]*?(?:^(?P=mark)[ \t]*$|\Z))
      | (?P<fence>(?P<ticks>`{3,}).*[\s\S]*?(?:^(?P=ticks)[ \t]*$|\Z))
      | (?P<comment>//.*)
      | (?P<heading>[=\#](?=[ \t]+(?P<title>\S.*)))
    )
    | (?=[lxi<`]) (?:
        (?P<link>(?P<macro>link|xref|include|image):{1,2}(?P<target>[^\s\[\]]{1,500})
          \[[^\]\n]{0,500}\])
      | (?P<cross><<(?P<place>[^<>,\n]{1,500})(?:,[^<>\n]{0,500})?>>)
      | (?P<span>(?<![\w`])`(?P<code>[^`\n]{1,500})`(?![\w`]))
    )
    """,
    re.VERBOSE | re.MULTILINE,
)


def _read_asciidoc(text: str) -> Page:
    page = Page()
    for token in _ASCIIDOC.finditer(text):
        kind, at = token.lastgroup, token.start()
        if kind == "span":
            page.add(code_link(token["code"]), at)
        elif kind == "heading" and not page.title and not page.links:
            page.title = " ".join(token["title"].split())
            page.title_span = at, token.end("title")
        elif kind in ("link", "cross"):
            target, is_file = token["target"] or token["place"], token["macro"] in _FILES
            in_page = kind == "cross" and "." not in target.partition("#")[0]
            if "{" not in target and not in_page:  # {base} is an attribute
                link = Link(PATH, target.partition("#")[0]) if is_file else relative_link(target)
                page.add(link, at)
    return page


_FILES = ("include", "image")
"""Macros whose target is a file."""

# --- reStructuredText: references to files, ``literals``, roles that lead to a document, and the
# entries of a toctree

_RST = re.compile(
    r"""
    ^(?P<margin>[ \t]*)\.\.(?:
        [ \t]+_(?P<label>`[^`\n]+`|(?:\\.|[^:\\\n`]){1,999}):[ \t]+(?P<defined>\S.*)
      | (?P<target>[ \t]+(?:_|\[))
      | [ \t]+(?:\|[^|\n]+\|[ \t]+)?(?:[\w.+-]+:)?(?P<directive>[\w.+-]+)::
      | (?P<comment>[ \t]+\S|[ \t]*\n(?=[ \t]+\S))
    )
    | (?P<literal>::[ \t]*\n(?=[ \t]*\n))
    | (?=[`:\w]) (?:
        (?<!`)``(?P<code>(?:(?!\n[ \t]*\n)[\s\S]){1,2000}?)``(?!`)
      | :(?:[\w+.-]{1,32}:)?(?P<role>[\w+.-]{1,32}):`(?P<said>[^`<>]*)(?:<(?P<meant>[^`<>]+)>)?`
      | (?<!`)`(?P<phrase>[^`<>]*)(?:<(?P<reference>[^`<>]+)>)?`__?
      | (?<![\w`.+-])(?P<word>\w[\w.+-]{0,99})_(?![\w`])
    )
    """,
    re.VERBOSE | re.MULTILINE,
)
_PATH_ROLES, _NAME_ROLES = ("doc", "download"), ("ref", "numref", "any", "term", "pep")
_PROSE = frozenset(
    "note warning tip hint important attention caution danger error admonition seealso topic "
    "versionadded versionchanged deprecated sidebar container rubric image figure table "
    "list-table".split()
)
"""Directives with prose."""
_ENTRY = re.compile(r"^[ \t]+(?!:)(?:[^<>\n]*<([^<>\n]+)>|(\S+))[ \t]*$", re.MULTILINE)
_INDENT = re.compile(r"^[ \t]*(?=\S)", re.MULTILINE)
_TITLE = re.compile(
    r"^(?:(?P<over>[!-/:-@\[-`{-~]+)[ \t]*\n[ \t]*)?(?P<title>\S.*)\n"
    r"(?P<under>(?P<mark>[!-/:-@\[-`{-~])(?P=mark)*)[ \t]*$",
    re.MULTILINE,
)
_MARKUP = re.compile(r":[\w:.+-]{1,64}:(?=`)|`_{0,2}|\*")


def _read_rst(text: str) -> Page:
    page, at = _titled(text), 0
    while token := _RST.search(text, at):
        at = token.end()
        directive = (token["directive"] or "").lower()
        if token["literal"]:
            line = _INDENT.match(text, text.rfind("\n", 0, token.start()) + 1)
            at = _block_end(text, at, len(line[0]) if line else 0)
        elif (directive and directive not in _PROSE) or token["comment"] is not None:
            end = _block_end(text, at, len(token["margin"]))
            for entry in _ENTRY.finditer(text, at, end) if directive == "toctree" else ():
                part = 1 if entry[1] else 2
                page.add(Link(PATH, entry[part]), entry.start(part))
            at = end
        elif token["label"]:
            page.define(token["label"].strip("`"), relative_link(token["defined"]), token.start())
        elif not token["reference"] and (used := token["phrase"] or token["word"]):
            page.use(used, token.start())
        else:
            page.add(_rst_link(token), token.start())
    page.place_definitions()
    return page


def _titled(text: str) -> Page:
    for found in _TITLE.finditer(text):
        title, over, under = found["title"].rstrip(), found["over"], found["under"]
        is_long = len(under) >= min(len(title), 4) and over in (None, under)
        if is_long and any(map(str.isalnum, title)):
            return Page(" ".join(_MARKUP.sub("", title).split()), found.span())
    return Page()


def _block_end(text: str, at: int, margin: int) -> int:
    """Return the offset of the next line that is indented by at most ``margin``."""
    lines = (line.start() for line in _INDENT.finditer(text, at) if len(line[0]) <= margin)
    return next(lines, len(text))


def _rst_link(token: re.Match[str]) -> Link | None:
    role, target = token["role"], " ".join((token["meant"] or token["said"] or "").split())
    if token["code"] or role in ("code", "literal", "file"):
        return code_link(token["code"] or target)
    if token["reference"]:
        return relative_link(token["reference"])
    if role == "pep" and target.isdecimal():
        target = f"pep-{target:0>4}"
    kind = PATH if role in _PATH_ROLES else NAME if role in _NAME_ROLES else ""
    return Link(kind, target.lstrip("~!")) if kind and target.lstrip("~!") else None
