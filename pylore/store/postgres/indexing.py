"""What a hub has not indexed, and what is put there: the words and vectors of passages."""

from __future__ import annotations

from array import array

from ...system.json_encode import dumps
from ..sqlite.quantise import quantise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Protocol

    from .connection import Hub

    class Embedder(Protocol):
        """Whose vectors they are."""

        @property
        def name(self) -> str: ...
        @property
        def dimension(self) -> int: ...


Lacking = tuple[int, str, list[int], str, str, "str | None", str, str, "list[Any] | None"]
"""(key, scope, steps, type, title, text, tags, file, facts): see ``lore.lacking``; no type: its
passages are to go"""

BATCH = 256
"""Nodes that are indexed in one transaction."""


def embedder_of_hub(hub: Hub) -> str:
    """Whose vectors a hub holds; nothing where it has none yet."""
    rows = hub.ask("SELECT value FROM lore.meta WHERE name = 'embedder'")
    return str(rows[0][0]) if rows else ""


def lacking(hub: Hub, most: int, *, with_vectors: bool) -> list[Lacking]:
    """Nodes whose passages are to be made anew, the longest waiting first; ``with_vectors``: then
    those, without steps, whose passages nobody has made vectors for."""
    return hub.ask("SELECT * FROM lore.lacking(%s, %s)", (most, with_vectors))


def index_passages(hub: Hub, batch: Sequence[dict[str, Any]], embedder: Embedder | None) -> int:
    """Puts passages in the place of those that nodes have; how many nodes were still as they
    were told."""
    name, dimension = (embedder.name, embedder.dimension) if embedder is not None else (None, 0)
    values = (dumps(batch), name, dimension)
    rows = hub.ask("SELECT lore.index_passages(%s, %s, %s)", values)
    return int(rows[0][0])


def vector_text(vector: bytes | None) -> str | None:
    """Little-endian float32 as pgvector reads it: rounded as in search.db, so that cosines are
    the same there. None for what has no direction."""
    rounded = None if vector is None else quantise(vector)
    return f"[{','.join(map(str, array('b', rounded)))}]" if rounded and any(rounded) else None
