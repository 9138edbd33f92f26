"""Texts as they are kept: a fifth of their size."""

from __future__ import annotations

from ...core.errors import StoreDamaged


def packed(text: str) -> bytes:
    """A text as it is kept."""
    from zlib import compress  # a search that looks at no such text reads none

    return compress(text.encode(), 1)


def unpacked(held: str | bytes) -> str:
    """The text again.

    Raises:
        StoreDamaged: it was not packed so.
    """
    from zlib import decompress, error

    try:
        return held if isinstance(held, str) else decompress(held).decode()
    except (error, TypeError, UnicodeDecodeError):
        raise StoreDamaged("a packed text cannot be read: run 'lore doctor'") from None
