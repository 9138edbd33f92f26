"""Title, links and tags of a page in Markdown, AsciiDoc or reStructuredText.

A single expression finds the tokens of each form. Pages are untrusted: an expression takes time
linear in the length of the text, and nothing is included, substituted or executed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape
from os.path import splitext
from typing import NamedTuple
from urllib.parse import unquote

from ..core.text import one_line, split_location
from . import is_page

WIKI, RELATIVE, PATH, NAME, CODE, FIELD = "wiki", "relative", "path", "name", "code", "field"
"""Kinds of links; a field is of the front matter, code a word that may be a file's full name."""
WORDS = (PATH, NAME, CODE)
"""Kinds that may be mere words: an unresolved link of these kinds is not reported."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|\{[{%]")  # or a template
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_LINE_ANCHOR = re.compile(r"L(\d{1,9})(?:-L?(\d{1,9}))?$")
_LONGEST_PATH, _LONGEST_TARGET, _LONGEST_SAYS = 500, 2_000, 300  # characters


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
    target = _ESCAPE.sub(r"\1", unescape(text.strip("<>").strip()))
    if len(text) > _LONGEST_TARGET or _SCHEME.match(target):
        return None
    target, _, part = target.partition("#")
    target = unquote(target.partition("?")[0])
    anchor = _LINE_ANCHOR.match(part)
    lines = "-".join(filter(None, anchor.groups())) if anchor else ""
    return Link(RELATIVE, target, lines=lines) if target and "\0" not in target else None


def code_link(text: str, is_role: bool = False) -> Link | None:
    """Return a span of code as a link, with the lines that it names: ``a.py:3-9``."""
    target = text.strip()
    path = split_location(target)[0] or target
    if not path or "\n" in path or len(path) > _LONGEST_PATH:
        return None
    kind = PATH if is_role or "/" in path or "." in path else CODE
    return Link(kind, path, lines=target[len(path) + 1 :])


class Page:
    """The title of a text, or an empty text, with the place; links, tags and labels of places.

    ``title_span`` are the first and last offset of the title with markup. ``links`` are ``(offset,
    link)``, in the order of the text.
    """

    def __init__(self) -> None:
        self.title = ""
        self.title_span = 0, 0
        self.links: list[tuple[int, Link]] = []
        self.tags: list[str] = []
        self.labels: list[str] = []
        self._defined: dict[str, tuple[int, Link | None]] = {}  # label to the first definition
        self._used: dict[str, list[int]] = {}

    def set_title(self, title: str, start: int, end: int) -> None:
        """Set the title, unless an earlier one was found."""
        if not self.title:
            self.title, self.title_span = title, (start, end)

    def add(self, link: Link | None, at: int) -> None:
        """Add a link at an offset; ignore None."""
        if link is not None:
            self.links.append((at, link._replace(at=(at,))))

    def define(self, label: str, link: Link | None, at: int) -> None:
        """Note the link of a label; ``place_definitions`` adds it."""
        self._defined.setdefault(one_line(label).casefold(), (at, link))

    def use(self, label: str, at: int) -> None:
        """Note a use of a label, which may be defined later or not at all."""
        self._used.setdefault(one_line(label).casefold(), []).append(at)

    def place_definitions(self) -> None:
        """Add the link of each label that is used, with the places of the uses."""
        for label, (at, link) in self._defined.items():
            if link and label in self._used:
                self.links.append((at, link._replace(at=self._used[label])))
        self.links.sort(key=lambda one: one[0])


def read_page(text: str, path: str) -> Page:
    """Return the page of a text, in the form of the file's extension."""
    readers = {".rst": _read_rst, ".adoc": _read_asciidoc, ".asciidoc": _read_asciidoc}
    return readers.get(splitext(path)[1].lower(), _read_markdown)(text)


# --- Markdown: code and comments, which hide links, are alternatives of the expression

