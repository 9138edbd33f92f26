"""The path of a result starts at a direct match of the results."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from new_stores import new_store
from searching import look

from pylore.core.model import Hit
from pylore.core.settings import BY_NAME, Settings
from pylore.graph.walk import Links, Step
from pylore.records.records import Records
from pylore.store import Store
from pylore.store.filter import Scope

ONE, TWO, FILE = "decision-one", "decision-two", "file-t.py"
LOAD, SAVE = "symbol-t.py::load", "symbol-t.py::save"
DECISIONS = Scope(types=("decision",))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with new_store(str(tmp_path_factory.mktemp("paths"))) as store:
        records = Records(store, Settings(), None)
        records.add("decision", "retry on a busy disk", id=ONE)
        records.add("decision", "flush the journal", id=TWO)
        records.add("doc", "busy", id="doc-alone")
        for id, text in ((FILE, "disk"), (LOAD, "load"), (SAVE, "save"), ("note-far", "far")):
            records.add(id.partition("-")[0], text, id=id)
        for symbol in (LOAD, SAVE):
            records.link(FILE, "defines", symbol)
        records.link(ONE, "anchored_to", LOAD)
        records.link(TWO, "anchored_to", SAVE)
        records.link("doc-alone", "relates_to", "note-far")
        yield store


def found(store: Store, query: str, scope: Scope | None = None, **flags: object) -> dict[str, Hit]:
    flags = {"graph_depth": 2, "retrievers": "fulltext", **flags}
    return {hit.id: hit for hit in look(store, query, scope, explain=True, **flags)}


def test_path_starts_at_a_result(store: Store) -> None:
    """The walk starts also at the file, which has a word of the query and is no result."""
    hits = found(store, "retry busy disk", DECISIONS)
    assert [*hits] == [ONE, TWO]
    two = hits[TWO]
    assert (two.hops, two.path, two.edge_type) == (2, [ONE, FILE, TWO], "anchored_to")
    assert two.explain is not None
    walk = two.explain["walk"]
    assert [walk["seed"], *(edge["to"] for edge in walk["hops"])] == two.path


def test_path_starts_at_a_match_of_other_types(store: Store) -> None:
    hits = found(store, "busy disk", Scope(types=("decision", "note")))
    assert hits["note-far"].path == ["doc-alone", "note-far"]
    assert [*found(store, "busy", DECISIONS, graph_seeds=1)] == [ONE, TWO], "a match of this type"
    assert found(store, "busy", Scope(types=("note",)))["note-far"].path[0] == "doc-alone"


@pytest.mark.parametrize("rule", BY_NAME["expansion"].choices)
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("limit", [1, 2, 3, 10])
def test_paths_are_a_tree_below_the_direct_matches(
    store: Store, rule: str, depth: int, limit: int
) -> None:
    for query in ("retry busy disk", "flush the disk", "busy", "load save"):
        hits = found(store, query, expansion=rule, graph_depth=depth, limit=limit)
        direct = {id for id, hit in hits.items() if not hit.hops}
        before: dict[str, str] = {}
        for place, hit in enumerate(hits.values()):
            assert hit.hops == len(hit.path) - 1 <= depth
            # A larger limit also shows the start.
            assert hit.path[0] in direct or place < limit
            assert direct.isdisjoint(hit.path[1:])
            for one, other in zip(hit.path, hit.path[1:], strict=False):
                assert before.setdefault(other, one) == one


def test_way_has_the_fewest_edges() -> None:
    rows = "a b uses 0.9; b c uses 0.9; a c uses 0.1; d c uses 0.8; e a off 1; b file-b.py uses 1"
    steps = []
    for start, end, relation, weight in map(str.split, rows.split("; ")):
        steps.append(Step(end, 1.0, Step(start, 1.0), relation, float(weight)))
    weights = {"uses": (1.0, 0.5), "off": (1.0, 0.0)}
    links = Links(steps, weights, 0.7, {"symbol-b.py::f": "file-b.py"})
    ways = links.ways_from({"a": 1.0, "d": 0.2}, 2)
    found = [" ".join(step.id for step in way.steps()) for way in ways.values()]
    assert sorted(found) == ["a", "a b", "a b symbol-b.py::f", "d", "d c"]
    assert links.ways_from({"a": 1.0}, 1).keys() == {"a", "b", "c"}
    back = links.ways_from({"c": 1.0}, 1)
    assert back["b"].score == pytest.approx(0.9 * 0.5 * 0.7) and not back["b"].outgoing
