"""What ``lore undo``, ``restore --at`` and ``show --history`` bring back and print."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest
from commands import Lore


@pytest.fixture
def notes(lore: Lore) -> Lore:
    """Two notes, and no embedder."""
    lore.patch.setenv("LORE_EMBEDDER", "none")
    lore("add", "note", "the first text", "--id", "note-1", "--title", "One")
    lore("add", "note", "another record", "--id", "note-2")
    return lore


def shown(lore: Lore, id: str = "note-1") -> dict[str, Any]:
    fields = lore("show", id, "--history").json
    assert isinstance(fields, dict)
    return fields


def test_history_has_the_differences_of_each_state(notes: Lore) -> None:
    notes("edit", "note-1", "a line\na second text", "--tag", "x")
    notes("edit", "note-1", "--status", "superseded")
    one, two = shown(notes)["history"]
    assert (one["number"], one["change"], one["body"], one["tags"]) == (
        1, "edit", "the first text", [],
    )  # fmt: skip
    assert (two["number"], two["change"], two["status"]) == (2, "supersede", "confirmed")
    assert "body" not in two and one["changed_at"] == two["made_at"]
    assert shown(notes, "note-2")["history"] == []
    assert "history" not in notes("show", "note-1").json
    text = notes("show", "note-1", "--history", "--text").lines
    for line in ("-the first text", "+a second text", "tags: - -> x",
                 "status: confirmed -> superseded"):  # fmt: skip
        assert any(line in printed for printed in text), line


def test_undo_takes_back_the_last_command(notes: Lore) -> None:
    notes("edit", "note-2", "a zebra")
    undone = notes("undo")
    assert undone.json == [{"id": "note-2", "state": "restored"}]
    assert undone.notes[0].startswith("took back 'edit' of 20")
    again = notes("undo", "--last", "--ids", "-q")
    assert (again.lines, again.err) == (["note-2"], "")
    assert notes("search", "zebra", "--ids").lines == ["note-2"]


def test_undo_of_an_id_goes_back_through_its_changes(notes: Lore) -> None:
    for text in ("a second text", "a third text"):
        notes("edit", "note-1", text)
    for body in ("a second text", "the first text"):
        assert notes("undo", "note-1", "--text").out == "restored  note-1\n"
        assert shown(notes)["body"] == body
    assert shown(notes)["title"] == "One"
    assert notes("search", "first text", "-n", "1", "--ids").lines == ["note-1"]
    assert "nothing left to undo: 'lore restore" in notes.refuse("undo", "note-1", code=1)


def test_undo_forgets_added_records_and_reads_stdin(notes: Lore) -> None:
    options = ["--link", "note-1:learned_from", "--file", "src/a.py"]
    notes("add", "lesson", "new", "--id", "lesson-n", *options)
    assert notes("undo", "--ids", "-q").lines[0] == "lesson-n"
    assert not notes("list", "--type", "lesson,file", "--ids").out
    assert not notes("anchor", "lesson-n", "--ids").out
    notes("edit", "note-1", "one")
    notes("edit", "note-2", "two")
    ids = ["note-1", "note-2"]
    assert notes("undo", "-", "--ids", "-q", stdin="\n".join(ids)).lines == ids


def test_undo_takes_back_anchors_and_their_removal(notes: Lore) -> None:
    (notes.project / "a.py").write_text("one = 1\n")
    notes("anchor", "note-1", "a.py")
    notes("undo")
    fields = shown(notes)
    assert (fields["file"], fields["anchors"]) == (None, [])
    assert fields["edges"][0]["invalidated_at"]
    notes("undo")
    notes("anchor", "note-1", "a.py", "--remove")
    assert shown(notes)["anchors"] == []
    notes("undo")
    fields = shown(notes)
    assert (fields["file"], fields["anchors"][0]["path"]) == ("a.py", "a.py")
    assert fields["edges"][0]["invalidated_at"] is None


def test_undo_refuses_what_cannot_be_taken_back(notes: Lore) -> None:
    assert "exclude each other" in notes.refuse("undo", "--last", "note-1")
    assert "no node 'note-3'" in notes.refuse("undo", "note-3", code=1)
    assert "'lore forget note-1' forgets it" in notes.refuse("undo", "note-1", code=1)
    notes("forget", "--purge", "note-2")
    assert "a purge of" in notes.refuse("undo", code=1)
    assert "'note-2' was purged" in notes.refuse("undo", "note-2", code=1)


def test_restore_at_brings_any_state_back(notes: Lore) -> None:
    notes("edit", "note-1", "two")
    notes("edit", "note-1", "three")
    notes("forget", "note-1")
    assert notes("restore", "note-1", "--at", "2").json == [{"id": "note-1", "state": "restored"}]
    fields = shown(notes)
    assert (fields["body"], fields["invalidated_at"]) == ("two", None)
    assert fields["history"][-1]["change"] == "restore"
    notes("restore", "note-1", "--at", fields["history"][0]["made_at"])
    assert shown(notes)["body"] == "the first text"
    for at, code, part in (
        ("99", 1, "number 99: see 'lore show note-1 --history'"),
        ("2001-01-01", 1, "2001-01-01T00:00:00Z or before"),
        ("never", 2, "'never' is not a valid date"),
    ):
        assert part in notes.refuse("restore", "note-1", "--at", at, code=code)


def test_sweep_drops_old_history(notes: Lore) -> None:
    notes("edit", "note-1", "two")
    with sqlite3.connect(notes.store / "search.db") as db:
        db.execute("UPDATE node_history SET changed_at = '2001-01-01T00:00:00Z'")
    db.close()
    assert notes("sweep").json == [] and shown(notes)["history"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LORE_HISTORY_DAYS", "30")
        assert "1 state of the history due" in notes("sweep", "--dry-run").err
    assert "1 state of the history dropped" in notes("sweep", "--history-days", "30").err
    assert shown(notes)["history"] == []
