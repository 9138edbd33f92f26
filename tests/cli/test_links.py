"""What ``lore link`` and ``lore unlink`` do, and which types a relation joins."""

from __future__ import annotations

import json
import sqlite3

import pytest
from commands import Lore

RELATED = "note-1", "relates_to", "note-2"


@pytest.fixture
def notes(lore: Lore) -> Lore:
    """Two notes, and no embedder."""
    lore.patch.setenv("LORE_EMBEDDER", "none")
    for number in "12":
        lore("add", "note", f"number {number}", "--id", f"note-{number}")
    return lore


@pytest.fixture
def tokens(lore: Lore) -> Lore:
    """A lesson and a decision, and no embedder."""
    lore.patch.setenv("LORE_EMBEDDER", "none")
    lore("add", "lesson", "Tokens live shortly", "--id", "lesson-a")
    lore("add", "decision", "Sessions are signed tokens", "--id", "decision-b")
    return lore


def test_link_prints_the_state(notes: Lore) -> None:
    for state in ("added", "unchanged"):
        done = notes("link", "note-1", "RELATES_TO", "note-2", "--weight", "0.5").json
        assert done == {"id": "note-1 relates_to note-2", "state": state}
    assert "(did you mean 'relates_to'?)" in notes.refuse("link", "note-1", "relate_to", "note-2")
    new = notes("link", "note-1", "guards", "note-2", "--new-relation", "--text")
    assert new.out == "added  note-1 guards note-2\n"
    done = notes("unlink", *RELATED).json
    assert done == {"id": "note-1 relates_to note-2", "state": "invalidated"}
    assert "no link note-1 relates_to note-2" in notes.refuse("unlink", *RELATED, code=1)


def test_link_refuses_ends_that_cannot_be_linked(notes: Lore) -> None:
    for words, code, part in (
        (["note-3"], 1, "no node 'note-3'"),
        (["note-1"], 1, "cannot be linked to itself"),
        (["note-2", "--weight", "2"], 2, "2"),
        (["note-2", "--meta", "by"], 2, "--meta 'by': give KEY=VALUE"),
    ):
        assert part in notes.refuse("link", "note-1", "relates_to", *words, code=code)
    notes("forget", "note-2")
    refused = notes.refuse("link", *RELATED, code=1)
    assert refused == "'note-2' is forgotten: 'lore restore note-2' brings it back"
    assert not notes("show", "note-1").json["edges"]


def test_link_keeps_weight_and_metadata(notes: Lore) -> None:
    def told() -> object:
        (edge,) = notes("show", "note-1", "--history").json["edges"]
        return edge["weight"], edge["invalidated_at"], edge["metadata"]

    notes("link", *RELATED, "--weight", "0.4", "--confidence", "0.9", "--meta", "n=1", "--meta",
          "by=a review", "--meta", 'deep={"a":[true]}', "--meta", 'odd=1,"x":2')  # fmt: skip
    before = told()
    assert before == (0.4, None, {
        "by": "a review", "confidence": 0.9, "deep": {"a": [True]}, "n": 1, "odd": '1,"x":2',
    })  # fmt: skip
    for again in ("link", "restore"):
        notes("unlink", *RELATED)
        done = notes(again, "note-1", "RELATES_TO", "note-2").json
        assert again == "link" or done == [{"id": " ".join(RELATED), "state": "restored"}]
        assert told() == before
    notes("link", *RELATED, "--weight", "0.5", "--meta", "by=null", "--meta", "odd=null")
    assert told() == (0.5, None, {"confidence": 0.9, "deep": {"a": [True]}, "n": 1})
    assert "no link note-2" in notes.refuse("restore", "note-2", "relates_to", "note-1", code=1)


# --- ontology


def test_link_of_other_types_needs_force(tokens: Lore) -> None:
    wrong = ["link", "lesson-a", "imports", "decision-b"]
    refused = tokens.refuse(*wrong)
    assert "'imports' leads file -> file, not lesson -> decision: use one that fits" in refused
    assert "'lore link --force'" in refused
    tokens.refuse("add", "lesson", "Another", "--link", "decision-b:imports")
    assert len(tokens("list", "--ids").lines) == 2
    assert tokens(*wrong, "--force").json["state"] == "added"
    (edge,) = tokens("show", "lesson-a").json["edges"]
    assert edge["metadata"] == {"forced": True}
    assert misfits(tokens)["fix"] is None
    assert tokens("link", "lesson-a", "learned_from", "decision-b").json["state"] == "added"


def test_import_reports_misfits_and_doctor_names_them(tokens: Lore) -> None:
    (tokens.project / "edges.jsonl").write_text("".join(
        json.dumps({"from_id": a, "relation": relation, "to_id": b}) + "\n"
        for a, relation, b in (("lesson-a", "imports", "decision-b"),
                               ("decision-b", "calls", "lesson-a"))
    ))  # fmt: skip
    done = tokens("import", "edges.jsonl")
    assert done.json["edges"] == 2
    assert done.notes == ["2 edges join types that the relation does not: 'lore doctor' has them"]
    assert not tokens("import", "edges.jsonl").err
    assert misfits(tokens)["ok"] and "decision-b calls lesson-a" in misfits(tokens)["detail"]
    tokens("link", "lesson-a", "imports", "decision-b", "--force")
    tokens("unlink", "decision-b", "calls", "lesson-a")
    assert misfits(tokens)["fix"] is None


def misfits(lore: Lore) -> dict[str, str]:
    """Return what doctor finds of the types that relations join."""
    (found,) = (check for check in lore("doctor").json if check["id"] == "ontology")
    assert isinstance(found, dict)
    return found


def test_database_refuses_unknown_relations_and_types(tokens: Lore) -> None:
    tokens("link", "lesson-a", "learned_from", "decision-b")
    edge = "INSERT INTO graph_edges(from_key, to_key, relation, created_at) VALUES (2, 1, "
    with sqlite3.connect(tokens.store / "search.db", isolation_level=None) as plain:
        for statement, what in (
            (edge + "'unheard_of', '2026-01-01T00:00:00Z')", "unknown relation"),
            ("INSERT INTO nodes(key, id, type, created_at, updated_at)"
             " VALUES (9, 'tale-1', 'tale', '', '')", "unknown type"),
            ("UPDATE nodes SET type = 'tale'", "unknown type"),
            ("UPDATE graph_edges SET relation = 'unheard_of'", "unknown relation"),
            ("DELETE FROM relations WHERE name = 'learned_from'", "there are edges"),
            ("UPDATE relations SET name = 'x' WHERE name = 'learned_from'", "there are edges"),
        ):  # fmt: skip
            with pytest.raises(sqlite3.IntegrityError, match=what):
                plain.execute(statement)
        plain.execute(edge + "'contradicts', '2026-01-01T00:00:00Z')")
        plain.execute("DELETE FROM relations WHERE name = 'imports'")
    plain.close()
    tokens("doctor")
