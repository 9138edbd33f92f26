"""Cut passages and compute vectors for a hub, as for search.db."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.errors import EmbedderError
from ..core.json import dumps
from ..core.text import fold, words
from ..core.vocabulary import COLLECTIONS, TEXTS
from ..indexing.passages import passage_rows
from ..store.vectors import quantise
from .connection import ahead

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from ..embed import Embedder
    from .connection import Hub

BATCH = 1000
"""Nodes that are indexed in one transaction."""

LONGEST_WORD = 200
"""Indexed characters of a word."""


def vector_text(vector: bytes | None) -> str | None:
    """Return a float32 vector as pgvector text, rounded as in search.db; None for zero."""
    rounded = None if vector is None else quantise(vector)
    return str([*memoryview(rounded).cast("b")]) if rounded and any(rounded) else None


def split(text: str) -> str:
    """Return the folded words of a text."""
    return " ".join([word[:LONGEST_WORD] for word in words(fold(text))])


def index_hub(hub: Hub, embedder_of: Callable[[], Embedder | None], notes: list[str]) -> int:
    """Index the nodes that are due at a hub; return their number.

    A hub with vectors of a different embedder is skipped, with a note in ``notes``.

    Raises:
        LoreError: the hub failed; finished batches remain.
    """
    done = 0
    while rows := hub.ask("SELECT * FROM lore.lacking(%s)", [4 * BATCH]):
        embedder = embedder_of()
        name, dimension = (embedder.name, embedder.dimension) if embedder else (None, 0)
        own = hub.ask("SELECT value FROM lore.meta WHERE name = 'embedder'")
        if own and own[0][0] != name:
            notes.append(
                f"{hub.name} has vectors of {own[0][0]}, not of {name or 'no embedder'}: "
                "another client indexes what was sent"
            )
            break
        try:
            for batch in ahead(_batches(rows, embedder)):
                values = (dumps(batch), name, dimension)
                indexed = hub.ask("SELECT lore.put(%s, %s, %s)", values)[0][0]
                if not indexed:  # indexed by other clients, or changed
                    return done
                done += indexed
        except EmbedderError as error:
            notes.append(f"{error}; not all is indexed at {hub.name}")
            break
    if done:
        hub.ask("SET LOCAL statement_timeout = '1h'; SELECT lore.settle()")
    return done


def _batches(
    rows: Sequence[tuple[Any, ...]], embedder: Embedder | None
) -> Iterator[list[dict[str, Any]]]:
    """Yield batches for ``lore.put`` from rows of ``lore.lacking``."""
    for start in range(0, len(rows), BATCH):
        nodes: list[dict[str, Any]] = []
        texts: list[str] = []
        for node, order_key, type, title, text, tags, file in rows[start : start + BATCH]:
            passages: list[dict[str, Any]] = []
            nodes.append({"node": node, "order_key": order_key, "passages": passages})
            at, prose = 1, COLLECTIONS.get(type, TEXTS) == TEXTS
            cut = passage_rows(title, text, tags, file, prose=prose) if type else ()
            for name, part, tagged, _, parts, _ in cut:
                made = {"title": split(name), "body": split(part), "tags": split(tagged)}
                size = sum(len(words.split()) for words in (*made.values(), parts))
                passages.append(
                    {**made, "parts": parts, "first": at, "length": len(part), "size": size}
                )
                texts.append(f"{name} {part}")
                at += len(part)
        vectors = iter(embedder.embed(texts) if embedder is not None and texts else ())
        for passage in (passage for one in nodes for passage in one["passages"]):
            passage["embedding"] = vector_text(next(vectors, None))
        yield nodes
