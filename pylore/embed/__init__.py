"""Embedders: what turns text into vectors. One file each.

An embedder has a ``name`` (a store remembers whose vectors it holds), a
``dimension`` (a multiple of 8; 0 where that is not known before the first vector),
and ``embed(texts)``: little-endian float32 unit vectors.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from ..core.settings import Settings
    from ..store import Store
    from .endpoint import EndpointEmbedder
    from .sentence_transformers import SentenceTransformersEmbedder

    class Embedder(Protocol):
        """The methods of an embedder that search and indexing use."""

        @property
        def name(self) -> str:
            """Return the name that a store remembers."""

        @property
        def dimension(self) -> int:
            """Return the dimension of its vectors."""

        def embed(self, texts: Sequence[str]) -> list[bytes | None]:
            """Return a unit vector for each text; None where there is nothing to embed.

            Raises:
                EmbedderError: it cannot; the message says what to do.
            """


def open_embedder(
    setting: str, store: Store, settings: Settings | None = None, *, anew: bool = False
) -> Embedder | None:
    """Return the embedder that the setting names; None for ``none``.

    ``settings`` has what endpoints need. What the embedder gives must have the
    dimension of the store's vectors, unless they are made ``anew``.

    Raises:
        EmbedderError: the setting names no place that there could be.
    """
    kind, _, what = setting.partition(":")
    if kind == "none":
        return None
    if kind == "static":
        from .static import StaticEmbedder

        return StaticEmbedder()
    embedder: EndpointEmbedder | SentenceTransformersEmbedder
    if kind == "endpoint":
        from .endpoint import EndpointEmbedder

        embedder = EndpointEmbedder(what, settings.endpoint_model if settings else "")
    else:
        from .sentence_transformers import SentenceTransformersEmbedder

        embedder = SentenceTransformersEmbedder(what)
    if not anew and store.meta.get("embedder") == embedder.name:
        embedder.dimension = int(store.meta.get("embedder_dimension") or 0)
    return embedder
