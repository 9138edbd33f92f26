"""The part of a text that says most about a question, cut between sentences."""

from __future__ import annotations

from ..text import PREFIX_LENGTH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .budget import Tokens

CUT = "…"
"""Stands where something was left out."""

_ENDS = (". ", "! ", "? ", "; ")


class Excerpts:
    """One text, measured once, of which parts can be had in any size."""

    def __init__(self, text: str, words: list[str], tokens: Tokens) -> None:
        self._line = " ".join(text.split())
        self._words = words
        self._tokens = tokens
        self._size = -1
        self._parts: list[str] = []
        self._sizes: list[int] = []
        self._worth: list[int] = []
        self._cut = 2 * tokens.lines(f" {CUT}")

    def within(self, room: int) -> tuple[str, bool]:
        """At most ``room`` tokens of the text on one line, and whether that is all of it.

        The sentence with most of the words comes in first, then its neighbours, the
        better one first. Nothing comes back where not even one sentence has room. A
        line's first word may take a token or two more than it does within the line.
        """
        if self._size < 0:
            self._measure()
        if self._size <= room:
            return self._line, True
        room -= self._cut
        fitting = [at for at, size in enumerate(self._sizes) if size <= room]
        if not fitting:
            return "", False
        first = max(fitting, key=lambda at: (self._worth[at], -at))
        low, high = _grown(first, self._sizes, self._worth, room)
        found = " ".join(self._parts[low:high])
        before = f"{CUT} " if low else ""
        return f"{before}{found}" + (f" {CUT}" if high < len(self._parts) else ""), False

    def _measure(self) -> None:
        self._parts = sentences(self._line)
        self._sizes = [self._tokens.lines(f" {part}") for part in self._parts]
        self._size = sum(self._sizes)
        stems = [word[: max(PREFIX_LENGTH, len(word) - 2)] for word in self._words]
        lowered = [part.lower() for part in self._parts]
        self._worth = [sum(1 for stem in stems if stem in part) for part in lowered]


def _grown(first: int, sizes: list[int], worth: list[int], room: int) -> tuple[int, int]:
    """The stretch of sentences around ``first`` that has room: from, to."""
    low, high = first, first + 1
    room -= sizes[first]
    while True:
        before = low > 0 and sizes[low - 1] <= room
        after = high < len(sizes) and sizes[high] <= room
        if not before and not after:
            return low, high
        if after and not (before and worth[low - 1] > worth[high]):
            room -= sizes[high]
            high += 1
        else:
            low -= 1
            room -= sizes[low]


def sentences(line: str) -> list[str]:
    """One line, cut behind each full stop, question mark and the like.

    >>> sentences("It is so. Is it? Yes")
    ['It is so.', 'Is it?', 'Yes']
    """
    for end in _ENDS:
        line = line.replace(end, end[0] + "\n")
    return line.split("\n")
