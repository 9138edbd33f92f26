"""Signatures, documentation and other texts of a source file."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..anchors.definitions import attributes_before
from ..core.text import one_line
from .expressions import LIFETIME, after_brackets
from .facts import Symbol
from .languages import LanguageSpec

SIGNATURE_LENGTH, DOC_LENGTH, TITLE_LENGTH = 300, 1500, 160
FILE_LENGTH, SYMBOL_LENGTH = 2000, 700  # characters of a body: doc and source fit a passage
WHOLE_LENGTH = 200_000  # characters of a file that full text over whole files sees
_HEAD_LINES = 25
_HEAD_LENGTH = 4000  # maximum characters of a head
_MOST_ABOVE = 20  # maximum lines of attributes before a definition
_FIRST_LINES = 200  # maximum lines of a comment
_MARK = (
    r"[()\[\]{};:\n]|operator\s*[-<>=]+|(?<!<)<(?![-<=])|(?<![-=])>|=>|=(?![=>])"
    r"|{strings}|{comments}|\\."
)
_OPENING = {")": "(", "]": "[", "}": "{", ">": "<"}
_COMMENTS = {"#": r"#[^\n]*", "//": r"//[^\n]*", "/*": r"/\*(?s:.)*?\*/", "\\": r"\\\n"}
_OF_TYPE = re.compile(
    r"(?:[:|?]|\s&|\b(?:extends|is|keyof|readonly)|\)\s*:\s*(?:new )?\([^()]*\)\s*=>)\s*$"
    r"|(?<!typedef )\b(?:interface|struct) ?$|\btype\s[^;]*=>\s*$"
)  # text before a brace that belongs to a type
_TYPE_LENGTH = 300  # characters of such a text
_ENDS = (")", " noexcept", " try")  # of the text before the members in a constructor
_MEMBER = re.compile(r":\s*[\w:]+(?:<[\w:<>, ]*>)?(?:\(|\{(?!\s*\n))")
_OLD = re.compile(r"(?:\s*\w[^(){};]*;)+\s*\{")  # types of parameters in old C, and the body
_ATTRIBUTE = re.compile(
    r"\s*(?:@(?!interface\b)[\w.:$]+(?=[\s(<])|#(?=\[)|(?=\[\[)|//[^\n]*\n|/\*(?s:.*?)\*/)"
)
_WORDS = re.compile(rb"[\w\s]*")  # before a definition, as ``export``
_DOCSTRING = re.compile(
    r"\s*(?:#[^\n]*\n\s*)*[rRuU]?(\"\"\"|'''|\"|')(?:\\\n)?((?:\\.|(?!\1).)*)(?:\1|\Z)", re.DOTALL
)
_TYPE = re.compile(r"\s*:\s*[\w.$]+<")
_CALL = r"(?:(?!(?:async|function)\b)[\w.$]+(?:<[^()]*>)?\(|\((?=\(|(?:async|function)\b))"
_FUNCTION = r"(?:async\b\s*)?(?:function\b[\s*]*[\w$]*\s*)?"
_VALUE = re.compile(
    rf"(?:\s*[?!]?(?:\s*:\s*[\w.$]+(?=\s*=))?\s*[:=](?![:=>])\s*(?P<call>{_CALL})?|\s+(?=async\b|function\b))"
    rf"{_FUNCTION}"
)  # text between the name of a function and its parameters where the function is a value
_WRAPPED = re.compile(
    rf"(?:export\s+)?(?:const|let|var)?\s*[\w$]+\s*(?::[^=(]*)?=\s*{_CALL}\s*{_FUNCTION}"
    r"|export\s+default\s+(?:async\s*)?(?=\()"
)  # text before the parameters of a function that is an argument, or has no name
_DIRECTIVE = re.compile(
    r"(?i)-\*-|@?ts-[cein]|@flow\b|go:\w|\+build |no(?:lint|qa|sonar)\b|\w*lint[:-]|vim?: "
    r"|(?:en)?coding[:=]|frozen_string_literal|(?:shellcheck|rubocop|pylint|mypy|ruff)\b[: ]"
    r"|=begin\b|=end\b|clang-format|prettier-|biome-|(?:fmt|type): (?:off|on|skip|ignore)"
)  # a comment for tools
_LICENSE = re.compile(r"copyright|licen[sc]e|spdx-|all rights reserved", re.IGNORECASE)


class Source:
    """The text of a file, by lines."""

    def __init__(self, text: str, language: LanguageSpec) -> None:
        text = text if "\n" in text else text.replace("\r", "\n")
        self._data = text.encode()
        self.text = text.removeprefix("\ufeff")
        self.lines = self.text.split("\n")
        self._language = language
        quoted = [rf"{mark}(?:\\.|[^\\{mark}])*{mark}" for mark in language.quotes]
        if language.docstrings:
            quoted[:0] = [rf"{mark}{{3}}(?s:\\.|.)*?{mark}{{3}}" for mark in language.quotes]
        quoted.append(r"'(?:\\.|[^\\'])'")  # a character, where quotes begin lifetimes
        self._opening = tuple(mark for mark in (*language.comments, "\\") if mark in _COMMENTS)
        comments = "|".join(_COMMENTS[mark] for mark in self._opening)
        marks = _MARK.replace("{strings}", "|".join(quoted)).replace("{comments}", comments)
        self._marks = re.compile(marks)

    def _definition(self, first: int, last: int, offsets: tuple[int, int] | None) -> str:
        """Return the beginning of a definition, cut at the offsets if given."""
        if offsets is None:
            return "\n".join(self.lines[first - 1 : min(last, first + _HEAD_LINES + 39)])
        line = self._data.rfind(b"\n", 0, offsets[0]) + 1
        begin = line if _WORDS.fullmatch(self._data, line, offsets[0]) else offsets[0]
        text = self._data[begin : min(offsets[1] + 1, offsets[0] + _HEAD_LENGTH)]
        return text.decode(errors="replace")

    def signature(self, first: int, last: int, offsets: tuple[int, int] | None, kind: str) -> str:
        """Return the head of a definition: the text before the body, on a line."""
        text = self._definition(first, last, offsets)
        lines = text[_attributes_end(text) :].lstrip().split("\n", _HEAD_LINES + 1)
        if kind == "constant":
            return one_line(lines[0][:_HEAD_LENGTH])[:SIGNATURE_LENGTH]
        text = "\n".join(lines[: _HEAD_LINES + 1])[:_HEAD_LENGTH]
        head, comments = text[: self._head_end(text, kind)], self._opening
        head = self._marks.sub(lambda mark: "" if mark[0].startswith(comments) else mark[0], head)
        return one_line(head)[:SIGNATURE_LENGTH].rstrip(" =")

    def has_body(self, first: int, last: int, offsets: tuple[int, int] | None, kind: str) -> bool:
        """Return True if a definition goes on after the head."""
        text = self._definition(first, last, offsets)
        after = text[self._head_end(text, kind) :]
        return after.strip(" \r\n:;") != "" and text.rstrip()[-3:] != "..."

    def doc(self, first: int, last: int, offsets: tuple[int, int] | None, kind: str) -> str:
        """Return the docstring of a definition, or else the comments before line ``first``."""
        if self._language.docstrings and kind in ("class", "function", "method"):
            text = self._definition(first, last, offsets)
            if doc := _docstring(text[self._head_end(text[:_HEAD_LENGTH], kind) + 1 :]):
                return doc
        at, found = first - 2, ""
        above = [line.encode() for line in self.lines[max(0, at - _MOST_ABOVE) : at + 1]]
        attributes = {*(attributes_before(above, len(above) + 1) if above and above[-1] else ())}
        while at >= max(0, first - _FIRST_LINES):
            begin = self._comment_begin(at)
            if begin <= at:
                found = f"{self._comment_text(begin, at + 1)}\n{found}"
            elif self.lines[at].encode() not in attributes:
                break
            at = min(begin, at) - 1
        return found.strip()[:DOC_LENGTH]

    def leading(self) -> str:
        """Return the docstring of the file, or else the first comment but a licence."""
        text = "\n" + "\n".join(self.lines[:_FIRST_LINES])
        if self._language.docstrings and (doc := _docstring(text)):
            return doc
        at, marks = 0, self._language.comments
        for _ in range(3):
            while at < len(self.lines) and self.lines[at].strip()[:2] in ("", "#!"):
                at += 1
            begin, inside = at, False
            while marks and at < min(len(self.lines), _FIRST_LINES):
                line = self.lines[at].strip()
                if not inside and not line.startswith(marks):
                    break
                inside = "/*" in marks and ("/*" in line or inside) and "*/" not in line
                at += 1
            text = self._comment_text(begin, at)
            if text and not _LICENSE.search(text):
                return text
        return ""

    def excerpt(self, first: int, last: int, length: int) -> str:
        """Return the text of these lines, up to ``length``."""
        return "\n".join(self.lines[first - 1 : min(last, first + length)])[:length]

    def _head_end(self, text: str, kind: str) -> int:
        """Return the end of the head: at the body, a semicolon, or the end of the line."""
        block, has_parameters = self._language.block, kind in ("function", "method")
        typed = has_parameters or kind == "type"
        wrapped = _WRAPPED.match(text)
        held, is_assigned, is_typed = "", wrapped is not None, False
        for match in self._marks.finditer(text, wrapped.end() if wrapped else 0):
            mark, start = match[0], match.start()
            before = text[max(0, start - _TYPE_LENGTH) : start]
            if (
                mark in "(["
                or (mark == "<" and block == "{" and held[-1:] in "<")
                or (mark == "{" and (held or block != "{" or (typed and _OF_TYPE.search(before))))
            ):
                held += mark
            elif mark in ")]}" or (mark == ">" and held[-1:] == "<"):
                held = held.rpartition(_OPENING[mark])[0] if _OPENING[mark] in held else held
                is_last = mark == ")" and has_parameters and not (held or is_assigned)
                if is_last and (block == "newline" or _OLD.match(text, start + 1)):
                    return start + 1
            elif held:
                continue
            elif mark == ":" and before.rstrip().endswith(_ENDS) and _MEMBER.match(text, start):
                return start
            elif mark == "=":
                is_assigned = True
            elif mark == ":" and block == "{":
                is_typed = True
            elif (
                mark == ";"
                or (mark == "{" and block == "{")
                or (mark == "=>" and kind != "type" and (is_assigned or not is_typed))
                or (mark == ":" and block == ":")
                or (mark == "\n" and block != "{")
            ):
                return start
        return len(text)

    def _comment_begin(self, at: int) -> int:
        """Return the first line of the comment that ends with line ``at``, or the line after it."""
        begin = at + 1
        line = self.lines[at].strip() if at >= 0 else ""
        opening = "/*" if line.endswith("*/") and "/*" in self._language.comments else ""
        if opening := "=begin" if line == "=end" else opening:
            while begin > 0 and at - begin < _FIRST_LINES:
                begin -= 1
                if opening in self.lines[begin]:
                    return begin if self.lines[begin].lstrip().startswith(opening) else at + 1
            return at + 1
        marks = tuple(mark for mark in self._language.comments if mark not in ("/*", "*"))
        first = max(int(self.text.startswith("#!")), at - _FIRST_LINES)
        while begin > first and self.lines[begin - 1].lstrip().startswith(marks):
            begin -= 1
        return begin

    def _comment_text(self, begin: int, end: int) -> str:
        marks = "".join({letter for mark in self._language.comments for letter in mark})
        cleaned = (line.strip().strip(marks + "!").strip() for line in self.lines[begin:end])
        kept = (line for line in cleaned if line and not _DIRECTIVE.match(line))
        return "\n".join(kept)[:DOC_LENGTH]


def _attributes_end(text: str) -> int:
    """Return the end of the attributes and comments at the beginning of a definition."""
    end = 0
    while match := _ATTRIBUTE.match(text, end):
        end = match.end()
        while text[end : end + 1] in ("(", "[", "<"):
            end = after_brackets(text, end)
    return end


def _docstring(text: str) -> str:
    match = _DOCSTRING.match(text)
    lines = match[2].strip().splitlines() if match else ()
    return "\n".join(map(str.strip, lines))[:DOC_LENGTH]


def file_body(source: Source, symbols: Sequence[Symbol], is_code: bool) -> str:
    """Return the description and the names of code, or the beginning of other text."""
    if not is_code:
        return source.text[:FILE_LENGTH].strip()
    names = dict.fromkeys(symbol.qualified for symbol in symbols)
    return f"{source.leading()}\n{' '.join(names)}".strip()[:FILE_LENGTH]


def symbol_title(symbol: Symbol) -> str:
    """Return the name with parameters and result: ``Login.check(self, user: str) -> bool``."""
    title = symbol.qualified
    for name in re.finditer(rf"(?<![\w$]){re.escape(symbol.name)}(?![\w$])", symbol.signature):
        if parameters := _parameters(symbol.signature[name.end() :], symbol.kind):
            title += parameters
            break
    return title if len(title) <= TITLE_LENGTH else title[: TITLE_LENGTH - 1] + "…"


def _parameters(text: str, kind: str) -> str:
    """Return the parameters and the result that follow the name of a definition, or ""."""
    typed = _TYPE.match(text)
    if typed is not None:  # name: Handler<Event> = (event) => ...
        text = text[after_brackets(text, typed.end() - 1) :]
    value = _VALUE.match(text) if kind in ("function", "method") else None
    text = text[value.end() :] if value else text.lstrip("?! ")
    if text[:1] in ("<", "["):  # type parameters
        bare = LIFETIME.sub(lambda match: " " * len(match[0]), text)
        text = text[after_brackets(bare, 0) :]
    if text[:1] != "(" or kind == "constant":
        return f"({text})" if value and text.isidentifier() else ""
    end = after_brackets(text, 0)
    rest = text[end:] if not value else "" if value["call"] else text[end:].partition("=>")[0]
    return text[:end] + rest.rstrip()


def symbol_body(symbol: Symbol, source: Source) -> str:
    """Return signature, documentation, and the beginning of the source after the head."""
    parts = [symbol.signature]
    if symbol.doc:
        parts.append(symbol.doc)
    room = SYMBOL_LENGTH - sum(map(len, parts))
    if room > 80 and symbol.line_end > symbol.line_start:
        parts.append(one_line(source.excerpt(symbol.line_start, symbol.line_end, 2 * room))[:room])
    return "\n".join(parts)[: 2 * SYMBOL_LENGTH]
