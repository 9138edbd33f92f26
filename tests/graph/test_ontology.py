"""The types that a relation joins."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from things import a_node

from pylore.graph.ontology import Ontology
from pylore.store import Store, scratch_store

NODES = "lesson-a decision-b file-c symbol-c::f entity-d concept-e run-1 commit-1".split()


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
        ("implements", "commit-1", "lesson-a", True),
        ("implements", "decision-b", "symbol-c::f", False),
        ("learned_from@@ann", "decision-b", "lesson-a", False),
        ("derived_from", "lesson-a", "run-1", True),
        ("derived_from", "lesson-a", "file-c", False),
        ("relates_to", "run-1", "commit-1", True),
        ("unheard_of", "lesson-a", "run-1", True),
    ],
)
def test_relation_joins_described_types(
    store: Store, relation: str, from_id: str, to_id: str, fits: bool
) -> None:
    assert Ontology(store).fits(relation, from_id, to_id) is fits


def test_declared_relation_joins_declared_types(store: Store) -> None:
    store.types.declare("risk", "")
    store.relations.declare("threatens", 0.5, 0.5, "risk -> record")
    store.relations.declare("taught", 0.5, 0.5, "learning -> any")
    store.relations.declare("owns", 0.5, 0.5, "who owns what -> in whose team")
    own = Ontology(store)
    assert own.fits("threatens", "risk-1", "risk-2") and own.fits("threatens", "risk-1", "note-1")
    assert not own.fits("threatens@@ann", "note-1", "risk-1")
    assert own.fits("taught", "failure-1", "file-c") and not own.fits("taught", "note-1", "file-c")
    assert own.fits("owns", "file-c", "run-1"), "prose says nothing of types"
