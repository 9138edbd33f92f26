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
    asked: EndpointEmbedder | None = None,
) -> Embedder | None:
    """Return the embedder that the setting names; None for ``none``.

    ``settings`` has what endpoints need. What the embedder gives must have the
    dimension of the store's vectors, unless they are made ``anew``.
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
    embedder = asked or _named(kind, what, settings)
    if not anew and store.meta.get("embedder") == embedder.name:
        embedder.dimension = int(store.meta.get("embedder_dimension") or 0)
    return embedder


def ask_ahead(settings: Settings, text: str) -> EndpointEmbedder | None:
    """Send an endpoint on this machine a query: it answers while the search goes on."""
    kind, _, url = settings.embedder.partition(":")
    if kind != "endpoint" or "vector" not in settings.retrievers:
        return None
    from .endpoint import EndpointEmbedder

    embedder = EndpointEmbedder(url, settings)
    embedder.ask_ahead(text)
    return embedder


def _named(
    kind: str, what: str, settings: Settings
) -> EndpointEmbedder | SentenceTransformersEmbedder:
    if kind == "endpoint":
        from .endpoint import EndpointEmbedder

        return EndpointEmbedder(what, settings)
    from .sentence_transformers import SentenceTransformersEmbedder

    return SentenceTransformersEmbedder(what)
