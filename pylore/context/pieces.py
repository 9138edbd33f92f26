"""What a context is put together from: pieces of text that fit a room, whole or shortened."""

from __future__ import annotations

from . import tuning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .budget import Tokens

    Fit = Callable[[int], "tuple[str, bool]"]
    """Room in tokens → (text of whole lines, or nothing; whether that is all there is)"""


class Piece:
    """One thing that may come into a context.

    ``fit`` gives its text in a room; ``why`` says what brought it here; ``section`` is
    the heading that it stands under. Its place within the section is its rank's. ``taken``
    is called when what ``fit`` has just given has come in.
    """

    __slots__ = ("fit", "id", "least", "section", "taken", "why")

    def __init__(
        self, id: str, section: str, why: str, fit: Fit, least: int = 0,
        taken: Callable[[], None] | None = None,
    ) -> None:  # fmt: skip
        self.id = id
        self.section = section
        self.why = why
        self.fit = fit
        self.least = least or tuning.LEAST_SHARE
        self.taken = taken


class Packed:
    """What came in, with its tokens and whether it is all there is, and what did not."""

    def __init__(self, left: int, tokens: Tokens) -> None:
        self.left = left
        self.texts: dict[str, str] = {}
        self.sizes: dict[str, int] = {}
        self.wholes: dict[str, bool] = {}
        self.pieces: list[Piece] = []
        """All that were looked at: none is while there is no room."""
        self._tokens = tokens
        self._headed: set[str] = set()

    def offer(self, piece: Piece, most: int) -> None:
        """Takes a piece in at up to ``most`` tokens, or what is longer for what it has of it."""
        before = self.sizes.get(piece.id, 0)
        heading = 0
        if piece.section not in self._headed:
            heading = self._tokens.lines(heading_of(piece.section))
        room = min(self.left + before - heading, most)
        if room < max(tuning.LEAST_ROOM, before + 1):
            return
        text, whole = piece.fit(room)
        size = self._tokens.lines(text)
        if size > before:
            self._headed.add(piece.section)
            self.texts[piece.id], self.sizes[piece.id] = text, size
            self.wholes[piece.id] = whole
            self.left -= heading + size - before
            if piece.taken is not None:
                piece.taken()


def pack(pieces: Iterable[Piece], room: int, tokens: Tokens) -> Packed:
    """As much as there is room for: each piece its share in turn, then what is left over.

    A piece that does not fit is passed over, and smaller ones behind it still get in.
    """
    packed = Packed(room, tokens)
    share = tuning.FIRST_SHARE * room
    for piece in pieces:
        packed.pieces.append(piece)
        packed.offer(piece, max(piece.least, int(share)))
        share *= tuning.NEXT_SHARE
        if packed.left < tuning.LEAST_ROOM:
            break
    for piece in packed.pieces:
        if packed.left >= tuning.LEAST_ROOM and not packed.wholes.get(piece.id):
            packed.offer(piece, room)
    return packed


def heading_of(section: str) -> str:
    """A section's heading, with the empty lines around it."""
    return f"\n## {section}\n\n"
