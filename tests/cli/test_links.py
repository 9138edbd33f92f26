"""Test ``lore link``, ``fact`` and ``confirm``."""

from __future__ import annotations

import sqlite3

import pytest
from commands import Lore

RELATED = "note-1 relates_to note-2"


@pytest.fixture
def linked(lore: Lore) -> Lore:
    """Two notes, a lesson and a decision."""
    ids = ("note-1", "note-2", "lesson-a", "decision-b")
    lore.fill(*({"id": id, "body": f"text of {id}"} for id in ids))
    return lore


def test_link_prints_the_state(linked: Lore) -> None:
    for state in ("added", "unchanged"):
        done = linked("link", "note-1", "RELATES_TO", "note-2", "--weight", "0.5").json
        assert done == {"id": RELATED, "state": state}
    removed = {"id": RELATED, "state": "invalidated"}
    assert linked("link", *RELATED.split(), "--remove").json == removed
    new = linked("link", "note-1", "guards", "note-2", "--new-relation", terminal=True)
    assert new.out == "added  note-1 guards note-2\n"


def test_refused_link_leaves_the_store_unchanged(linked: Lore) -> None:
    linked("forget", "note-2")
    linked.refuse_each("""
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
    assert not linked("show", "note-1", "--history").json["edges"]


def test_link_preserves_weight_and_metadata(linked: Lore) -> None:
    def kept() -> tuple[float, object]:
        (edge,) = linked("show", "note-1").json["edges"]
        return edge["weight"], edge["metadata"]

    link = ("link", *RELATED.split())
    metadata = ("--meta", "n=1", "--meta", "by=a review", "--meta", 'odd=1,"x":2')
    linked(*link, "--weight", "0.4", *metadata)
    before = kept()
    assert before == (0.4, {"by": "a review", "n": 1, "odd": '1,"x":2'})
    for again in (link, ("undo",)):
        linked("unlink", *RELATED.split())
        linked(*again)
        assert kept() == before
    linked(*link, "--meta", "by=null", "--meta", "odd=null")
    assert kept() == (0.4, {"n": 1})


def test_misfits_are_counted_and_found_by_doctor(linked: Lore) -> None:
    def ontology() -> tuple[bool, str | None, str]:
        (one,) = (check for check in linked("doctor").json if check["id"] == "ontology")
        return one["ok"], one["fix"], one["detail"]

    lines = """
        {"from_id": "lesson-a", "relation": "imports", "to_id": "decision-b"}
        {"from_id": "decision-b", "relation": "calls", "to_id": "lesson-a"}
    """
    (note,) = linked("import", "-", stdin=lines).notes
    assert note.startswith("2 edges join types that the relation does not")
    ok, fix, detail = ontology()
    assert ok and fix and "decision-b calls lesson-a" in detail
    linked("link", "lesson-a", "imports", "decision-b", "--force")
    linked("unlink", "decision-b", "calls", "lesson-a")
    assert ontology()[:2] == (True, None)


def test_sqlite_reads_and_adds_edges_by_ids(linked: Lore) -> None:
    linked("link", "lesson-a", "learned_from", "decision-b")
    plain = sqlite3.connect(linked.store / "search.db", isolation_level=None)
    edges = "SELECT from_id, to_id, relation, weight FROM graph_edges"
    assert plain.execute(edges).fetchall() == [("lesson-a", "decision-b", "learned_from", 1.0)]
    add = "INSERT INTO graph_edges(from_id, to_id, relation, weight) VALUES (?, ?, ?, 0.5)"
    with pytest.raises(sqlite3.IntegrityError, match="NOT NULL"):
        plain.execute(add, ("lesson-x", "decision-b", "relates_to"))
    plain.execute(add, ("decision-b", "lesson-a", "RELATES_TO"))
    plain.close()
    assert "lesson-a" in linked("related", "decision-b", "--edges", "relates_to", "--ids").lines
    linked("doctor")


OSLO, ROME = "entity-jacq lives_in entity-oslo", "entity-jacq lives_in entity-rome"
SAID = ("--source", "conversation")


def cat(lore: Lore, *options: str) -> str:
    """Add a note about a cat; return the id."""
    return lore.id("add", "note", "the cat is on the mat", *options)


def test_fact_makes_entities_and_values(lore: Lore) -> None:
    added = lore("fact", "Billing Service", "Runs Under", "PostgreSQL", "--confidence", "0.9")
    id = "entity-billing-service runs_under entity-postgresql"
    assert (added.json, added.err) == ({"id": id, "state": "added"}, "")
    near = lore.refuse("fact", "billing service", "run_under", "MySQL", code=2)
    assert "did you mean 'runs_under'?" in near
    assert lore.id("fact", "app", "port", "8080") == "entity-app port concept-8080"
    literal = lore("fact", "app", "needs", "--literal", "--", "-5").json
    assert literal["id"] == "entity-app needs concept-minus-5"


def test_new_value_supersedes_the_old_value(lore: Lore) -> None:
    lore("fact", *OSLO.replace("entity-", "").split())
    (note,) = lore("fact", "jacq", "lives_in", "rome", *SAID).notes
    assert "staged beside entity-oslo" in note and "'lore confirm'" in note
    assert "-> lives_in entity-rome  rome [staged]" in lore("show", "entity-jacq", "--text").out
    assert {"id": ROME, "state": "confirmed"} in lore("confirm", *ROME.split()).json
    assert [edge["id"] for edge in lore("show", "entity-jacq").json["edges"]] == ["entity-rome"]
    assert "oslo (superseded 2" in lore("show", "--history", "entity-jacq", "--text").out


def test_retracted_record_is_hidden_until_confirmed(lore: Lore) -> None:
    id = cat(lore)
    for state in ("retracted", "unchanged"):
        assert lore("confirm", "--retract", id).json == [{"id": id, "state": state}]
    lore.print_each(f"""
        search cat |
        search cat --status retracted | {id}
    """)
    assert lore.id("confirm", "-", stdin=f"{id}\n") == id
    assert lore("search", "cat", "--ids").lines == [id]


def test_wrong_use_is_refused(lore: Lore) -> None:
    lore("fact", "jacq", "uses", "duckdb")
    lore.refuse_each("""
        fact app '!' b | 1 | not a valid name
        confirm duckdb uses jacq | 1 | no fact entity-duckdb uses entity-jacq
        retract note-none | 1 | no node 'note-none'
    """)


# --- reading


def test_search_finds_and_shows_live_facts(lore: Lore) -> None:
    lore("fact", "web shop", "uses", "redis")
    (hit,) = lore("search", "what does the web shop use", "-n", "1").json
    assert (hit["id"], hit["snippet"]) == ("entity-web-shop", "web shop uses redis")
    lore("retract", "web shop", "uses", "redis")
    lore.print_each("search redis | entity-redis")
    lore("undo")
    assert "entity-web-shop" in lore("search", "redis", "--ids").lines
