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
    from ..store.protocols import SearchStore as Store
    from .endpoint import EndpointEmbedder
    from .sentence_transformers import SentenceTransformersEmbedder

    Asking = EndpointEmbedder | SentenceTransformersEmbedder
    """Embedders that ask another process, or may."""

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
    setting: str,
    store: Store,
    settings: Settings | None = None,
    *,
    anew: bool = False,
    asked: Asking | None = None,
) -> Embedder | None:
    """Return the embedder that the setting names; None for ``none``.

    ``settings`` has what endpoints and the warm server need. What the embedder gives
    must have the dimension of the store's vectors, unless they are made ``anew``.
    ``asked`` is what ``ask_ahead`` returned.

    Raises:
        EmbedderError: the setting names no place that there could be.
    """
    kind, _, what = setting.partition(":")
    if kind == "none":
        return None
    if kind == "static":
        from .static import StaticEmbedder

        return StaticEmbedder()
    if settings is None:
        from ..core.settings import Settings

        settings = Settings()
    embedder = asked or _asking(kind, what, settings)
    if not anew and store.meta.get("embedder") == embedder.name:
        embedder.dimension = int(store.meta.get("embedder_dimension") or 0)
    return embedder


def ask_ahead(settings: Settings, text: str) -> Asking | None:
    """Ask another process on this machine for a query's vector: it answers while we go on."""
    kind, _, what = settings.embedder.partition(":")
    if not what or "vector" not in settings.retrievers:
        return None
    embedder = _asking(kind, what, settings)
    embedder.ask_ahead(text)
    return embedder


def _asking(kind: str, what: str, settings: Settings) -> Asking:
    if kind == "endpoint":
        from .endpoint import EndpointEmbedder

        return EndpointEmbedder(what, settings)
    from .sentence_transformers import SentenceTransformersEmbedder

    return SentenceTransformersEmbedder(what, settings.embed_socket)