_MARKDOWN = re.compile(
    r"""
    ^(?!\n\n)(?:
        (?P<quoted>[ ]{0,3}(?:>|(?P<item>[-*+]|\d{1,9}[.)])[ \t])
          [ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?P<quote>`{3,}(?=[^`\n]*$)|~{3,}).*
          (?:\n(?(item)(?:[ ]{2}|\t|(?=[ \t]*$))|[ ]{0,3}>)(?![ \t>]*(?P=quote)[`~]*[ \t]*$).*)*
          (?:\n[ \t>]*(?P=quote).*)?)
      | (?P<fence>[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?P<mark>`{3,}(?=[^`\n]*$)|~{3,}).*
          [\s\S]*?(?:^[ \t>]*(?P=mark)[`~]*[ \t]*$|\Z))
      | (?P<block>[ ]*<!--[\s\S]*?(?:-->.*|\Z)
          |[ ]{0,3}<(?P<raw>pre|script|style|textarea)\b[\s\S]*?(?:</(?P=raw)>.*|\Z))
      | (?P<indented>(?:\A|[ \t]*\n)(?=[ ]{4}|\t))
      | (?P<definition>(?:[ ]{0,3}(?:>|(?:[-*+]|\d{1,9}[.)])[ \t]))*[ ]{0,3}
          \[(?!\^)(?P<label>(?:\\.|[^\[\]\\\n])+)\]:[ \t]*\n?[ \t]*(?P<defined><[^<>\n]*>|\S+)
          (?=(?:[ \t]+(?:"(?:\\.|[^"\\])*"|'[^']*'|\([^()]*\)))?[ \t]*$))
      | (?P<heading>[ ]{0,3}(?P<level>\#{1,6})(?=[ \t]+(?P<title>\S.*)))
      | (?P<html>[ ]{0,3}(?:<\w[^<>\n]*>)*?<[hH]1\b[^<>\n]*>(?P<inner>[\s\S]{0,1000}?)</[hH]1>)
      | (?P<underline>[ ]{0,3}(?:=+|-{2,})[ \t]*$)
    )
    | (?=[`\\<!\[#{]) (?:
        (?P<escape>\\.|<[a-zA-Z][\w+.-]{1,31}:[^<>\s]*>|\{[ ]?[:.\#][^{}\n]*\})
      | (?P<span>(?<!`)(?P<ticks>`{1,9})(?!`)
          (?P<code>(?:(?!\n[ \t]*(?:\n|(?:[-*+]|\#{1,6}|1[.)])[ \t]))[\s\S]){1,4000}?)
          (?<!`)(?P=ticks)(?!`))
      | (?P<comment><!--[\s\S]*?(?:-->|(?=\n[ \t]*\n)|\Z))
      | (?P<wiki>(?P<embed>!?)\[\[(?P<name>[^\[\]\n]{1,2000})\]\](?!\())
      | (?P<link>(?P<image>!)?\[(?P<text>(?:\\[\s\S]|[^\[\]\\\n`]
          |`(?:(?:[^`\n\[]|\[[^\[\]`\n]*\])*`|(?!(?:[^`\n\[]|\[[^\[\]`\n]*\])*`))
          |\n(?![ \t]*\n)|(?<!!)\[(?:\\.|[^\[\]\\]){0,999}\](?(image)|(?!\())
          |(?<=!)\[(?:\\.|[^\[\]\\]){0,999}\]){0,999})\]\([ \t\n]{0,9}
          (?P<target><[^<>\n]*>|[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)
          (?:[ \t\n]{1,9}(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\((?:\\.|[^()\\])*\)))?
          [ \t\n]{0,9}\))
      | (?P<anchor><(?i:a\s(?:[^<>]{0,500}\s)?href)=["']?(?P<href>[^"'<>\s]{1,2000}))
      | (?P<picture>!\[[^\[\]\n]{1,999}\](?:\[[^\[\]\n]{0,999}\])?)
      | (?P<use>\[(?P<used>(?:\\.|[^\[\]\\\n`]|`[^`\n\[]*`|\n(?![ \t]*\n)){1,999})\](?!\[[^\[\]\n]))
      | (?P<tag>(?<![^\s、。（「])\#(?!(?=[a-fA-F]*\d)(?:[\da-fA-F]{3}){1,2}\b)
          (?P<word>\d{0,9}(?:[^\W\d_]|[\u2600-\u27bf\U0001f300-\U0001faff])
          (?:[\w/-]|[^\s\0-\xbf\u2000-\u206f\u3000-\u303f\uff00-\uff0f])*))
    )
    """,
    re.VERBOSE | re.MULTILINE,
)
_PARAGRAPH = re.compile(r"(?: {0,3}(?!>|[|#]|[-*_=]{3}|[-*+][ \t]|\d{1,9}[.)][ \t])\S.*\n){1,4}")
_CODE_END = re.compile(r"^(?! {4}|\t|[ \t]*$)|\Z", re.MULTILINE)
_MARGIN = re.compile(r"(?m)^(?:(?P<item> {0,3}(?:[-*+:]|\d+[.)]|\[\^.+\]:)\s|[!?=]{3}.? \S)|\S)")
"""The start of a list, footnote or admonition, in which indented text is not code, or its end."""
_CLOSING = re.compile(r"(?:(?:^|[ \t])#+|[ \t]\{ ?[:.#][^{}]*\})[ \t]*$")
_SPAN = re.compile(r"`([^`\n]+)`")
_NAME = r"[^\W\d_][\w-]{0,63}(?: [\w-]{1,64}){0,3}"
_SAYS = re.compile(
    rf"[ \t>]*(?:(?:[-*+][ \t]+)({_NAME})(?:::?)?[ \t]*|[\[(]?({_NAME})::[ \t]*)"
    r"(?:\[\[[^\[\]\n]*\]\],[ \t]*)*"
)
"""Words of a line before a link: ``- depends_on``, or ``depends on::``."""
_PICTURE = re.compile(r"!\[([^\[\]]{0,500})\](?:\([^()\n]{0,999}\)|\[[^\[\]]{0,500}\])")
_MARKUP = re.compile(
    r"\[([^\[\]]{0,500})\](?:\([^()\n]{0,999}\)|\[[^\[\]]{0,500}\])"
    r"|\\([!-/:-@\[-`{-~])| <[A-Z]\w{0,60} [\w:-]{1,60}=[^<>]{1,500}/>"
    r"|</?(?:a|b|br|code|div|em|h1|i|img|kbd|p|picture|source|span|strong|su[bp])\b[^<>]{0,500}>"
)
_EMPHASIS = re.compile(r"(?<![\w*~\\`])(\*+|~~|_)(?=[\w[])((?:(?!\1).){0,99}[\w.!?)])\1(?![\w*~`])")


