"""Expansion by accumulation: values of several matches add up."""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt

import pytest
from graphs import RELATIONS, Link, filled, ids_of, links
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import examples

from pylore.graph.walk import BRIDGES, Links, Walk, spread
from pylore.store import Store

NAMED = {**RELATIONS, "mentions": (0.6, 0.6)}
DECAY = 0.7


def look(store: Store, seeds: dict[str, float], depth: int = 1, **caps: object) -> Walk:
    given = {"decay": DECAY, "fanout": 25, "max_nodes": 50, **caps}
    return spread(store.edges, seeds, NAMED, adds=True, depth=depth, **given)  # type: ignore[arg-type]


def test_records_of_an_entity_are_a_step_apart(store: Store) -> None:
    edges: list[Link] = [(f"note-{n}", "entity-jwt", "mentions", 1.0) for n in range(3)]
    with filled(store, edges):
        found = look(store, {"note-0": 1.0})
    assert found.support["note-1"] == pytest.approx(DECAY * 0.6 / log(1 + 3))
    step = found.reached["note-1"]
    ways = [Links([step], NAMED, 1.0, {}).ways_from({"note-0": 1.0}, n)["note-1"] for n in (1, 2)]
    assert [way.hop for way in ways] == [1, 2] and ways[1].steps()[1].id == "entity-jwt"
    assert (step.hop, step.through) == (1, ("entity-jwt", 1.0))


def test_relations_alternate_below_the_cap(store: Store) -> None:
    many: list[Link] = [("note-0", f"note-{n}", "implements", 1.0) for n in range(1, 31)]
    few: list[Link] = [("note-0", "note-40", "calls", 0.25)]
    with filled(store, many + few):
        found = look(store, {"note-0": 1.0}, fanout=4)
    assert "note-40" in found.support and len(found.support) == 4
    assert found.hubs == {"note-0"}


def test_hidden_nodes_and_placed_edges(store: Store) -> None:
    edges: list[Link] = [("note-0", f"note-{n}", "implements", 1.0) for n in (1, 2)]
    edges += [("note-1", "note-3", "implements", 1.0), ("note-2", "note-4", "implements", 1.0)]
    asked: list[set[str]] = []

    def hidden(ids: Sequence[str]) -> set[str]:
        asked.append({*ids})
        return {"note-2"}

    with filled(store, edges):
        placed = [("note-1", "note-3", "implements")]
        found = look(store, {"note-0": 1.0}, 2, hidden=hidden, placed=lambda ids: placed).support
    first = DECAY / 2**0.25
    assert found == pytest.approx({"note-1": first, "note-3": first * DECAY * 0.35})
    assert asked == [{"note-1", "note-2"}, {"note-0", "note-3"}], "once about each node"


def test_node_of_a_single_seed_has_a_root(store: Store) -> None:
    calls = ("02", "12", "03", "34", "26", "10")
    edges: list[Link] = [(f"note-{a}", f"note-{b}", "calls", 1.0) for a, b in calls]
    edges += [(f"note-{n}", "entity-jwt", "mentions", 1.0) for n in (0, 5)]
    with filled(store, edges):
        found = look(store, {"note-0": 1.0, "note-1": 0.5}, depth=2).roots
    assert found == dict.fromkeys(("note-3", "note-4", "entity-jwt", "note-5"), "note-0")


IDS = [*(f"note-{n}" for n in range(4)), "entity-a", "entity-b"]
ANY_LINKS = st.lists(
    st.tuples(
        st.sampled_from(IDS),
        st.sampled_from(IDS),
        st.sampled_from(["calls", "supersedes", "mentions"]),
        st.sampled_from([0.0, 0.3, 1.0]),
    ).filter(lambda edge: edge[0] != edge[1]),
    max_size=12,
    unique_by=lambda edge: edge[:3],
)


def one_hop(edges: list[Link], seeds: dict[str, float]) -> dict[str, float]:
    """The support of every node, edge by edge from the formulas."""
    squares: dict[str, float] = dict.fromkeys(ids_of(edges), 0.0)
    names = [
        edge
        for edge in edges
        if edge[0] in seeds and edge[1].startswith("entity-") and not edge[0].startswith("entity-")
    ]
    relations = {edge[2] for edge in names}
    through: dict[tuple[str, str], float] = {}
    for seed, bridge, relation, weight in names:
        naming = [edge for edge in edges if edge[1] == bridge and edge[2] in relations]
        for other, _, name, other_weight in naming:
            if other != seed and name == relation:
                value = DECAY * seeds[seed] ** 2 * weight * NAMED[relation][0] * other_weight
                value /= log(1 + len(naming))
                through[seed, other] = max(value, through.get((seed, other), 0.0))
    for (_, other), value in through.items():
        squares[other] += value**2
    for seed, score in seeds.items():
        out = [(edge, edge[1], 0) for edge in edges if edge[0] == seed]
        into = [(edge, edge[0], 1) for edge in edges if edge[1] == seed]
        degree = sum(1 for _, other, _ in out if not other.startswith("entity-")) + len(into)
        for (_, _, relation, weight), other, side in out + into:
            mass = DECAY * score**2 / max(1, degree) ** 0.25
            squares[other] += (mass * weight * NAMED[relation][side]) ** 2
    return {id: sqrt(square) for id, square in squares.items() if square > 0}


@settings(max_examples=examples(80), deadline=None)
@given(
    ANY_LINKS,
    st.dictionaries(st.sampled_from(IDS), st.sampled_from([0.4, 1.0]), min_size=1, max_size=3),
)
def test_hop_follows_the_formulas(store: Store, edges: list[Link], seeds: dict[str, float]) -> None:
    with filled(store, edges, ids_of(edges) | seeds.keys()):
        assert look(store, seeds).support == pytest.approx(one_hop(edges, seeds))


@settings(deadline=None)
@given(links(), st.integers(1, 3), st.sets(st.sampled_from([f"note-{n}" for n in range(7)])))
def test_support_is_sorted_without_barred_nodes(
    store: Store, edges: list[Link], depth: int, barred: set[str]
) -> None:
    seeds = {"note-0": 1.0, "note-1": 0.4}
    with filled(store, edges, ids_of(edges) | seeds.keys()):
        found = look(store, seeds, depth, barred=frozenset(barred - seeds.keys()))
    assert found.support.keys() <= ids_of(edges) - (barred - seeds.keys())
    assert list(found.reached) == sorted(found.reached, key=lambda id: (-found.support[id], id))
    assert all(support > 0 for support in found.support.values())
    for id, step in found.reached.items():
        assert step.id == id
        assert step.steps()[0].id in seeds
        assert 1 <= step.hop <= depth
        assert not id.startswith(BRIDGES)
