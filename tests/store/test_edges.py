"""Edges: neighbours, history, forgotten ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from samples import examples
from things import EARLY, LATE, LATER, a_node, an_edge, edge_past

from pylore.store import ALL, Store

KEY = ("note-a", "note-b", "relates_to")


@pytest.fixture
def store(store: Store) -> Iterator[Store]:
    """Edges, in an open transaction."""
    with store.transaction():
        store.edges.put_many(
            [
                an_edge("note-a", "note-b", weight=0.5),
                an_edge("note-a", "note-c", weight=0.9),
                an_edge("note-a", "note-d", weight=0.5),
                an_edge("note-a", "note-e", "supersedes", 0.1),
                an_edge("note-a", "note-f", weight=1.0, ended_at=LATE),
                an_edge("note-b", "note-a", "contradicts", 0.7),
                an_edge("note-g", "note-c", weight=0.3),
            ]
        )
        yield store


def around(store: Store, frontier: list[str], relations: list[str], limit: int) -> set[Any]:
    found = store.edges.neighbours(frontier, relations, limit)
    flat = [
        (node, other, relation, weight, out)
        for node, out, names, others, weights in store.edges.bundles(frontier, relations, limit)
        for relation, other, weight in zip(names, others, weights, strict=True)
    ]
    assert sorted(flat) == sorted(found) and len({*flat}) == len(flat)
    return {*flat}


PER_FUNCTION = HealthCheck.function_scoped_fixture
NAMES = st.sampled_from([f"note-{letter}" for letter in "abcde"])
RELATIONS = st.sampled_from(["relates_to", "supersedes", "contradicts"])
EDGES = st.lists(
    st.tuples(NAMES, NAMES, RELATIONS, st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.booleans()),
    max_size=25,
    unique_by=lambda edge: edge[:3],
)


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[PER_FUNCTION])
@given(
    edges=EDGES,
    frontier=st.lists(NAMES, unique=True),
    limit=st.sampled_from([1, 2, 3, ALL]),
    relations=st.lists(RELATIONS, unique=True),
)
def test_bundles_have_the_heaviest_edges(
    edges: list[Any], frontier: list[str], limit: int, relations: list[str], store: Store
) -> None:
    ends: dict[Any, list[Any]] = {}
    for from_id, to_id, relation, weight, live in edges:
        if live and relation in relations:
            ends.setdefault((from_id, relation, True), []).append((weight, to_id))
            ends.setdefault((to_id, relation, False), []).append((weight, from_id))
    expected = {
        of: sorted(weight for weight, _ in there)[-limit if limit != ALL else None :]
        for of, there in ends.items()
        if of[0] in frontier
    }
    new = (an_edge(*edge[:4], ended_at=None if edge[4] else LATE) for edge in edges)
    store.edges.replace_all(new)
    given = around(store, frontier, relations, limit)
    weights: dict[Any, list[float]] = {}
    for node, other, relation, weight, out in given:
        assert (weight, other) in ends[node, relation, out]
        weights.setdefault((node, relation, out), []).append(weight)
    assert {of: sorted(found) for of, found in weights.items()} == expected
    assert around(store, frontier, relations, limit) == given  # also equal weights


def test_edges_to_missing_nodes_dangle(store: Store) -> None:
    for id in ("note-g", "note-c", "note-a"):
        store.nodes.put(a_node(id))
    store.nodes.put(a_node("note-d", invalidated_at=LATE))
    assert [key[2] for key in store.edges.dangling()] == ["relates_to", "supersedes", "contradicts"]


@pytest.mark.parametrize(
    ("field", "value"),
    [("weight", 0.25), ("source", "file"), ("status", "staged"), ("metadata", '{"a":1}')],
)
def test_log_has_changes_of_each_field(field: str, value: Any, store: Store) -> None:
    for write in (store.edges.put, lambda edge: store.edges.put_many([edge])):
        edge = an_edge("note-x", "note-y", created_at=LATE)
        write(edge)
        setattr(edge, field, value)
        write(edge)
        (past,) = edge_past(store, edge.key)
        assert getattr(past.row, field) == getattr(an_edge("x", "y"), field)
        store.edges.delete_node("note-x")
        assert store.edges.get(*edge.key) is None


def ended_at(store: Store, id: str, at: str) -> bool:
    return any(edge.invalidated_at == at for edge in store.edges.of(id, forgotten=True))


def test_links_follow_forgotten_and_restored_ends(store: Store) -> None:
    store.nodes.put(a_node("note-f", invalidated_at=LATER))
    assert store.edges.of("note-f") == [] and ended_at(store, "note-f", LATE)
    for id in ("note-a", "note-b", "note-c"):
        store.nodes.put(a_node(id))
    past = [*store.changes.former()]
    store.nodes.invalidate("note-a", LATE)
    assert store.edges.of("note-a") == [] and ended_at(store, "note-a", LATE)
    assert [edge.key[0] for edge in store.edges.of("note-c")] == ["note-g"]
    store.edges.put(an_edge("note-a", "note-x"))
    store.nodes.invalidate("note-b", LATER)
    assert store.edges.of("note-a") == [], "new links too"
    store.nodes.invalidate("note-a", None)
    found = [edge.to_id[-1] for edge in store.edges.of("note-a")]
    assert found == [*"cdxe"], "note-b is still forgotten"
    store.nodes.invalidate("note-b", None)
    assert [edge.key[:2] for edge in store.edges.of("note-b")] == [("note-b", "note-a"), KEY[:2]]
    now = [*store.changes.former()]
    assert [one for one in now if "\x1f" in one[0]] == [one for one in past if "\x1f" in one[0]]


def test_ended_links_remain_ended(store: Store) -> None:
    for id in ("note-a", "note-b"):
        store.nodes.put(a_node(id))
    store.edges.invalidate(KEY, EARLY)
    for at in (LATER, None):
        store.nodes.invalidate("note-a", at)
        edge = store.edges.get(*KEY)
        assert edge is not None and (edge.ended_at, edge.invalidated_at) == (EARLY, EARLY)
    store.nodes.invalidate("note-b", LATE)
    store.edges.invalidate(KEY, None)
    edge = store.edges.get(*KEY)
    assert edge is not None and (edge.ended_at, edge.invalidated_at) == (None, LATE)
