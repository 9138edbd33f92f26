"""Which edges are facts, and which passages state them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from things import EARLY, LATE, a_node, an_edge, fact_passage, whole_passages

from pylore.store import Store

A, B, C = "entity-a", "entity-b", "concept-c"


@pytest.fixture
def store(store: Store) -> Iterator[Store]:
    with store.transaction():
        for id in (A, B, C, "note-a"):
            store.nodes.put(a_node(id))
        store.nodes.put(a_node("entity-gone", invalidated_at=LATE))
        yield store


def test_a_fact_is_a_live_edge_between_live_things_that_nobody_computed(store: Store) -> None:
    store.edges.put_many([
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
    ])  # fmt: skip
    assert store.facts.of([B, A, "entity-nowhere"]) == [
        ((B, C, "relates_to"), "The entity-b", "relates_to", "The concept-c"),
        ((A, C, "depends_on"), "The entity-a", "depends_on", "The concept-c"),
        ((A, B, "relates_to"), "The entity-a", "was told by", "The entity-b"),
    ]
    assert store.facts.subjects() == [A, B]
    assert sorted(store.facts.leading_to([C])) == [A, B]
    assert not store.facts.of([]) and not store.facts.leading_to([])


def test_what_was_written_is_noted_until_somebody_empties_it(store: Store) -> None:
    edges = store.edges
    edges.put_many([an_edge(A, B), an_edge(C, B)])
    key = (A, B, "relates_to")
    changes: list[Callable[[], object]] = [
        lambda: edges.put(an_edge(A, B, weight=0.5)),
        lambda: edges.invalidate(key, LATE),
        lambda: edges.invalidate(key, None),
    ]
    for change in changes:
        edges.stated.clear()
        change()
        assert A in edges.stated
    of_nodes: list[Callable[[], object]] = [
        lambda: edges.note_ends(B),
        lambda: edges.delete_node(B),
    ]
    for change in of_nodes:
        edges.stated.clear()
        change()
        assert {A, C} <= edges.stated


def test_passages_of_facts(store: Store) -> None:
    store.edges.put_many([an_edge(A, B, weight=0.4, source="conversation", status="staged"),
                          an_edge(B, C)])  # fmt: skip
    first, second = store.nodes.new_passages(
        [fact_passage((A, B, "relates_to"), "a of b"), fact_passage((B, C, "relates_to"), "x")]
    )
    store.nodes.new_passages(whole_passages([A], "names"))
    assert store.facts.passages([A]) == {(A, B, "relates_to"): (first, "a of b")}
    shown = store.facts.shown([first, second, 7777])
    assert shown.keys() == {first, second}
    assert shown[first][:5] == ("a of b", 0.4, "conversation", "staged", 0)
    assert shown[first][5] > 1 and EARLY < LATE
    store.nodes.remove_passages([second])
    assert store.facts.passages([A, B]).keys() == {(A, B, "relates_to")}


def test_a_fact_is_as_old_as_when_it_was_read(store: Store) -> None:
    store.edges.put(an_edge(A, B))
    (key,) = store.nodes.new_passages([fact_passage((A, B, "relates_to"), "a of b")])
    before = store.facts.shown([key])[key]
    store.review.count_access([A], "2026-01-11T00:00:00Z")
    after = store.facts.shown([key])[key]
    assert after[4] == 1 and round(before[5] - after[5]) == 10
