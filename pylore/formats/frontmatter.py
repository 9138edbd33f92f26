"""Front matter: the lines between ``---`` at the top of a Markdown file.

A strict subset of YAML: ``key: value``, ``key: [a, b]``, lists of ``- item``
lines, quoted text, comments. What it accepts means the same in YAML, but that
every value is text: ``yes``, ``1.0`` and dates stay as they are written.
"""

from __future__ import annotations

import json
import re

from ..core.errors import LoreError
from ..core.model import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Value = str | list[str]

FENCE = "---"
LONGEST = 64_000

_KEY = re.compile(r"([A-Za-z][A-Za-z0-9_. -]{0,99}?)[ \t]{0,9}:(?:[ \t](.*))?$")
_ITEM = re.compile(r"( *)-(?:[ \t](.*))?$")
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)"')
_SINGLE = re.compile(r"'((?:[^']|'')*)'")
_COMMENT = re.compile(r"(?:^|[ \t])#")
_NOT_BARE = re.compile(r"[\[\]{},#&*!|>'\"%@`]|[-?:](?:[ \t]|$)")
_IN_LIST = re.compile(r"[^,\[\]{}]*")
_BLANK = " \t"
_QUOTE_IT = 'put it in "quotes"'


class LineError(LoreError):
    """What is wrong with a text, and on which of its lines."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")


class FrontMatter(Record):
    """``fields``: key to text or list of texts; ``lines``: key to its line, from 1.

    ``length`` is how many lines of the file it takes, its fences included.
    """

    __slots__ = ("fields", "length", "lines")

    def __init__(self) -> None:
        self.fields: dict[str, Value] = {}
        self.lines: dict[str, int] = {}
        self.length = 0


def parse(lines: Sequence[str]) -> FrontMatter:
    """The front matter that these lines of a file begin with; an empty one if they do not.

    Raises:
        LineError: it is not closed, or a line is outside the subset.
    """
    found = FrontMatter()
    if not lines or lines[0].rstrip() != FENCE:
        return found
    rest = (number for number, line in enumerate(lines) if number and line.rstrip() == FENCE)
    end = next(rest, 0)
    if not end:
        raise LineError(1, f"the front matter is not closed: end it with a line {FENCE}")
    if sum(map(len, lines[:end])) > LONGEST:
        raise LineError(1, f"the front matter is longer than {LONGEST} characters: shorten it")
    found.length = end + 1
    reader = _Reader(found)
    for number, line in enumerate(lines[1:end], start=2):
        if line.strip() and not line.lstrip().startswith("#"):
            reader.take(number, line)
    return found


class _Reader:
    """Takes one line at a time; knows which key a list item belongs to."""

    def __init__(self, found: FrontMatter) -> None:
        self._found = found
        self._list = ""
        self._indent: int | None = None

    def take(self, number: int, line: str) -> None:
        item = _ITEM.match(line)
        if item:
            self._take_item(number, len(item[1]), item[2] or "")
            return
        key = _KEY.match(line)
        if not key:
            raise LineError(number, "no 'key: value' and no '- item': front matter has only these")
        self._take_field(number, key[1], (key[2] or "").strip(_BLANK))

    def _take_field(self, number: int, key: str, text: str) -> None:
        if any(key.lower() == other.lower() for other in self._found.fields):
            raise LineError(number, f"'{key}' is there twice: leave one")
        read = _list if text.startswith("[") else _text
        self._found.lines[key] = number
        self._found.fields[key] = read(number, text)
        self._list = "" if _without_comment(text) else key
        self._indent = None

    def _take_item(self, number: int, indent: int, text: str) -> None:
        if not self._list:
            raise LineError(number, "a list item without a 'key:' line above it: give it one")
        if self._indent not in (None, indent):
            raise LineError(number, "a list item that is indented otherwise than those above it")
        self._indent = indent
        items = self._found.fields[self._list] or []
        self._found.fields[self._list] = [*items, _text(number, text.strip(_BLANK))]


def _text(number: int, text: str) -> str:
    """One value that takes the rest of a line."""
    if text.startswith(('"', "'")):
        value, rest = _quoted(number, text)
        if _follows(rest):
            raise LineError(number, f"text after the closing quote: '{_shown(rest)}'")
        return value
    return _bare(number, _without_comment(text))


def _list(number: int, text: str) -> list[str]:
    """``[a, "b c"]``, on one line."""
    items: list[str] = []
    rest = text[1:].lstrip(_BLANK)
    while not rest.startswith("]"):
        if rest.startswith(('"', "'")):
            item, rest = _quoted(number, rest)
        else:
            stretch = _IN_LIST.match(rest)
            item = stretch[0].strip(_BLANK) if stretch else ""
            rest = rest[len(stretch[0]) :] if stretch else rest
            if not item or _COMMENT.search(item):
                raise LineError(number, "the list is not closed or has an empty item: mend it")
            item = _bare(number, item)
        items.append(item)
        rest = rest.lstrip(_BLANK)
        if rest.startswith(","):
            rest = rest[1:].lstrip(_BLANK)
        elif not rest.startswith("]"):
            raise LineError(number, "a list of [a, b] on one line is not closed or holds another")
    if _follows(rest[1:]):
        raise LineError(number, f"text after the list: '{_shown(rest[1:])}'")
    return items


def _quoted(number: int, text: str) -> tuple[str, str]:
    """``(value, what follows)`` of a text that begins with a quote."""
    match = (_DOUBLE if text[0] == '"' else _SINGLE).match(text)
    if not match:
        raise LineError(number, f"the quote is not closed: '{_shown(text)}'")
    if text[0] == "'":
        return match[1].replace("''", "'"), text[match.end() :]
    try:
        value: str = json.loads(match[0], strict=False)
    except ValueError:
        raise LineError(number, f"an unknown escape in {_shown(match[0])}") from None
    if "\0" in value or any(0xD800 <= ord(letter) <= 0xDFFF for letter in value):
        raise LineError(number, "an escape that is no character of a text")
    return value, text[match.end() :]


def _bare(number: int, text: str) -> str:
    if _NOT_BARE.match(text) or ": " in text or ":\t" in text or text.endswith(":"):
        raise LineError(number, f"'{_shown(text)}' means more than text in YAML: {_QUOTE_IT}")
    return "" if text in ("~", "null", "Null", "NULL") else text


def _without_comment(text: str) -> str:
    match = _COMMENT.search(text)
    return (text[: match.start()] if match else text).strip(_BLANK)


def _follows(rest: str) -> bool:
    """Whether more than a comment stands behind a closing quote or bracket."""
    return _without_comment("]" + rest) != "]"


def _shown(text: str) -> str:
    return " ".join(text.split())[:60]
