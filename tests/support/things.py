"""Nodes and edges in a few words, with the fields that a store needs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from pylore.core.model import Edge, Node
from pylore.store import Store
from pylore.store.changes import Past

NewPassage = tuple[str, str, str, int, int, "str | None", "str | None"]

EARLY, LATER, LATE = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"


def a_node(id: str, **fields: Any) -> Node:
    """Return a node; the id begins with the type."""
    times = {"created_at": EARLY, "updated_at": EARLY}
    return Node(id, id.partition("-")[0], **{"title": f"The {id}", **times, **fields})


def an_edge(
    from_id: str, to_id: str, relation: str = "relates_to", weight: float = 1.0, **fields: Any
) -> Edge:
    """Return an edge with an early time."""
    return Edge(from_id, to_id, relation, weight, **{"created_at": EARLY, **fields})


def lines_of(*rows: dict[str, Any] | str | bytes) -> list[bytes]:
    """Return rows as lines of a file."""
    texts = [row if isinstance(row, (str, bytes)) else json.dumps(row) for row in rows]
    return [text if isinstance(text, bytes) else text.encode() + b"\n" for text in texts]


def whole_passages(ids: Iterable[str], collection: str) -> list[NewPassage]:
    """Return a passage of the full text for each node."""
    return [(id, collection, "", 1, 1 << 30, None, None) for id in ids]


def edge_past(store: Store, key: tuple[str, str, str]) -> list[Past]:
    """Return the states that an edge has left."""
    edge = store.edges.get(*key)
    return store.changes.of(edge) if edge is not None else []


def node_past(store: Store, id: str) -> list[Past]:
    """Return the states that a node has left."""
    return store.changes.of(store.nodes.require(id))
