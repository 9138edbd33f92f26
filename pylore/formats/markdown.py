"""Markdown: title, links and tags of a page, found by a single expression.

Code and comments, which hide links, are alternatives of the expression, so that it consumes them.
Repeats are bounded or lazy over single characters: they take linear time and no stack.
"""

from __future__ import annotations

import re
from html import unescape

from ..core.text import one_line
from ..records.fields import is_page
from .pages import NAME, WIKI, Link, Page, code_link, relative_link

_TOKEN = re.compile(
    r"""
    ^(?:
        (?P<quoted>[ ]{0,3}>[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*
          (?P<quote>`{3,}(?=[^`\n]*$)|~{3,}).*
          (?:\n[ ]{0,3}>(?![ \t>]*(?P=quote)[`~]*[ \t]*$).*)*(?:\n[ \t>]*(?P=quote).*)?)
      | (?P<fence>[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?P<mark>`{3,}(?=[^`\n]*$)|~{3,}).*
          [\s\S]*?(?:^[ \t>]*(?P=mark)[`~]*[ \t]*$|\Z))
      | (?P<block>[ ]*<!--[\s\S]*?(?:-->.*|\Z)
          |[ ]{0,3}<(?P<raw>pre|script|style|textarea)\b[\s\S]*?(?:</(?P=raw)>.*|\Z))
      | (?P<indented>(?:\A|[ \t]*\n)(?=[ ]{4}|\t))
      | (?P<definition>[ ]{0,3}\[(?!\^)(?P<label>[^\[\]\n]+)\]:[ \t]*
          (?P<defined><[^<>\n]*>|\S+))
      | (?P<heading>[ ]{0,3}(?P<level>\#{1,6})(?=[ \t]+(?P<title>\S.*)))
      | (?P<html>[ ]{0,3}<h1\b[^<>\n]{0,300}>(?P<inner>[\s\S]{0,1000}?)</h1>)
      | (?P<underline>[ ]{0,3}(?:=+|-{2,})[ \t]*$)
    )
    | (?=[`\\<!\[#]) (?:
        (?P<escape>\\.)
      | (?P<span>(?<!`)(?P<ticks>`{1,9})(?!`)
          (?P<code>(?:(?!\n[ \t]*\n)[\s\S]){1,4000}?)(?<!`)(?P=ticks)(?!`))
      | (?P<comment><!--[\s\S]*?(?:-->|(?=\n[ \t]*\n)|\Z))
      | (?P<wiki>(?P<embed>!?)\[\[(?P<name>[^\[\]\n]{1,2000})\]\])
      | (?P<link>(?P<image>!?)\[(?P<text>(?:\\.|[^\[\]\\]|\[[^\[\]]{0,999}\]){0,999})
          \]\([ \t\n]{0,9}(?P<target><[^<>\n]*>|[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)
          (?:[ \t\n]{1,9}(?:"[^"]*"|'[^']*'|\([^()]*\)))?[ \t\n]{0,9}\))
      | (?P<picture>!\[(?P<alt>[^\[\]\n]{1,999})\](?:\[(?P<pictured>[^\[\]\n]{0,999})\])?)
      | (?P<use>\[(?P<used>[^\[\]\n]{1,999})\](?![(:]))
      | (?P<tag>(?<!\S)\#(?!(?=[a-fA-F]*\d)(?:[\da-fA-F]{3}){1,2}\b)
          (?P<word>[^\W\d_][\w/-]*))
    )
    """,
    re.VERBOSE | re.MULTILINE,
)
_PARAGRAPH = re.compile(r" {0,3}(?!>|[|#]|[-*+][ \t]|\d{1,9}[.)][ \t])(\S.*)\n")
_CODE_END = re.compile(r"^(?! {4}|\t|[ \t]*$)|\Z", re.MULTILINE)
_MARGIN = re.compile(r"^(?:(?P<item> {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$))|\S)", re.MULTILINE)
"""The start of a line that opens or ends a list: in a list, indented text is not code."""
_SPAN = re.compile(r"`([^`\n]+)`")
_NAME = r"[^\W\d_][\w-]{0,63}(?: [\w-]{1,64}){0,3}"
_SAYS = re.compile(
    rf"[ \t>]*(?:(?:[-*+][ \t]+)({_NAME})(?:::?)?[ \t]*|[\[(]?({_NAME})::[ \t]*)"
    r"(?:\[\[[^\[\]\n]*\]\],[ \t]*)*"
)
"""Words of a line before a link: ``- depends_on``, or ``depends on::``."""
_LONGEST_SAYS = 300
_PICTURE = re.compile(r"!\[([^\[\]]{0,500})\](?:\([^()\n]{0,999}\)|\[[^\[\]]{0,500}\])")
_MARKUP = re.compile(
    r"\[([^\[\]]{0,500})\](?:\([^()\n]{0,999}\)|\[[^\[\]]{0,500}\])"
    r"|\\([!-/:-@\[-`{-~])"
    r"|</?(?:a|b|br|code|div|em|h1|i|img|kbd|p|picture|source|span|strong|su[bp])\b[^<>]{0,500}>"
)


