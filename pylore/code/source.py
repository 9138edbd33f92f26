"""Signatures, documentation and other texts of one file's source."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..core.text import one_line
from .facts import Symbol
from .languages.spec import LanguageSpec

SIGNATURE_LENGTH = 300
DOC_LENGTH = 1500
_HEAD_LINES = 25
_HEAD_LENGTH = 4000
"""Characters of a definition that are examined for its head."""
_MOST_ATTRIBUTES = 50
"""Lines of attributes between a definition and its comment."""
_MARKS = re.compile(r"[()\[\]{};:\n]|=>|=|\"|'")
_DOCSTRING = re.compile(r"\s*[rRuUbB]{0,2}(\"\"\"|'''|\"|')(.*?)(?<!\\)\1", re.DOTALL)
_ATTRIBUTES = ("@", "#[")  # decorators, annotations, attributes
_LICENSE = re.compile(r"copyright|licen[sc]e|spdx-|all rights reserved", re.IGNORECASE)


class Source:
    """One file's text, by lines."""

    def __init__(self, text: str, language: LanguageSpec) -> None:
        self.text = text
        self.lines = text.split("\n")
        self._language = language

    def signature(self, first: int, last: int, kind: str) -> str:
        """Return the head of the definition on these lines: up to its body, in one line."""
        first = self._after_attributes(first, last)
        lines = self.lines[first - 1 : min(last, first + _HEAD_LINES)]
        if kind == "constant" or not lines:
            return one_line(lines[0][:_HEAD_LENGTH])[:SIGNATURE_LENGTH] if lines else ""
        text = "\n".join(lines)[:_HEAD_LENGTH]
        return one_line(text[: self._head_end(text)])[:SIGNATURE_LENGTH].rstrip(" =")

    def doc(self, first: int, last: int, kind: str) -> str:
        """Return the docstring of a definition, or else the comment right before it."""
        if self._language.docstrings and kind in ("class", "function", "method"):
            doc = self._docstring(first, last)
            if doc:
                return doc
        return self._comment_before(first)

    def leading(self) -> str:
        """Return what the file says of itself: its docstring, or else its first comment but a
        licence."""
        if self._language.docstrings:
            start = 0
            while start < len(self.lines) and _is_blank(self.lines[start], "#"):
                start += 1
            match = _DOCSTRING.match("\n".join(self.lines[start : start + 100]))
            if match:
                return _trimmed(match[2])
        for block in self._first_comments():
            if not _LICENSE.search(block):
                return block[:DOC_LENGTH]
        return ""

    def excerpt(self, first: int, last: int, length: int) -> str:
        """Return the text of these lines, its beginning if it is longer."""
        # a line is a character at the least
        return "\n".join(self.lines[first - 1 : min(last, first + length)])[:length]

    # --- steps

    def _after_attributes(self, first: int, last: int) -> int:
        while first < last and self.lines[first - 1].lstrip()[:1] == "@":
            line = self.lines[first - 1].strip()
            if "(" not in line and " " in line:
                break  # the definition stands on the same line
            depth = line.count("(") - line.count(")")
            if not depth and " " in line.rpartition(")")[2].strip():
                break
            while depth > 0 and first < last:
                first += 1
                depth += self.lines[first - 1].count("(") - self.lines[first - 1].count(")")
            first += 1
        return first

    def _head_end(self, text: str) -> int:
        """Return where the head ends in a definition: at its body, a semicolon, or a line's end."""
        block = self._language.block
        depth = position = 0
        while True:
            match = _MARKS.search(text, position)
            if match is None:
                return len(text)
            mark, position = match[0], match.end()
            if mark in "([":
                depth += 1
            elif mark in ")]":
                depth -= 1
            elif mark in "\"'":
                end = text.find(mark, position)
                position = end + 1 if end >= 0 else position
            elif depth > 0:
                continue
            elif (
                (mark in "{;" and block == "{")
                or mark == "=>"
                or (mark == ":" and block == ":")
                or (mark == "\n" and block != "{")
            ):
                return match.start()

    def _docstring(self, first: int, last: int) -> str:
        lines = self.lines[first - 1 : min(last, first + _HEAD_LINES + 39)]
        end = self._head_end("\n".join(lines[:_HEAD_LINES])[:_HEAD_LENGTH])
        text = "\n".join(lines)
        colon = text.find(":", end)
        rest = text[colon + 1 :] if colon >= 0 else ""
        if "#" in rest[: rest.find("\n")]:  # a comment after the colon
            rest = rest[rest.find("\n") :]
        match = _DOCSTRING.match(rest)
        return _trimmed(match[2]) if match else ""

    def _comment_before(self, first: int) -> str:
        at = first - 2
        last = max(0, at - _MOST_ATTRIBUTES)
        while at >= last and self.lines[at].lstrip().startswith(_ATTRIBUTES):
            at -= 1
        begin = self._comment_begin(at)
        if begin > at:
            return ""
        return self._comment_text(begin, at + 1)

    def _comment_begin(self, at: int) -> int:
        """Return the first line of the comment that ends with line ``at``; one after it if none
        does."""
        begin = at + 1
        line = self.lines[at].strip() if at >= 0 else ""
        if line.endswith("*/") and "/*" in self._language.comments:
            while begin > 0 and at - begin < 200:
                begin -= 1
                if "/*" in self.lines[begin]:
                    return begin if self.lines[begin].lstrip().startswith("/*") else at + 1
            return at + 1
        marks = tuple(mark for mark in self._language.comments if mark not in ("/*", "*"))
        while begin > 0 and marks and self.lines[begin - 1].lstrip().startswith(marks):
            if self.lines[begin - 1].startswith("#!"):
                break
            begin -= 1
        return begin

    def _comment_text(self, begin: int, end: int) -> str:
        marks = "".join({letter for mark in self._language.comments for letter in mark})
        cleaned = (line.strip().strip(marks + "!").strip() for line in self.lines[begin:end])
        return "\n".join(line for line in cleaned if line)[:DOC_LENGTH]

    def _first_comments(self) -> list[str]:
        """Return the comments at the beginning of the file, before any code."""
        found: list[str] = []
        at, marks = 0, self._language.comments
        inside = False
        begin = -1
        while at < min(len(self.lines), 200) and len(found) < 3:
            line = self.lines[at].strip()
            comment = inside or (bool(marks) and line.startswith(marks) and line[:2] != "#!")
            if comment and "/*" in marks:
                inside = ("/*" in line or inside) and "*/" not in line
            if comment and begin < 0:
                begin = at
            elif not comment and begin >= 0:
                found.append(self._comment_text(begin, at))
                begin = -1
            if not comment and line and line[:2] != "#!":
                break
            at += 1
        if begin >= 0:
            found.append(self._comment_text(begin, at))
        return [block for block in found if block]


