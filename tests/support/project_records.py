"""Records and facts of a project of some size, in a real store: what a hub is sent of it."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from scale_material import PREDICATES, Material, Text  # type: ignore[import-not-found]

from pylore.core.vocabulary import CODE_TYPES
from pylore.embed.static import StaticEmbedder
from pylore.indexing.embed import embed_missing
from pylore.indexing.indexer import Index
from pylore.store import Store


@cache
def text() -> Text:
    """Words of some packages of the standard library, and sentences to ask for."""
    return Text.of_packages("email", "json", "logging")


def fill(store: Store, size: int, edges_each: int = 6) -> list[str]:
    """Fills a store with what is no code of a project with so many nodes; their ids."""
    material = Material(text(), size, edges_each)
    index = Index(store)
    with store.transaction():
        for name in PREDICATES:
            store.relations.declare(name, 0.7, 0.7, "declared")
        nodes = [node for node in material.nodes() if node.type not in (*CODE_TYPES, "run")]
        ids = {node.id for node in nodes}
        for node in nodes:
            store.nodes.put(node)
        edges = [edge for edge in material.edges() if {edge.from_id, edge.to_id} <= ids]
        store.edges.put_many(edges)
        index.update(nodes)
        index.keep_facts(sorted({edge.from_id for edge in edges}))
    embed_missing(store, StaticEmbedder(), bulk=True)
    return sorted(ids)
