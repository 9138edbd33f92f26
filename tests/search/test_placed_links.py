"""A matching passage lends weight to linked nodes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from new_stores import new_store
from searching import look
from things import a_node, an_edge

from pylore.core.model import Edge, Hit
from pylore.indexing.indexer import Index
from pylore.store import Store

TOKENS, LOCKS = "tokens end after a day " * 50, "locks are held by writers " * 50
LONG = TOKENS + LOCKS
"""Half of the passages are about tokens, half about locks."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    nodes = [
        a_node("doc-long", body=LONG),
        a_node("doc-short", body="locks and tokens"),
        *(a_node(f"doc-{name}", body="another thing") for name in "abcd"),
    ]
    with new_store(str(tmp_path / "store")) as store:
        with store.transaction():
            for node in nodes:
                store.nodes.put(node)
            Index(store).update(nodes)
        yield store


def link(store: Store, *edges: Edge) -> None:
    with store.transaction():
        store.edges.put_many(edges)


def placed(to: str, at: int, of: str = "doc-long", weight: float = 1.0) -> Edge:
    return an_edge(of, to, "links_to", weight, metadata=f'{{"at":[{at}]}}')


def found(store: Store, query: str, **flags: object) -> dict[str, Hit]:
    hits = look(store, query, explain=True, **{"graph_depth": 1, **flags})
    return {hit.id: hit for hit in hits}


def support(hit: Hit) -> float:
    return float((hit.explain or {})["support"])


def test_links_of_matching_passages_rank_first(store: Store) -> None:
    link(store, placed("doc-a", 10), placed("doc-b", len(TOKENS) + 700, weight=0.9))
    tokens, locks = found(store, "tokens"), found(store, "locks writers")
    assert support(tokens["doc-a"]) > support(tokens["doc-b"])
    assert support(locks["doc-b"]) > support(locks["doc-a"])
    assert tokens["doc-a"].path == ["doc-long", "doc-a"]
    assert tokens["doc-a"].edge_type == "links_to" and tokens["doc-a"].hops == 1
    assert tokens["doc-long"].score == found(store, "tokens", graph_depth=0)["doc-long"].score
    halved = found(store, "tokens", edge_weights="links_to=0.5")["doc-a"]
    assert support(halved) < support(tokens["doc-a"])
    lent = found(store, "locks writers", graph_fanout=1)["doc-b"]
    assert support(lent) < support(locks["doc-b"]), "not walked to"


def test_excluded_relation_lends_no_weight(store: Store) -> None:
    link(store, placed("doc-a", 10), an_edge("doc-long", "doc-b", "relates_to"))
    assert "doc-a" not in found(store, "tokens", graph_exclude_edges="links_to")
    assert "doc-a" not in found(store, "tokens", graph_depth=0)