def _read_markdown(text: str) -> Page:
    page, at, code_end, margins_read, in_list, top = Page(), 0, 0, 0, False, ""
    begin = len(text) - len(re.sub(r"\A(?:\s+|<!--[\s\S]*?-->|<[^<>]{1,500}>|[\[!{].*)+", "", text))
    while token := _MARKDOWN.search(text, at):
        start, at, kind = token.start(), token.end(), token.lastgroup
        if kind == "indented":
            for margin in _MARGIN.finditer(text, margins_read, at):
                in_list = margin["item"] is not None
            margins_read = at
            at = at if in_list else next(_CODE_END.finditer(text, at)).start()
        elif kind in ("quoted", "fence", "block"):
            code_end = at
        elif kind == "span":  # {doc}`name` of MyST
            page.add(code_link(token["code"], text.endswith("}", 0, start)), start)
        elif kind == "wiki":
            page.add(_wiki_link(token), start)
        elif kind == "definition":
            page.define(token["label"], relative_link(token["defined"]), start)
        elif kind in ("link", "anchor") and not token["image"]:
            page.add(relative_link(token["href"] or token["target"]), start)
        elif kind == "use":
            page.use(token["used"], start)
        elif kind == "tag":
            page.tags.append(token["word"])
        elif kind == "heading" and (level := token["level"]) == top:  # of a section
            page.title = page.title if level == "#" and page.title_span[0] <= begin else ""
        elif kind == "heading" and (level == "#" or start <= begin) and not (top or page.title):
            top = level
            page.set_title(_plain(_CLOSING.sub("", token["title"])), start, token.end("title"))
        elif kind == "html":
            page.set_title(_plain(token["inner"]), start, at)
        elif kind == "underline" and not page.title:
            _set_underlined(page, token, code_end)
        for part in ("label", "text", "used"):
            for span in _SPAN.finditer(token[part]) if "`" in (token[part] or "") else ():
                page.add(code_link(span[1]), token.start(part) + span.start())
    page.place_definitions()
    return page


