"""What is kept of a long text: its beginning, its last paragraph, and what it marks itself."""

from __future__ import annotations

import re

from ..events import MOST_TEXT
from ..marks import is_marked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

AHEAD = 2 * MOST_TEXT
"""Characters of a piece before secrets are taken out of it: one that the cut would halve is seen
whole."""

_MOST_MARKED = 20
_LONGEST = 200_000
_PARAGRAPH = re.compile(r"\S[^\n]*(?:\n(?![^\S\n]*(?:\n|\Z))[^\n]*)*")


def pieces(text: str) -> list[str]:
    """The pieces of a text, in its order, each of at most ``AHEAD`` characters.

    >>> [len(piece) for piece in pieces("x" * 1200 + "\\n\\nLesson: test it\\n\\nDone")]
    [1000, 15, 4]
    """
    text = text[:_LONGEST].strip()
    if len(text) <= MOST_TEXT:
        return [text] if text else []
    found, end = [text[:AHEAD]], MOST_TEXT
    paragraphs = [match.span() for match in _PARAGRAPH.finditer(text)]
    for start, stop in paragraphs:
        places = [*_marked(text[start:stop])] if len(found) <= _MOST_MARKED else []
        if not places and stop == paragraphs[-1][1]:
            places = [0]
        for place in places:
            begins, ends = start + place, min(start + place + MOST_TEXT, stop)
            if begins and ends > end:
                found.append(text[begins : min(begins + AHEAD, stop)])
                end = ends
    return found


def _marked(paragraph: str) -> Iterator[int]:
    """Where in a paragraph something worth keeping begins."""
    if len(paragraph) <= MOST_TEXT:
        if is_marked(paragraph):
            yield 0
        return
    place = 0
    for line in paragraph.split("\n"):
        if is_marked(line):
            yield place
        place += len(line) + 1
