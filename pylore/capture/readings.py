"""Read a text with Unicode folded, escapes decoded, and broken lines joined."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


_ODD = re.compile(r"[^\x00-\x7f]|\x1b\[[\d;]{0,20}[A-Za-z]")
"""A letter outside ASCII, or a colour of a terminal."""
_ESCAPE = re.compile(
    r"%([2-7][0-9A-Fa-f])|\\u00([2-7][0-9A-Fa-f])|\\x([2-7][0-9A-Fa-f])|&#x([2-7][0-9A-Fa-f]);"
    r"|&(amp|quot|apos|lt|gt);|(?<=\S)(?:\\\r?\n[ \t]{0,80}|([\"'])\s?\+\s{0,9}\6)(?=\S)"
)
_NAMED = {"amp": "&", "quot": '"', "apos": "'", "lt": "<", "gt": ">"}
_LINE_END = re.compile(r"(?<=[\w+/=.-]{4})[\\=]?\r?\n[ \t]{0,80}(?=[\w+/=.-]{4})")
_QUOTES = str.maketrans("“”„«»「」‘’‚", '"""""""\'\'\'')


class Reading:
    """A reading of a text: for each character, where it starts and stops in the original."""

    def __init__(self, text: str, starts: Sequence[int] = (), stops: Sequence[int] = ()) -> None:
        self.text = text
        self._starts = starts or range(len(text))
        self._stops = stops or range(1, len(text) + 1)

    def edited(self, pattern: re.Pattern[str], edit: Callable[[re.Match[str]], str]) -> Reading:
        """Return a reading with each match replaced by ``edit``."""
        parts: list[str] = []
        starts: list[int] = []
        stops: list[int] = []
        end = 0
        for match in [*pattern.finditer(self.text), None]:
            at, stop = match.span() if match else (len(self.text), len(self.text))
            parts.append(self.text[end:at])
            starts += self._starts[end:at]
            stops += self._stops[end:at]
            if match:
                new = edit(match)
                parts.append(new)
                starts += [self._starts[at]] * len(new)
                stops += [self._stops[stop - 1]] * len(new)
            end = stop
        return Reading("".join(parts), starts, stops)

    def original(self, start: int, stop: int) -> tuple[int, int]:
        """Return the span of the original for a span of the reading, replacements included."""
        return self._starts[start], self._stops[stop - 1]


def readings(text: str) -> list[Reading]:
    """Return the folded reading of a text, and up to two with escapes decoded and strings joined.

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
    """Return a reading with lines joined inside tokens; None if no line can be joined."""
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
    at = match.lastindex or 6  # without a group, a line that is continued
    return chr(int(match[at], 16)) if at < 5 else _NAMED.get(match[5], "")
