"""Small random graphs, in a real store, for the tests of the walk and of the graph's verbs."""

from __future__ import annotations

from collections.abc import Iterator, Set
from contextlib import contextmanager
from pathlib import Path

from hypothesis import strategies as st
from new_stores import new_store

from pylore.core.model import Edge, Node
from pylore.store import Store

RELATIONS = {"calls": (0.7, 0.7), "supersedes": (0.5, 0.2), "implements": (1.0, 1.0)}
"""Relation to the weights forwards and backwards, as ``graph_store`` declares them."""

Link = tuple[str, str, str, float]
"""(from, to, relation, weight)"""


def graph_store(folder: Path) -> Store:
    """An empty store whose ``supersedes`` is worth less backwards."""
    store = new_store(str(folder))
    with store.transaction():  # which lets triggers run from now on
        for name, (forwards, backwards) in RELATIONS.items():
            store.relations.declare(name, forwards, backwards, "")
    return store


def links(nodes: int = 7, edges: int = 14) -> st.SearchStrategy[list[Link]]:
    """Generate up to ``edges`` edges with distinct (from, to, relation) and distinct ends."""
    ids = st.sampled_from([f"note-{number}" for number in range(nodes)])
    weights = st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0])
    edge = st.tuples(ids, ids, st.sampled_from(sorted(RELATIONS)), weights)
    return st.lists(
        edge.filter(lambda edge: edge[0] != edge[1]),
        max_size=edges,
        unique_by=lambda edge: edge[:3],
    )


def ids_of(edges: list[Link]) -> set[str]:
    """The ends of these edges."""
    return {end for edge in edges for end in edge[:2]}


@contextmanager
def filled(
    store: Store,
    edges: list[Link],
    nodes: set[str] | None = None,
    forgotten: Set[str] = frozenset(),
) -> Iterator[Store]:
    """The store with these edges, and nodes (their ends, unless given), until the block ends."""
    store.connection.execute("BEGIN")
    try:
        for id in sorted((ids_of(edges) if nodes is None else nodes) | forgotten):
            gone = "2026-01-01T00:00:00Z" if id in forgotten else None
            store.nodes.put(
                Node(
                    id,
                    id.partition("-")[0],
                    f"The {id}",
                    created_at="2026-01-01T00:00:00Z",
                    updated_at="2026-01-01T00:00:00Z",
                    invalidated_at=gone,
                )
            )
        for from_id, to_id, relation, weight in edges:
            store.edges.put(Edge(from_id, to_id, relation, weight, created_at="2026-01-01"))
        yield store
    finally:
        store.connection.execute("ROLLBACK")


def steps(edges: list[Link]) -> dict[str, list[tuple[str, str, float, bool]]]:
    """Node to ``(neighbour, relation, strength, whether along the edge)``, both directions."""
    found: dict[str, list[tuple[str, str, float, bool]]] = {}
    for from_id, to_id, relation, weight in edges:
        forwards, backwards = RELATIONS[relation]
        found.setdefault(from_id, []).append((to_id, relation, weight * forwards, True))
        found.setdefault(to_id, []).append((from_id, relation, weight * backwards, False))
    return found
