"""Embedders: what turns text into vectors. One file each.

An embedder has a ``name`` (a store remembers whose vectors it holds), a
``dimension``, and ``embed(texts)``: little-endian float32 unit vectors.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from ..store import Store

    class Embedder(Protocol):
        """What search and indexing need of an embedder."""

        name: str
        dimension: int

        def embed(self, texts: Sequence[str]) -> list[bytes | None]:
            """A unit vector for each text; None where there is nothing to embed."""


def open_embedder(setting: str, store: Store) -> Embedder | None:
    """The embedder that the setting names; None for ``none``."""
    if setting == "none":
        return None
    from .static import StaticEmbedder

    return StaticEmbedder(store.words)
