"""Texts as the forms of secrets read them, and the way back to what was written.

Letters are taken apart into their plain ones (NFKD, without marks), and what has no width is left
out. A text with escapes is read once more without them, and one whose lines may break a token
once more with these lines joined.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_ODD = re.compile(r"[^\x00-\x7f]|\x1b\[[\d;]{0,20}[A-Za-z]")
"""A letter that is not ASCII, or a colour of a terminal."""
_ESCAPE = re.compile(
    r"%([2-7][0-9A-Fa-f])|\\u00([2-7][0-9A-Fa-f])|\\x([2-7][0-9A-Fa-f])|&#x([2-7][0-9A-Fa-f]);"
    r"|&(amp|quot|apos|lt|gt);"
)
_NAMED = {"amp": "&", "quot": '"', "apos": "'", "lt": "<", "gt": ">"}
_LINE_END = re.compile(r"(?<=[\w+/=.-]{4})[\\=]?\r?\n[ \t]{0,80}(?=[\w+/=.-]{4})")
_QUOTES = str.maketrans("“”„«»「」‘’‚", '"""""""\'\'\'')


class View:
    """A reading of a text.

    ``_seen`` has where its stretches begin, ``_real`` where they do in the original; every other
    stretch, from the second one on, stands for something else.
    """

    __slots__ = ("_real", "_seen", "joins", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.joins: list[int] = []
        """Where lines were joined."""
        self._seen = [0]
        self._real = [0]

    def edited(self, pattern: re.Pattern[str], edit: Callable[[re.Match[str]], str]) -> View:
        """Return a view with ``edit`` of each match in its place."""
        parts: list[str] = []
        size = end = 0
        view = View("")
        for match in pattern.finditer(self.text):
            start, stop = match.span()
            new = edit(match)
            if len(new) != stop - start:
                begin = size + start - end
                view._seen += begin, begin + len(new)
                view._real += self.original(start, start)[0], self.original(start, stop)[1]
            parts += self.text[end:start], new
            size += start - end + len(new)
            end = stop
            view.joins.append(size)
        view.text = "".join(parts) + self.text[end:]
        return view

    def original(self, start: int, stop: int) -> tuple[int, int]:
        """Return the stretch of the original that a stretch of the view stands for.

        Where a part of what was edited is meant, all of it is.
        """
        at = bisect_right(self._seen, start) - 1
        first = self._real[at] + (0 if at % 2 else start - self._seen[at])
        if stop <= start:
            return first, first
        at = bisect_left(self._seen, stop) - 1
        if at % 2:
            return first, self._real[at + 1]
        return first, self._real[at] + stop - self._seen[at]


def views(text: str) -> list[View]:
    """Return the readings of a text: the plain one, and those that differ from it.

    >>> [view.text for view in views("ｐａｓｓ\\u200bword%3Da")]
    ['password%3Da', 'password=a']
    """
    plain = View(text)
    if not text.isascii() or "\x1b" in text:
        plain = plain.edited(_ODD, _plain_of)
    found = [plain]
    for _ in range(2):  # what was escaped twice, too
        if not _ESCAPE.search(found[-1].text):
            break
        found.append(found[-1].edited(_ESCAPE, _unescaped))
    return found


def joined(view: View) -> View | None:
    """Return a view whose lines are joined where a token may go on, None if there is none."""
    if "\n" not in view.text or not _LINE_END.search(view.text):
        return None
    return view.edited(_LINE_END, lambda _: "")


def fold(text: str) -> str:
    """Return a text as the plain reading has it.

    >>> fold("Contraseña：«ﬁ…»")
    'Contrasena:"fi..."'
    """
    return "".join(map(_plain, text))


def _plain_of(match: re.Match[str]) -> str:
    return _plain(match.group())


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