def read(text: str) -> Page:
    """Return the title, links and tags of a text."""
    reader = _Reader(text)
    at = 0
    while token := _TOKEN.search(text, at):
        at = reader.take(token)
    reader.page.place_definitions()
    return reader.page


class _Reader:
    def __init__(self, text: str) -> None:
        self.page = Page()
        self._text = text
        self._in_list = False
        self._margins_read = 0
        self._code_end = 0
        self._begin = len(text) - len(text.lstrip())

    def take(self, token: re.Match[str]) -> int:
        """Add the link, title or tag of a token; return the next offset."""
        page, at, kind = self.page, token.start(), token.lastgroup
        if kind == "indented":
            return self._skip_code(token.end())
        if kind in ("quoted", "fence", "block"):
            self._code_end = token.end()
        if kind == "span":
            page.add(code_link(token["code"]), at)
        elif kind == "wiki":
            page.add(self._wiki_link(token), at)
        elif kind == "definition":
            page.define(token["label"], relative_link(token["defined"]), at)
            self._add_spans(token, "label")
        elif kind == "link":
            if not token["image"]:
                page.add(relative_link(token["target"]), at)
            self._add_spans(token, "text")
        elif kind == "use":
            page.use(token["used"], at)
            self._add_spans(token, "used")
        elif kind == "tag":
            page.tags.append(token["word"])
        elif kind == "heading" and not page.title and (token["level"] == "#" or at <= self._begin):
            page.title = _plain(_without_closing(token["title"]))
            page.title_span = at, token.end("title")
        elif kind == "html" and not page.title:
            page.title = _plain(token["inner"])
            page.title_span = at, token.end()
        elif kind == "picture":
            page.use(token["pictured"] or token["alt"], at, is_image=True)
        elif kind == "underline" and not page.title:
            self._set_underlined(token)
        return token.end()

    def _set_underlined(self, token: re.Match[str]) -> None:
        """Make the line before a line of ``===`` or ``---`` the title, after a blank line."""
        line = self._text.rfind("\n", 0, max(0, token.start() - 1)) + 1
        before = self._text[self._text.rfind("\n", 0, max(0, line - 1)) + 1 : line].strip()
        title = _PARAGRAPH.match(self._text, line, token.start())
        if title and not before and line >= self._code_end:
            self.page.title = _plain(title[1])
            self.page.title_span = line, token.end()

    def _skip_code(self, at: int) -> int:
        """Return the end of the indented code at an offset; the offset itself in a list."""
        for margin in _MARGIN.finditer(self._text, self._margins_read, at):
            self._in_list = margin["item"] is not None
        self._margins_read = at
        end = None if self._in_list else _CODE_END.search(self._text, at)
        return end.start() if end else at

    def _wiki_link(self, token: re.Match[str]) -> Link | None:
        """Return a link with the relation before it, or before its list of links."""
        at = token.start()
        start = max(0, at - _LONGEST_SAYS)
        end = self._text.rfind("\n", start, at)
        says = _SAYS.fullmatch(self._text, end + 1, at) if end >= 0 or not start else None
        target = token["name"].partition("|")[0].rstrip("\\").strip()
        target = "" if target[0:1] == "#" else target  # a place in this document
        # An embedded picture is not a document: it need not be found.
        is_media = token["embed"] and "." in target and not is_page(target.partition("#")[0])
        relation = (says[1] or says[2]) if says else ""
        return Link(NAME if is_media else WIKI, target, says=relation) if target else None

    def _add_spans(self, token: re.Match[str], part: str) -> None:
        for span in _SPAN.finditer(token[part]) if "`" in token[part] else ():
            self.page.add(code_link(span[1]), token.start(part) + span.start())


def _plain(title: str) -> str:
    """Return a title without markup: the texts of links, or else of pictures."""
    text = _MARKUP.sub(lambda found: found[1] or found[2] or "", _PICTURE.sub("", title))
    return one_line(unescape(text or _PICTURE.sub(r"\1", title)))


def _without_closing(title: str) -> str:
    """Return the text of a heading without closing marks: ``# Start #`` is "Start"."""
    title = title.rstrip()
    rest = title.rstrip("#")
    return one_line(rest if not rest or rest[-1] in " \t" else title)
