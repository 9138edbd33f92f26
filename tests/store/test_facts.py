"""Which edges are facts, and which passages state them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from things import LATE, a_node, an_edge

from pylore.indexing.indexer import Index
from pylore.store import Store

A, B, C = "entity-a", "entity-b", "concept-c"


@pytest.fixture
def store(store: Store) -> Iterator[Store]:
    with store.transaction():
        for id in (A, B, C, "note-a"):
            store.nodes.put(a_node(id))
        store.nodes.put(a_node("entity-gone", invalidated_at=LATE))
        yield store


def test_facts_are_live_edges_between_things(store: Store) -> None:
    store.edges.put_many(
        [
            an_edge(A, B, metadata='{"predicate":"was told by"}'),
            an_edge(A, C, "depends_on", status="staged", metadata='{"predicate":" "}'),
            an_edge(B, C, metadata='{"predicate":7}'),
            an_edge(A, B, "similar_to", source="system"),
            an_edge(A, "note-a"),
            an_edge("note-a", A),
            an_edge(A, "entity-gone"),
            an_edge(A, "entity-nowhere"),
            an_edge(B, A, status="superseded", ended_at=LATE),
            an_edge(C, A, ended_at=LATE),
        ]
    )
    assert (every := store.facts.of([B, A, "entity-nowhere"])) == [
        ((A, C, "depends_on"), "The entity-a", "depends_on", "The concept-c"),
        ((A, B, "relates_to"), "The entity-a", "was told by", "The entity-b"),
        ((B, C, "relates_to"), "The entity-b", "relates_to", "The concept-c"),
    ]
    assert store.facts.of([], [(A, B, "relates_to"), (A, B, "similar_to")]) == every[1:2]
    assert store.facts.leading_to([C]) == [(A, C, "depends_on"), (B, C, "relates_to")]
    assert not store.facts.of([]) and not store.facts.leading_to([])


# --- places of edges

LONG = "words " * 200 + "a link to b, " + "more " * 200 + "another link to b"
FIRST, LAST = LONG.index("a link"), LONG.index("another link")


@pytest.fixture
def linked(store: Store) -> Store:
    nodes = [
        a_node("doc-a", body=LONG),
        a_node("doc-short", body="a link to b"),
        a_node("doc-b"),
        a_node("doc-gone", invalidated_at=LATE),
        a_node("file-a.py", body=LONG),
    ]
    for node in nodes:
        store.nodes.put(node)
    Index(store).update(nodes)
    return store


def test_places_of_edges_select_passages(linked: Store) -> None:
    store = linked
    store.edges.put_many(
        [
            an_edge("doc-a", "doc-b", "links_to", 0.5, metadata=f'{{"at":[{FIRST},{LAST},9999]}}'),
            an_edge("doc-a", "doc-gone", "links_to", metadata='{"at":[0]}'),
            an_edge("doc-a", "doc-b", "relates_to", metadata='{"at":"0"}'),
            an_edge("doc-a", "doc-b", "depends_on"),
            an_edge("doc-a", "doc-b", "implements", metadata='{"at":[0]}', ended_at=LATE),
        ]
    )
    passages = store.fulltext.of_nodes(["doc-a"])
    first, second, *_, last = passages
    assert len(passages) > 2
    placed = [(key, "links_to", "doc-b", 0.5) for key in (second, last)]
    assert sorted(store.positional_edges.within(passages)) == placed
    assert store.positional_edges.within([first]) == []
    assert store.positional_edges.within([]) == []