def _set_underlined(page: Page, token: re.Match[str], code_end: int) -> None:
    """Make the lines before a line of ``===`` or ``---`` the title, after a blank line."""
    text, start = token.string, token.start()
    blank = text.rfind("\n\n", max(0, start - _LONGEST_TARGET), start)
    line = max(code_end, blank + 2 if blank >= 0 else 0)
    if title := _PARAGRAPH.fullmatch(text, line, start):
        page.set_title(_plain(title[0]), line, token.end())


def _wiki_link(token: re.Match[str]) -> Link | None:
    """Return a link with the relation that precedes the link or a list of links."""
    at = token.start()
    start = max(0, at - _LONGEST_SAYS)
    end = token.string.rfind("\n", start, at)
    says = _SAYS.fullmatch(token.string, end + 1, at) if end >= 0 or not start else None
    target = token["name"].partition("|")[0].rstrip("\\").strip()
    if target in ("", "_TOC_") or target.startswith("#"):  # a place in this document
        return None
    # An embedded picture is not a document: it need not be found.
    is_media = token["embed"] and "." in target and not is_page(target.partition("#")[0])
    return Link(NAME if is_media else WIKI, target, says=(says[1] or says[2]) if says else "")


def _plain(title: str) -> str:
    """Return a title without markup: the texts of links, or of pictures."""
    title = _EMPHASIS.sub(r"\2", title)
    text = _MARKUP.sub(lambda found: found[1] or found[2] or "", _PICTURE.sub("", title))
    return one_line(unescape(text or _MARKUP.sub("", _PICTURE.sub(r"\1", title))))


# --- AsciiDoc: delimited blocks of code, and comments, have no links

