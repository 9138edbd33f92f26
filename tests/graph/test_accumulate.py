"""Expansion by accumulation: what several matches point to adds up."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from math import log, sqrt

import pytest
from graphs import RELATIONS, Link, filled, graph_store, ids_of, links
from hypothesis import given, settings
from hypothesis import strategies as st

from pylore.graph.accumulate import BRIDGES, accumulate
from pylore.graph.best_path import Walk
from pylore.store import Store

NAMED = {**RELATIONS, "mentions": (0.6, 0.6)}


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder, graph_store(Path(folder)) as store:
        yield store


def look(store: Store, seeds: dict[str, float], depth: int = 1, **caps: object) -> Walk:
    given = {"decay": 0.7, "fanout": 25, "max_nodes": 50, **caps}
    return accumulate(store.edges, seeds, NAMED, depth=depth, **given)  # type: ignore[arg-type]


def test_one_edge_brings_the_square_of_its_seed(store: Store) -> None:
    with filled(store, [("note-0", "note-1", "calls", 0.5)]):
        assert look(store, {"note-0": 0.8}).support == pytest.approx({"note-1": 0.64 * 0.5 * 0.7})


def test_two_matches_that_point_to_one_node_say_more_than_either(store: Store) -> None:
    edges: list[Link] = [("note-0", "note-2", "calls", 1.0), ("note-1", "note-2", "calls", 1.0)]
    with filled(store, edges):
        both = look(store, {"note-0": 1.0, "note-1": 0.5}).support["note-2"]
        one = look(store, {"note-0": 1.0}).support["note-2"]
    assert one == pytest.approx(0.7)
    assert both == pytest.approx(0.7 * sqrt(1 + 0.25**2))


def test_a_hub_says_little_of_each_neighbour(store: Store) -> None:
    edges: list[Link] = [("note-0", f"note-{n}", "calls", 1.0) for n in range(1, 17)]
    with filled(store, edges):
        found = look(store, {"note-0": 1.0}).support
    assert list(found.values()) == pytest.approx([0.7 / 2] * 16), "16 to the power of a fourth"


def test_an_edge_walked_backwards_has_its_backward_weight(store: Store) -> None:
    with filled(store, [("note-1", "note-0", "supersedes", 1.0)]):
        assert look(store, {"note-0": 1.0}).support["note-1"] == pytest.approx(0.2)


def test_records_that_name_one_entity_are_one_step_apart(store: Store) -> None:
    edges: list[Link] = [(f"note-{n}", "entity-jwt", "mentions", 1.0) for n in range(3)]
    with filled(store, edges):
        found = look(store, {"note-0": 1.0})
    assert found.support["note-1"] == pytest.approx(0.6 / log(1 + 3))
    step = found.reached["note-1"]
    assert [one.id for one in step.steps()] == ["note-0", "entity-jwt", "note-1"]
    assert step.hop == 1, "the two edges through an entity are one hop"


def test_an_entity_that_nearly_everything_names_ties_nothing(store: Store) -> None:
    edges: list[Link] = [(f"note-{n}", "entity-it", "mentions", 1.0) for n in range(101)]
    with filled(store, edges):
        assert look(store, {"note-0": 1.0}).support.keys() == {"entity-it"}
    with filled(store, edges[:100]):
        assert len(look(store, {"note-0": 1.0}).support) == 100


def test_of_several_entities_that_two_records_share_the_strongest_tie_counts(store: Store) -> None:
    rare: list[Link] = [(f"note-{n}", "entity-rare", "mentions", 1.0) for n in range(2)]
    common: list[Link] = [(f"note-{n}", "entity-common", "mentions", 1.0) for n in range(9)]
    with filled(store, rare + common):
        found = look(store, {"note-0": 1.0})
    assert found.support["note-1"] == pytest.approx(0.6 / log(1 + 2))
    assert found.reached["note-1"].steps()[1].id == "entity-rare"


def test_a_nodes_relations_take_turns_below_the_cap(store: Store) -> None:
    many: list[Link] = [("note-0", f"note-{n}", "implements", 1.0) for n in range(1, 31)]
    few: list[Link] = [("note-0", "note-40", "calls", 0.25)]
    with filled(store, many + few):
        found = look(store, {"note-0": 1.0}, fanout=4)
    assert "note-40" in found.support
    assert len(found.support) == 4
    assert found.hubs == {"note-0"}


def test_a_second_hop_starts_from_what_the_first_one_reached(store: Store) -> None:
    edges: list[Link] = [("note-0", "note-1", "implements", 1.0),
                         ("note-1", "note-2", "implements", 1.0)]  # fmt: skip
    with filled(store, edges):
        assert "note-2" not in look(store, {"note-0": 1.0}).support
        found = look(store, {"note-0": 1.0}, depth=2)
    assert found.support["note-2"] == pytest.approx((0.7 * 1.0) ** 2 / 2**0.25)
    assert found.reached["note-2"].hop == 2


def test_a_second_hop_starts_from_20_reached_nodes_or_as_many_as_there_are_seeds(
    store: Store,
) -> None:
    """The best ones: ties go to the first id. ``max_nodes`` may only lower that."""
    edges: list[Link] = [("note-0", f"note-{n}", "calls", 1.0) for n in range(100, 130)]
    edges += [(f"note-{n}", f"note-{n + 100}", "calls", 1.0) for n in range(100, 130)]

    def second(seeds: dict[str, float], **caps: object) -> set[str]:
        found = look(store, seeds, 2, fanout=100, **caps)
        return {id for id, step in found.reached.items() if step.hop == 2}

    with filled(store, edges, ids_of(edges) | {f"note-{n}" for n in range(1, 22)}):
        assert second({"note-0": 1.0}) == {f"note-{n}" for n in range(200, 220)}
        many = {f"note-{n}": 1.0 for n in range(22)}
        assert second(many) == {f"note-{n}" for n in range(200, 222)}
        assert second(many, max_nodes=3) == {f"note-{n}" for n in range(200, 203)}


@settings(max_examples=60, deadline=None)
@given(links(), st.integers(1, 3), st.sets(st.sampled_from([f"note-{n}" for n in range(7)])))
def test_support_is_bounded_sorted_and_never_of_barred_nodes(
    edges: list[Link], depth: int, barred: set[str]
) -> None:
    seeds = {"note-0": 1.0, "note-1": 0.4}
    with tempfile.TemporaryDirectory() as folder:
        from pathlib import Path

        with graph_store(Path(folder)) as own, filled(own, edges):
            found = look(own, seeds, depth, barred=frozenset(barred - seeds.keys()))
    assert found.support.keys() <= ids_of(edges) - (barred - seeds.keys())
    assert list(found.reached) == sorted(found.reached, key=lambda id: (-found.support[id], id))
    assert all(support > 0 for support in found.support.values())
    for id, step in found.reached.items():
        assert step.id == id
        assert step.steps()[0].id in seeds
        assert 1 <= step.hop <= depth
        assert not id.startswith(BRIDGES)
