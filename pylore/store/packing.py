"""Packed texts, a fifth of the size."""

from __future__ import annotations

from ..core.errors import StoreDamaged

_LONGEST = 200_000_000
"""Maximum bytes of an unpacked text; lore packs only files that fit in memory."""


def packed(text: str) -> bytes:
    """Return a packed text."""
    from zlib import compress  # a search that looks at no such text reads none

    return compress(text.encode(), 1)


def unpacked(held: str | bytes) -> str:
    """Return the text again.

    Raises:
        StoreDamaged: it was not packed so.
    """
    from zlib import decompressobj, error

    try:
        if isinstance(held, str):
            return held
        # A store may come from anywhere, and a thousand bytes may stand for a million.
        parts = decompressobj()
        text = parts.decompress(held, _LONGEST).decode()
        if parts.eof:
            return text
    except (error, TypeError, UnicodeDecodeError):
        pass
    raise StoreDamaged("a packed text cannot be read: run 'lore doctor'")