_ASCIIDOC = re.compile(
    r"""
    ^(?:
        (?P<block>(?P<mark>-{4,}|\.{4,}|\+{4,}|/{4,})[ \t]*$[\s\S]*?(?:^(?P=mark)[ \t]*$|\Z))
      | (?P<fence>(?P<ticks>`{3,}).*[\s\S]*?(?:^(?P=ticks)[ \t]*$|\Z))
      | (?P<comment>//.*)
      | (?P<heading>(?:={1,6}|\#{1,6})(?=[ \t]+(?P<title>\S.*))
          |(?=(?P<lined>(?P<name>\w.*)\n={4,}[ \t]*$)))
    )
    | (?<!\\)(?=[lxi<`]) (?:
        (?P<link>(?P<macro>link|xref|include|image):{1,2}(?P<target>[^\s\[\]]{1,500})
          \[[^\]]{0,500}\])
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
        elif kind == "heading" and not page.links:
            end = token.end("title" if token["title"] else "lined")
            page.set_title(one_line(_EMPHASIS.sub(r"\2", token["title"] or token["name"])), at, end)
        elif kind in ("link", "cross"):
            target = token["target"] or token["place"]
            is_file = token["macro"] in ("include", "image")
            is_id = token["macro"] in (None, "xref") and not ("#" in target or is_page(target))
            if "{" not in target and not is_id:  # {base} is an attribute
                link = Link(PATH, target.partition("#")[0]) if is_file else relative_link(target)
                page.add(link, at)
    return page


# --- reStructuredText: references to files, ``literals``, roles that lead to a document, and the
# entries of a toctree

_RST = re.compile(
    r"""
    ^(?P<margin>[ \t]*(?:[-*+][ \t]+)*)\.\.(?:
        [ \t]+_(?P<label>`[^`\n]+`|(?:\\.|[^:\\\n`]){1,999}):
          (?:[ \t]+(?P<defined>(?!.*_[ \t]*$)\S.*)|[ \t]*$(?!\n[ \t]+\S))
      | (?P<target>[ \t]+(?:_|\[))
      | [ \t]+(?:\|[^|\n]+\|[ \t]+)?(?:[\w.+-]+:)?(?P<directive>[\w.+-]+)::
      | (?P<comment>[ \t]+\S|[ \t]*\n(?=[ \t]+\S))
    )
    | (?P<literal>::[ \t]*\n(?=[ \t]*\n))
    | (?=[`:\w]) (?:
        (?<!`)``(?P<code>(?:(?!\n[ \t]*\n)[\s\S]){1,2000}?)``(?!`)
      | :(?:[\w+.-]{1,32}:)?(?P<role>[\w+.-]{1,32}):`(?P<said>[^`<>]*)(?:<(?P<meant>[^`<>]+)>)?`
      | (?<!`)`(?P<phrase>[^`<>]*)(?:(?<!\\)<(?P<reference>[^`<>]+)>)?`__?
      | (?<![\w`.+-])(?P<word>\w[\w.+-]{0,99})_(?![\w`])
    )
    """,
    re.VERBOSE | re.MULTILINE,
)
_PATH_ROLES, _NAME_ROLES = ("doc", "download"), ("ref", "numref", "any", "term", "pep")
_PROSE = frozenset(
    "note warning tip hint important attention caution danger error admonition seealso topic "
    "versionadded versionchanged deprecated sidebar container rubric image figure table list-table "
    "glossary class function method classmethod attribute property data exception option envvar "
    "confval".split()
)  # directives with prose
_ENTRY = re.compile(r"^[ \t]+(?!:)(?:[^<>\n]*<([^<>\n]+)>|(\S+))[ \t]*$", re.MULTILINE)
_INDENT = re.compile(r"^[ \t]*(?=\S)", re.MULTILINE)
_TITLE = re.compile(
    r"^(?:(?P<over>[!-/:-@\[-`{-~]+)[ \t]*\n[ \t]*)?(?P<title>(?!\.\.[ ])\S.*)\n"
    r"(?P<under>(?P<mark>[!-/:-@\[-`{-~])(?P=mark)*)[ \t]*$",
    re.MULTILINE,
)
_RST_MARKUP = re.compile(r":[\w:.+-]{1,64}:(?=`)|[ ]?<[^<>`]*>(?=`)|`_{0,2}|\*")


def _read_rst(text: str) -> Page:
    page, at = Page(), 0
    for found in _TITLE.finditer(text):
        title, over, under = found["title"].rstrip(), found["over"], found["under"]
        is_long = len(under) >= min(len(title), 4) and over in (None, under)
        if is_long and any(map(str.isalnum, title)):
            page.set_title(one_line(_RST_MARKUP.sub("", title)), *found.span())
            break
    while token := _RST.search(text, at):
        at = token.end()
        directive = (token["directive"] or "").lower().removeprefix("auto")
        reference, used = token["reference"] or "", token["phrase"] or token["word"]
        if reference.endswith("_"):  # `text <name_>`_
            reference, used = "", reference[:-1]
        if token["literal"]:
            line = _INDENT.match(text, text.rfind("\n", 0, token.start()) + 1)
            at = _block_end(text, at, len(line[0]) if line else 0)
        elif (directive and directive not in _PROSE) or token["comment"] is not None:
            end = _block_end(text, at, len(token["margin"]))
            for entry in _ENTRY.finditer(text, at, end) if directive == "toctree" else ():
                part = 1 if entry[1] else 2
                page.add(Link(PATH, entry[part]), entry.start(part))
            at = end
        elif token["label"] and not token["defined"]:
            page.labels.append(one_line(token["label"].strip("`")))
        elif token["label"]:
            page.define(token["label"].strip("`"), relative_link(token["defined"]), token.start())
        elif not reference and used:
            page.use(used, token.start())
        else:
            page.add(_rst_link(token), token.start())
    page.place_definitions()
    return page


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
