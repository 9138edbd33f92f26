"""The walk, against a search through all simple paths of small random graphs."""

from __future__ import annotations

from math import prod

import pytest
from graphs import RELATIONS, Link, filled, ids_of, links, steps
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import examples

from pylore.core.vocabulary import FROM_CODE
from pylore.graph.walk import Step, Walk, spread
from pylore.store import Store

UNLIMITED = 10_000

seeds_of = st.dictionaries(
    st.sampled_from([f"note-{number}" for number in range(7)]),
    st.sampled_from([0.1, 0.6, 1.0]),
    min_size=1,
    max_size=3,
)
depths = st.integers(1, 3)
some_barred = st.frozensets(st.sampled_from(["note-0", "note-1", "note-2"]))


def walked(
    store: Store, edges: list[Link], seeds: dict[str, float], depth: int, **caps: object
) -> Walk:
    caps = {"decay": 0.7, "fanout": UNLIMITED, "max_nodes": UNLIMITED, **caps}
    with filled(store, edges, ids_of(edges) | set(seeds)):
        return spread(store.edges, seeds, RELATIONS, adds=False, depth=depth, **caps)  # type: ignore[arg-type]


def all_scores(
    edges: list[Link], seeds: dict[str, float], depth: int, decay: float, barred: frozenset[str]
) -> dict[str, float]:
    """The best product over every simple path of at most ``depth`` edges from a seed."""
    around = steps(edges)
    best: dict[str, float] = {}

    def follow(path: tuple[str, ...], score: float) -> None:
        for neighbour, _, strength, _ in around.get(path[-1], []):
            if neighbour in path or neighbour in barred:
                continue
            reached = score * strength * decay
            best[neighbour] = max(best.get(neighbour, 0.0), reached)
            if len(path) < depth:
                follow((*path, neighbour), reached)

    for seed, score in seeds.items():
        follow((seed,), score)
    return {id: score for id, score in best.items() if score > 0 and id not in seeds}


def scores(result: Walk) -> dict[str, float]:
    return {id: step.score for id, step in result.reached.items()}


def product(chain: list[Step], decay: float) -> float:
    return chain[0].score * prod(
        step.edge_weight * step.relation_weight * decay for step in chain[1:]
    )


@given(links(), seeds_of, depths, st.sampled_from([0.0, 0.5, 1.0]), some_barred)
@settings(deadline=None)
def test_a_reached_node_has_the_score_of_its_best_path(
    store: Store,
    edges: list[Link],
    seeds: dict[str, float],
    depth: int,
    decay: float,
    barred: frozenset[str],
) -> None:
    seeds = {id: score for id, score in seeds.items() if id not in barred}
    result = walked(store, edges, seeds, depth, decay=decay, barred=barred)
    assert scores(result) == pytest.approx(all_scores(edges, seeds, depth, decay, barred))
    assert result.hubs == set()
    for step in result.reached.values():
        assert not {step.id for step in step.steps()} & barred


@given(links(), seeds_of, depths)
@settings(deadline=None)
def test_steps_follow_stored_edges(
    store: Store, edges: list[Link], seeds: dict[str, float], depth: int
) -> None:
    for id, step in walked(store, edges, seeds, depth).reached.items():
        chain = step.steps()
        assert chain[0].id in seeds
        assert chain[0].score == seeds[chain[0].id]
        assert chain[-1].id == id
        assert 1 <= len(chain) - 1 <= depth
        assert len({step.id for step in chain}) == len(chain), "a node twice on its way"
        assert step.score == pytest.approx(product(chain, 0.7))
        for before, after in zip(chain, chain[1:], strict=False):
            ends = (before.id, after.id) if after.outgoing else (after.id, before.id)
            assert (*ends, after.relation, after.edge_weight) in edges
            assert after.relation_weight == RELATIONS[str(after.relation)][not after.outgoing]


def test_next_hop_starts_from_the_best_nodes(store: Store) -> None:
    edges: list[Link] = [("note-0", f"note-{n}", "calls", n / 10) for n in range(1, 6)]
    edges += [(f"note-{n}", f"note-1{n}", "calls", 1.0) for n in range(1, 6)]
    found = walked(store, edges, {"note-0": 1.0}, 2, max_nodes=2).reached
    assert {id for id, step in found.items() if step.hop == 2} == {"note-14", "note-15"}


def test_cap_is_stable_for_equal_edges(store: Store) -> None:
    edges: list[Link] = [("note-0", f"note-{n}", "calls", 1.0) for n in (5, 3, 4, 2)]
    edges.append(("note-0", "note-1", "implements", 0.7))
    result = walked(store, edges, {"note-0": 1.0}, 1, fanout=2)
    assert sorted(result.reached) == ["note-1", "note-2"]
    assert result.hubs == {"note-0"}


@settings(max_examples=examples(50), deadline=None)
@given(links(6), seeds_of, depths, st.sampled_from([0.0, 0.3, 0.5, 1.0]))
def test_min_confidence_removes_edges(
    store: Store, edges: list[Link], seeds: dict[str, float], depth: int, least: float
) -> None:
    kept = [edge for edge in edges if edge[3] >= least or edge[2] not in FROM_CODE]
    found = walked(store, edges, seeds, depth, min_confidence=least)
    assert scores(found) == pytest.approx(scores(walked(store, kept, seeds, depth)))
