"""What a context is put together from: pieces of text that fit a room, whole or shortened."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .budget import Tokens

    Fit = Callable[[int], "tuple[str, bool]"]
    """Room in tokens → (text of whole lines, or nothing; whether that is all there is)"""


FIRST_SHARE = 0.15
"""Of the budget: what the best piece may take before all others have had their turn."""

NEXT_SHARE = 0.85
"""What each further piece may take, relative to the one before it."""

LEAST_SHARE = 70
"""Tokens that every piece may take, however many come before it."""

LEAST_CODE = 160
"""The same for code, of which less says little."""


class Piece:
    """One thing that may come into a context.

    ``fit`` gives its text in a room; ``why`` says what brought it here; ``section`` is
    the heading that it stands under. Its place within the section is its rank's.
    """

    __slots__ = ("fit", "id", "least", "place", "section", "why")

    def __init__(
        self, id: str, section: str, why: str, fit: Fit, place: str = "", least: int = 0
    ) -> None:
        self.id = id
        self.section = section
        self.why = why
        self.fit = fit
        self.place = place
        self.least = least or LEAST_SHARE


class Packed:
    """What came in and what did not; ``texts`` in the order of the pieces."""

    __slots__ = ("left", "texts", "withheld", "wholes")

    def __init__(self, left: int) -> None:
        self.left = left
        self.texts: dict[str, str] = {}
        self.wholes: dict[str, bool] = {}
        self.withheld: list[tuple[str, str]] = []


def pack(pieces: list[Piece], room: int, tokens: Tokens) -> Packed:
    """As much as there is room for: each piece its share in turn, then what is left over.

    A piece that does not fit is passed over, and smaller ones behind it still get in.
    """
    packed = Packed(room)
    headed: set[str] = set()
    share = FIRST_SHARE * room
    for piece in pieces:
        heading = 0 if piece.section in headed else tokens.lines(heading_of(piece.section))
        text, whole = piece.fit(min(packed.left - heading, max(piece.least, int(share))))
        if text:
            headed.add(piece.section)
            packed.texts[piece.id] = text
            packed.wholes[piece.id] = whole
            packed.left -= heading + tokens.lines(text)
        share *= NEXT_SHARE
    for piece in pieces:
        if not packed.wholes.get(piece.id):
            _let_grow(piece, packed, headed, tokens)
    packed.withheld = [
        (piece.id, "no room left in the budget") for piece in pieces if piece.id not in packed.texts
    ]
    return packed


def _let_grow(piece: Piece, packed: Packed, headed: set[str], tokens: Tokens) -> None:
    before = packed.texts.get(piece.id, "")
    size = tokens.lines(before)
    heading = 0 if piece.section in headed else tokens.lines(heading_of(piece.section))
    text, whole = piece.fit(packed.left + size - heading)
    grown = tokens.lines(text)
    if grown > size:
        headed.add(piece.section)
        packed.texts[piece.id] = text
        packed.wholes[piece.id] = whole
        packed.left -= heading + grown - size


def heading_of(section: str) -> str:
    """A section's heading, with the empty lines around it."""
    return f"\n## {section}\n\n"
