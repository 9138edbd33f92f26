"""Embedders: make vectors of texts. Each is a module of this package.

An embedder has a ``name`` that a store remembers, a ``dimension`` (a multiple of 8; 0 if unknown
before the first vector), and ``embed(texts)``: little-endian float32 unit vectors.
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
            """Return the dimension of the vectors."""

        def embed(self, texts: Sequence[str]) -> list[bytes | None]:
            """Return a unit vector for each text; None for a text without words.

            Raises:
                EmbedderError: the embedder failed; the message names a remedy.
            """


def open_embedder(
    setting: str, store: Store, settings: Settings | None = None, *, anew: bool = False
) -> Embedder | None:
    """Return the embedder of a setting; None for ``none``.

    ``settings`` are for endpoints. Vectors must have the dimension of the store's vectors, unless
    ``anew``.

    Raises:
        EmbedderError: invalid URL.
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
        embedder.dimension = store.meta.number("embedder_dimension")
    return embedder
