"""Records that are anchored to symbols of one file meet within three hops."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from graphs import Link, filled, graph_store, ids_of
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import examples

from pylore.graph.accumulate import accumulate
from pylore.graph.walk import Walk, walk
from pylore.store import Store

WEIGHTS = {"anchored_to": (1.0, 1.0), "defines": (0.8, 0.1), "calls": (0.7, 0.7)}
DECAY = 0.7
FILE, ONE, OTHER = "file-a.py", "symbol-a.py::one", "symbol-a.py::other"
SAME_FILE: list[Link] = [
    ("note-1", ONE, "anchored_to", 1.0), (FILE, ONE, "defines", 1.0),
    (FILE, OTHER, "defines", 1.0), ("note-2", OTHER, "anchored_to", 1.0),
]  # fmt: skip
both_rules = pytest.mark.parametrize("rule", [walk, accumulate])


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with graph_store(tmp_path_factory.mktemp("same-file")) as store:
        yield store


def look(store: Store, rule: object, edges: list[Link], seed: str = "note-1", depth: int = 3,
         **caps: object) -> Walk:  # fmt: skip
    given = {"decay": DECAY, "fanout": 25, "max_nodes": 50, "weights": WEIGHTS, **caps}
    with filled(store, edges):
        return rule(store.edges, {seed: 1.0}, depth=depth, **given)  # type: ignore[operator, no-any-return]


def hops(found: Walk) -> dict[str, int]:
    return {id: step.hop for id, step in found.reached.items()}


@both_rules
def test_two_records_of_one_file_are_three_hops_apart(store: Store, rule: object) -> None:
    found = look(store, rule, SAME_FILE)
    assert hops(found) == {ONE: 1, FILE: 2, OTHER: 2, "note-2": 3}
    way = found.reached["note-2"].steps()
    assert [step.id for step in way] == ["note-1", ONE, FILE, OTHER, "note-2"]
    assert [step.hop for step in way] == [0, 1, 1, 2, 3]
    assert hops(look(store, rule, SAME_FILE, depth=2)) == {ONE: 1, FILE: 2, OTHER: 2}
    assert hops(look(store, rule, SAME_FILE, depth=1)) == {ONE: 1}


@both_rules
def test_nothing_else_is_free(store: Store, rule: object) -> None:
    """Neither the first step, nor one after another relation, nor one after containment."""
    assert hops(look(store, rule, SAME_FILE, ONE)) == {"note-1": 1, FILE: 1, OTHER: 2, "note-2": 3}
    called: list[Link] = [("note-1", ONE, "calls", 1.0), *SAME_FILE[1:]]
    assert hops(look(store, rule, called)) == {ONE: 1, FILE: 2, OTHER: 3}
    twice: list[Link] = [*SAME_FILE[:3], ("file-b.py", OTHER, "defines", 1.0)]
    assert hops(look(store, rule, twice))["file-b.py"] == 3
    note: list[Link] = [("note-1", "note-3", "anchored_to", 1.0), (FILE, "note-3", "defines", 1.0),
                        *SAME_FILE[2:]]  # fmt: skip
    assert hops(look(store, rule, note))[OTHER] == 3


@both_rules
def test_the_caps_on_a_walk_hold_for_the_file(store: Store, rule: object) -> None:
    many: list[Link] = [(FILE, f"symbol-a.py::f{n}", "defines", 1.0) for n in range(9)]
    found = look(store, rule, [*SAME_FILE, *many], fanout=4)
    assert found.hubs == {FILE}
    assert len([id for id in found.reached if id.startswith("symbol-")]) == 4, "ONE among them"
    barred = look(store, rule, SAME_FILE, barred=frozenset({FILE}))
    assert hops(barred) == {ONE: 1}
    apart = {name: pair for name, pair in WEIGHTS.items() if name != "defines"}
    assert hops(look(store, rule, SAME_FILE, weights=apart)) == {ONE: 1}


@both_rules
def test_what_is_anchored_comes_first_within_the_fan_out(store: Store, rule: object) -> None:
    many: list[Link] = [(FILE, f"symbol-a.py::f{n:02}", "defines", 1.0) for n in range(60)]
    found = look(store, rule, [*many, *SAME_FILE])
    assert hops(found)["note-2"] == 3
    assert len(found.reached) == 25 + 2, "of which two are anchored; note-2 and the file"
    assert "note-2" not in hops(look(store, rule, [*many, *SAME_FILE[:3]]))
    calls: list[Link] = [(f"symbol-b.py::g{n:02}", FILE, "calls", 1.0) for n in range(24)]
    assert hops(look(store, rule, [*calls, *many[:22], *SAME_FILE]))["note-2"] == 3, "both ways"


IDS = ["note-0", "note-1", "file-a", "file-b", "symbol-a", "symbol-b", "symbol-c"]
ANY_LINKS = st.lists(
    st.tuples(st.sampled_from(IDS), st.sampled_from(IDS), st.sampled_from(sorted(WEIGHTS)),
              st.sampled_from([0.0, 0.5, 1.0])).filter(lambda edge: edge[0] != edge[1]),
    max_size=14, unique_by=lambda edge: edge[:3],
)  # fmt: skip


@settings(max_examples=examples(60), deadline=None)
@given(ANY_LINKS, st.integers(1, 3), st.sampled_from([0.0, 0.7, 1.0]))
def test_any_walk_ends_with_its_free_steps_between_others(
    store: Store, edges: list[Link], depth: int, decay: float
) -> None:
    for rule in (walk, accumulate):
        found = look(store, rule, edges, depth=depth, decay=decay)
        assert found.reached.keys() <= ids_of(edges)
        for id, step in found.reached.items():
            way = step.steps()
            assert (way[0].id, way[-1].id) == ("note-1", id)
            free = [i for i in range(1, len(way)) if way[i].hop == way[i - 1].hop]
            assert way[-1].hop == len(way) - 1 - len(free) <= depth
            for i in free:
                assert way[i].relation == "defines" and not way[i].outgoing
                assert way[i - 1].relation == "anchored_to" and i < len(way) - 1
