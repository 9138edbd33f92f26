"""The part of a text that says most about a question, cut between sentences."""

from __future__ import annotations

from ..core.text import fold, stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .budget import Tokens

CUT = "…"
"""Stands where something was left out."""

_ENDS = (". ", "! ", "? ", "; ")


class Excerpts:
    """One text, of which parts can be had in any size; what that does not need is not measured."""

    def __init__(self, text: str, words: list[str], tokens: Tokens) -> None:
        self._line = " ".join(text.split())
        self._words = words
        self._tokens = tokens
        self._parts: list[str] = []
        self._sizes: list[int] = []
        """Of the parts, as far as they were measured; else -1."""
        self._worth: list[int] = []
        self._cut = 2 * tokens.lines(f" {CUT}")

    def within(self, room: int) -> tuple[str, bool]:
        """At most ``room`` tokens of the text on one line, and whether that is all of it.

        The sentence with most of the words comes in first, then its neighbours, the
        better one first. Nothing comes back where not even one sentence has room. A
        line's first word may take a token or two more than it does within the line.
        """
        if not self._parts:
            self._cut_up()
        if self._fits(room):
            return self._line, True
        room -= self._cut
        by_worth = sorted(range(len(self._parts)), key=lambda at: (-self._worth[at], at))
        first = next((at for at in by_worth if self._size(at) <= room), None)
        if first is None:
            return "", False
        low, high = self._grown(first, room)
        found = " ".join(self._parts[low:high])
        before = f"{CUT} " if low else ""
        return f"{before}{found}" + (f" {CUT}" if high < len(self._parts) else ""), False

    def _cut_up(self) -> None:
        self._parts = sentences(self._line)
        self._sizes = [-1] * len(self._parts)
        stems = [stem(word) for word in self._words]
        folded = [fold(part) for part in self._parts]
        self._worth = [sum(1 for one in stems if one in part) for part in folded]

    def _fits(self, room: int) -> bool:
        """Whether all of the text has room; a word is a token at the least."""
        if self._line.count(" ") >= room:
            return False
        return sum(map(self._size, range(len(self._parts)))) <= room

    def _size(self, at: int) -> int:
        if self._sizes[at] < 0:
            self._sizes[at] = self._tokens.lines(f" {self._parts[at]}")
        return self._sizes[at]

    def _grown(self, first: int, room: int) -> tuple[int, int]:
        """The stretch of sentences around ``first`` that has room: from, to."""
        low, high = first, first + 1
        room -= self._size(first)
        while True:
            before = low > 0 and self._size(low - 1) <= room
            after = high < len(self._parts) and self._size(high) <= room
            if not before and not after:
                return low, high
            if after and not (before and self._worth[low - 1] > self._worth[high]):
                room -= self._size(high)
                high += 1
            else:
                low -= 1
                room -= self._size(low)


def sentences(line: str) -> list[str]:
    """One line, cut behind each full stop, question mark and the like.

    >>> sentences("It is so. Is it? Yes")
    ['It is so.', 'Is it?', 'Yes']
    """
    for end in _ENDS:
        line = line.replace(end, end[0] + "\n")
    return line.split("\n")
