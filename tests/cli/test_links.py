"""Test ``lore link``, and the types that a relation joins."""

from __future__ import annotations

import sqlite3

import pytest
from commands import Lore

RELATED = "note-1 relates_to note-2"


@pytest.fixture
def lore(lore: Lore) -> Lore:
    """Two notes, a lesson and a decision."""
    ids = ("note-1", "note-2", "lesson-a", "decision-b")
    lore.fill(*({"id": id, "body": f"text of {id}"} for id in ids))
    return lore


def test_link_prints_the_state(lore: Lore) -> None:
    for state in ("added", "unchanged"):
        done = lore("link", "note-1", "RELATES_TO", "note-2", "--weight", "0.5").json
        assert done == {"id": RELATED, "state": state}
    removed = {"id": RELATED, "state": "invalidated"}
    assert lore("link", *RELATED.split(), "--remove").json == removed
    new = lore("link", "note-1", "guards", "note-2", "--new-relation", terminal=True)
    assert new.out == "added  note-1 guards note-2\n"


def test_refused_link_leaves_the_store_unchanged(lore: Lore) -> None:
    lore("forget", "note-2")
    lore.refuse_each("""
        link note-1 relates_to note-3 | 1 | no node 'note-3'
        link note-1 relates_to note-1 | 1 | cannot be linked to itself
        link note-1 relates_to lesson-a --weight 2 | 2 | 2
        link note-1 relates_to lesson-a --meta by | 2 | --meta 'by': give KEY=VALUE
        link note-1 relate_to lesson-a | 2 | (did you mean 'relates_to'?)
        link note-1 relates_to note-2 | 1 | 'lore undo note-2' brings it back
        link lesson-a imports decision-b | 2 | not lesson -> decision: use a relation that fits
        link note-1 relates_to lesson-a --remove --weight 1 | 2 | --remove excludes
        unlink note-1 relates_to note-2 | 1 | no link note-1 relates_to note-2
    """)
    assert not lore("show", "note-1", "--history").json["edges"]


def test_link_preserves_weight_and_metadata(lore: Lore) -> None:
    def kept() -> tuple[float, object]:
        (edge,) = lore("show", "note-1").json["edges"]
        return edge["weight"], edge["metadata"]

    link = ("link", *RELATED.split())
    metadata = ("--meta", "n=1", "--meta", "by=a review", "--meta", 'odd=1,"x":2')
    lore(*link, "--weight", "0.4", *metadata)
    before = kept()
    assert before == (0.4, {"by": "a review", "n": 1, "odd": '1,"x":2'})
    for again in (link, ("undo",)):
        lore("unlink", *RELATED.split())
        lore(*again)
        assert kept() == before
    lore(*link, "--meta", "by=null", "--meta", "odd=null")
    assert kept() == (0.4, {"n": 1})


def test_misfits_are_counted_and_found_by_doctor(lore: Lore) -> None:
    def ontology() -> tuple[bool, str | None, str]:
        (one,) = (check for check in lore("doctor").json if check["id"] == "ontology")
        return one["ok"], one["fix"], one["detail"]

    lines = """
        {"from_id": "lesson-a", "relation": "imports", "to_id": "decision-b"}
        {"from_id": "decision-b", "relation": "calls", "to_id": "lesson-a"}
    """
    (note,) = lore("import", "-", stdin=lines).notes
    assert note.startswith("2 edges join types that the relation does not")
    ok, fix, detail = ontology()
    assert ok and fix and "decision-b calls lesson-a" in detail
    lore("link", "lesson-a", "imports", "decision-b", "--force")
    lore("unlink", "decision-b", "calls", "lesson-a")
    assert ontology()[:2] == (True, None)


def test_sqlite_reads_and_adds_edges_by_ids(lore: Lore) -> None:
    lore("link", "lesson-a", "learned_from", "decision-b")
    plain = sqlite3.connect(lore.store / "search.db", isolation_level=None)
    edges = "SELECT from_id, to_id, relation, weight FROM graph_edges"
    assert plain.execute(edges).fetchall() == [("lesson-a", "decision-b", "learned_from", 1.0)]
    add = "INSERT INTO graph_edges(from_id, to_id, relation, weight) VALUES (?, ?, ?, 0.5)"
    with pytest.raises(sqlite3.IntegrityError, match="NOT NULL"):
        plain.execute(add, ("lesson-x", "decision-b", "relates_to"))
    plain.execute(add, ("decision-b", "lesson-a", "relates_to"))
    plain.close()
    assert "lesson-a" in lore("related", "decision-b", "--edges", "relates_to", "--ids").lines
    lore("doctor")
