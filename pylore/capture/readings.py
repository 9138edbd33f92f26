"""Read a text as a person does: Unicode folded, escapes decoded, broken lines joined."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


_ODD = re.compile(r"[^\x00-\x7f]|\x1b\[[\d;]{0,20}[A-Za-z]")
"""A letter outside ASCII, or a colour of a terminal."""
_ESCAPE = re.compile(
    r"%([2-7][0-9A-Fa-f])|\\u00([2-7][0-9A-Fa-f])|\\x([2-7][0-9A-Fa-f])|&#x([2-7][0-9A-Fa-f]);"
    r"|&(amp|quot|apos|lt|gt);"
)
_NAMED = {"amp": "&", "quot": '"', "apos": "'", "lt": "<", "gt": ">"}
_LINE_END = re.compile(r"(?<=[\w+/=.-]{4})[\\=]?\r?\n[ \t]{0,80}(?=[\w+/=.-]{4})")
_QUOTES = str.maketrans("“”„«»「」‘’‚", '"""""""\'\'\'')


class Reading:
    """A reading of a text that maps its places to the original.

    ``_seen`` has the starts of its stretches, ``_real`` their starts in the original. Every
    second stretch replaces other letters.
    """

    __slots__ = ("_real", "_seen", "joins", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.joins: list[int] = []
        """Ends of replacements."""
        self._seen = [0]
        self._real = [0]

    def edited(self, pattern: re.Pattern[str], edit: Callable[[re.Match[str]], str]) -> Reading:
        """Return a reading with ``edit`` of each match in its place."""
        parts: list[str] = []
        size = end = 0
        reading = Reading("")
        for match in pattern.finditer(self.text):
            start, stop = match.span()
            new = edit(match)
            if len(new) != stop - start:
                begin = size + start - end
                reading._seen += begin, begin + len(new)
                reading._real += self.original(start, start)[0], self.original(start, stop)[1]
            parts += self.text[end:start], new
            size += start - end + len(new)
            end = stop
            reading.joins.append(size)
        reading.text = "".join(parts) + self.text[end:]
        return reading

    def original(self, start: int, stop: int) -> tuple[int, int]:
        """Return the span of the original for a span of the reading.

        A span that cuts a replacement covers all of it.
        """
        at = bisect_right(self._seen, start) - 1
        first = self._real[at] + (0 if at % 2 else start - self._seen[at])
        if stop <= start:
            return first, first
        at = bisect_left(self._seen, stop) - 1
        if at % 2:
            return first, self._real[at + 1]
        return first, self._real[at] + stop - self._seen[at]


def readings(text: str) -> list[Reading]:
    """Return the folded reading of a text, and up to two with escapes decoded.

    >>> [reading.text for reading in readings("ｐａｓｓ\\u200bword%3Da")]
    ['password%3Da', 'password=a']
    """
    plain = Reading(text)
    if not text.isascii() or "\x1b" in text:
        plain = plain.edited(_ODD, lambda match: _plain(match.group()))
    found = [plain]
    for _ in range(2):
        if not _ESCAPE.search(found[-1].text):
            break
        found.append(found[-1].edited(_ESCAPE, _unescaped))
    return found


def joined(reading: Reading) -> Reading | None:
    """Return a reading whose lines are joined inside tokens; None if no line can be joined."""
    if "\n" not in reading.text or not _LINE_END.search(reading.text):
        return None
    return reading.edited(_LINE_END, lambda _: "")


def fold(text: str) -> str:
    """Return a text as the folded reading has it.

    >>> fold("Contraseña：«ﬁ…»")
    'Contrasena:"fi..."'
    """
    return "".join(map(_plain, text))


@lru_cache(4096)
def _plain(letter: str) -> str:
    if letter[0] == "\x1b":
        return ""
    return "".join(
        part
        for part in unicodedata.normalize("NFKD", letter.translate(_QUOTES))
        if unicodedata.category(part) not in ("Mn", "Me", "Cf")
    ).translate(_QUOTES)


def _unescaped(match: re.Match[str]) -> str:
    name = match.group(5)
    return _NAMED[name] if name else chr(int(match.group(match.lastindex or 0), 16))
