"""Records with anchors to symbols of a file are two hops apart."""

from __future__ import annotations

import pytest
from graphs import Link, filled

from pylore.graph.walk import Walk, spread
from pylore.store import Store

WEIGHTS = {"anchored_to": (1.0, 1.0), "defines": (0.8, 0.1), "calls": (0.7, 0.7)}
DECAY = 0.7
FILE, ONE, OTHER = "file-a.py", "symbol-a.py::one", "symbol-a.py::other"
SAME_FILE: list[Link] = [
    ("note-1", ONE, "anchored_to", 1.0),
    (FILE, ONE, "defines", 1.0),
    (FILE, OTHER, "defines", 1.0),
    ("note-2", OTHER, "anchored_to", 1.0),
]
both_rules = pytest.mark.parametrize("adds", [False, True])


def look(store: Store, adds: bool, edges: list[Link], seed: str = "note-1", **caps: object) -> Walk:
    given = {"depth": 2, "decay": DECAY, "fanout": 25, "max_nodes": 50, "weights": WEIGHTS, **caps}
    with filled(store, edges):
        return spread(store.edges, {seed: 1.0}, adds=adds, **given)  # type: ignore[arg-type]


def hops(found: Walk) -> dict[str, int]:
    return {id: step.hop for id, step in found.reached.items() if id != "note-1"}


@both_rules
def test_records_of_one_file_are_two_hops_apart(store: Store, adds: bool) -> None:
    found = look(store, adds, SAME_FILE)
    assert hops(found) == {ONE: 1, FILE: 1, OTHER: 2, "note-2": 2}
    assert [step.id for step in found.reached["note-2"].steps()] == ["note-1", FILE, "note-2"]
    assert hops(look(store, adds, SAME_FILE, depth=1)) == {ONE: 1, FILE: 1}
    assert hops(look(store, adds, SAME_FILE, FILE, depth=1))["note-2"] == 1
    assert hops(look(store, adds, SAME_FILE, ONE))["note-2"] == 2, "from the code to its file"


@both_rules
def test_record_of_a_file_meets_records_of_its_symbols(store: Store, adds: bool) -> None:
    edges: list[Link] = [*SAME_FILE[:2], ("note-3", FILE, "anchored_to", 1.0)]
    assert hops(look(store, adds, edges))["note-3"] == 2
    from_file = look(store, adds, edges, "note-3").reached["note-1"]
    assert (from_file.hop, from_file.relation, from_file.outgoing) == (2, "anchored_to", False)


def test_way_to_the_file_has_the_weight_of_defines_backwards(store: Store) -> None:
    best = {id: step.score for id, step in look(store, False, SAME_FILE).reached.items()}
    far = DECAY**2 * 0.1
    wanted = {ONE: DECAY, FILE: DECAY * 0.1, OTHER: far * 0.8, "note-2": far}
    assert best == pytest.approx(wanted)


@both_rules
def test_file_anchor_replaces_the_symbol_edge(store: Store, adds: bool) -> None:
    twice: list[Link] = [*SAME_FILE[:2], ("note-1", FILE, "anchored_to", 0.5)]
    for edges, seed in ((twice, "note-1"), (twice, FILE)):
        found = look(store, adds, edges, seed, depth=1).reached
        other = FILE if seed == "note-1" else "note-1"
        assert found[other].edge_weight == 0.5


@both_rules
def test_no_way_through_barred_files(store: Store, adds: bool) -> None:
    apart = {name: pair for name, pair in WEIGHTS.items() if name != "defines"}
    assert hops(look(store, adds, SAME_FILE, weights=apart)) == {ONE: 1}
    assert hops(look(store, adds, SAME_FILE, barred=frozenset({FILE}))) == {ONE: 1}
    called: list[Link] = [("note-1", ONE, "calls", 1.0), *SAME_FILE[1:]]
    assert hops(look(store, adds, called)) == {ONE: 1, FILE: 2}


@both_rules
def test_records_precede_symbols_of_a_large_file(store: Store, adds: bool) -> None:
    many: list[Link] = [(FILE, f"symbol-a.py::f{n:02}", "defines", 1.0) for n in range(60)]
    found = look(store, adds, [*many, *SAME_FILE])
    assert hops(found)["note-2"] == 2
    assert found.hubs == {FILE}
