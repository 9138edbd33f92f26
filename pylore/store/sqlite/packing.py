"""Texts as they are kept: a fifth of their size."""

from __future__ import annotations


def packed(text: str) -> bytes:
    """A text as it is kept."""
    from zlib import compress  # a search that looks at no such text reads none

    return compress(text.encode(), 1)


def unpacked(held: str | bytes) -> str:
    """The text again."""
    from zlib import decompress

    return held if isinstance(held, str) else decompress(held).decode()