def _is_blank(line: str, comment: str) -> bool:
    line = line.strip()
    return not line or line.startswith(comment)


def _trimmed(text: str) -> str:
    return "\n".join(line.strip() for line in text.strip().splitlines())[:DOC_LENGTH]


FILE_LENGTH = 2000
"""Characters of a file's body."""
WHOLE_LENGTH = 200_000
"""Characters of a file that full text over whole files sees."""
SYMBOL_LENGTH = 700
"""Characters of a symbol's body: doc and source are cut to fit one passage."""
TITLE_LENGTH = 160


def file_body(source: Source, symbols: Sequence[Symbol], is_code: bool) -> str:
    """Return the description and the names of code, or the beginning of other text."""
    if not is_code:
        return source.text[:FILE_LENGTH].strip()
    names = dict.fromkeys(symbol.qualified for symbol in symbols)
    return f"{source.leading()}\n{' '.join(names)}".strip()[:FILE_LENGTH]


def symbol_title(symbol: Symbol) -> str:
    """Return the qualified name, with the parameters and result that its head has.

    ``Login.check(self, user: str) -> bool``
    """
    _, opening, rest = symbol.signature.partition(f"{symbol.name}(")
    title = f"{symbol.qualified}({rest}" if opening else symbol.qualified
    return title if len(title) <= TITLE_LENGTH else title[: TITLE_LENGTH - 1] + "…"


def symbol_body(symbol: Symbol, source: Source) -> str:
    """Return signature, documentation, and the beginning of the source after the head."""
    parts = [symbol.signature]
    if symbol.doc:
        parts.append(symbol.doc)
    room = SYMBOL_LENGTH - sum(map(len, parts))
    if room > 80 and symbol.line_end > symbol.line_start:
        parts.append(one_line(source.excerpt(symbol.line_start, symbol.line_end, 2 * room))[:room])
    return "\n".join(parts)[: 2 * SYMBOL_LENGTH]
