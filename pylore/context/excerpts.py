"""The part of a text that says most about a question, cut between sentences."""

from __future__ import annotations

from ..text import PREFIX_LENGTH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .budget import Tokens

CUT = "…"
"""Stands where something was left out."""

_ENDS = (". ", "! ", "? ", "; ")


def excerpt(text: str, words: list[str], room: int, tokens: Tokens) -> tuple[str, bool]:
    """At most ``room`` tokens of ``text`` on one line, and whether that is all of it.

    The sentence with most of ``words`` comes in first, then its neighbours, the better
    one first. Nothing comes back where not even one sentence has room.
    """
    whole = " ".join(text.split())
    if tokens.lines(whole) <= room:
        return whole, True
    parts = sentences(whole)
    sizes = [tokens.lines(f" {part}") for part in parts]
    stems = [word[: max(PREFIX_LENGTH, len(word) - 2)] for word in words]
    lowered = [part.lower() for part in parts]
    worth = [sum(1 for stem in stems if stem in part) for part in lowered]
    room -= 2 * tokens.lines(f" {CUT}")
    fitting = [at for at, size in enumerate(sizes) if size <= room]
    if not fitting:
        return "", False
    first = max(fitting, key=lambda at: (worth[at], -at))
    low, high = _grown(first, sizes, worth, room)
    found = " ".join(parts[low:high])
    return f"{CUT} {found}" * (low > 0) + found * (low == 0) + f" {CUT}" * (
        high < len(parts)
    ), False


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
