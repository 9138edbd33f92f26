"""Which types a relation joins, and what is said of edges that join others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from things import a_node, an_edge

from pylore.core.errors import UsageError
from pylore.core.settings import Settings
from pylore.core.vocabulary import RELATIONS, TYPES
from pylore.graph.ontology import Ontology, misfits, misfits_among
from pylore.records.records import Records
from pylore.store import Store, scratch_store

NODES = (
    "lesson-a", "decision-b", "file-c", "symbol-c::f", "entity-d", "concept-e", "run-1", "commit-1",
)  # fmt: skip


@pytest.fixture
def store() -> Iterator[Store]:
    with scratch_store() as store:
        for id in NODES:
            store.nodes.put(a_node(id))
        yield store


@pytest.mark.parametrize(
    ("relation", "from_id", "to_id", "fits"),
    [
        ("imports", "file-c", "file-x", True),
        ("imports", "lesson-a", "decision-b", False),
        ("implements", "symbol-c::f", "decision-b", True),
        ("implements", "commit-1", "lesson-a", True),
        ("implements", "decision-b", "symbol-c::f", False),
        ("calls", "file-c", "symbol-c::f", True),
        ("learned_from", "lesson-a", "decision-b", True),
        ("learned_from", "decision-b", "lesson-a", False),
        ("derived_from", "lesson-a", "run-1", True),
        ("derived_from", "lesson-a", "commit-1", True),
        ("derived_from", "lesson-a", "file-c", False),
        ("used_in_run", "file-c", "run-1", True),
        ("relates_to", "run-1", "commit-1", True),
        ("imports", "entity-d", "concept-e", True),  # a fact
        ("unheard_of", "lesson-a", "run-1", True),
    ],
)
def test_a_relation_joins_what_its_description_says(
    store: Store, relation: str, from_id: str, to_id: str, fits: bool
) -> None:
    assert Ontology(store).fits(relation, from_id, to_id) is fits


def test_every_relation_of_a_new_store_says_what_it_joins() -> None:
    with scratch_store() as store:
        ends = {name: Ontology(store).ends(name) for name in RELATIONS}
    anything = {name for name, row in RELATIONS.items() if row[2] == "any -> any"}
    assert {name for name in ends if ends[name] is None} == anything
    assert ends["learned_from"] is not None and ends["learned_from"][0] == {"lesson"}
    assert all(types <= TYPES.keys() for both in ends.values() for types in both or ())


def test_a_relation_of_ones_own_joins_what_it_is_declared_with(store: Store) -> None:
    store.types.declare("risk", "")
    store.relations.declare("threatens", 0.5, 0.5, "risk -> record")
    store.relations.declare("taught", 0.5, 0.5, "learning -> any")
    store.relations.declare("owns", 0.5, 0.5, "who owns what -> in whose team")
    own = Ontology(store)
    assert own.fits("threatens", "risk-1", "risk-2") and own.fits("threatens", "risk-1", "note-1")
    assert not own.fits("threatens", "note-1", "risk-1")
    assert own.fits("taught", "failure-1", "file-c") and not own.fits("taught", "note-1", "file-c")
    assert own.fits("owns", "file-c", "run-1"), "prose says nothing of types"


def test_a_refusal_names_what_fits_the_surest_first(store: Store) -> None:
    with pytest.raises(UsageError, match=r"not decision -> symbol: turn it around, or use one"):
        Ontology(store).require(("decision-b", "symbol-c::f", "implements"))
    assert Ontology(store).fitting("lesson-a", "decision-b")[:2] == ["derived_from", "learned_from"]


def test_links_are_refused_unless_one_insists(store: Store) -> None:
    records = Records(store, Settings(), None)
    with pytest.raises(UsageError, match="'imports' leads file -> file, not lesson -> decision"):
        records.link("lesson-a", "IMPORTS", "decision-b")
    with pytest.raises(UsageError, match="'imports' leads"):
        records.add("lesson", "Import nothing", links=[("decision-b", "imports")])
    with pytest.raises(UsageError, match="'imports' leads"):
        records.fact("lesson-a", "imports", "decision-b")
    assert records.fact("DuckDB", "implements", "SQL").state == "added"
    records.link("lesson-a", "imports", "decision-b", force=True)
    records.link("lesson-a", "imports", "decision-b", weight=0.5)  # it is there
    edge = store.edges.get("lesson-a", "decision-b", "imports")
    assert edge is not None and (edge.weight, edge.metadata) == (0.5, '{"forced":true}')
    records.link("file-c", "relates_to", "run-1", force=True)
    plain = store.edges.get("file-c", "run-1", "relates_to")
    assert plain is not None and plain.metadata == "{}", "nothing was to be forced"


def test_what_came_in_all_the_same_is_counted(store: Store) -> None:
    for from_id, to_id in (("lesson-a", "decision-b"), ("lesson-a", "lesson-z"), ("file-c", "x-1")):
        store.edges.put(an_edge(from_id, to_id, "imports"))
    store.nodes.put(a_node("lesson-z"))
    store.edges.put(an_edge("decision-b", "file-c", "imports"))
    store.edges.put(an_edge("lesson-z", "decision-b", "imports"))
    store.edges.put(an_edge("run-1", "file-c", "imports", metadata='{"forced":true}'))
    assert misfits(store) == [
        ("decision-b", "imports", "file-c", 1),
        ("lesson-a", "imports", "decision-b", 2),
        ("lesson-a", "imports", "lesson-z", 1),
    ]
    keys = [edge.key for edge in store.edges.all()]
    assert len(misfits_among(store, keys)) == 5, "what leads nowhere yet, too"
