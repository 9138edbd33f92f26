"""What ``lore edit`` and ``lore forget`` change, print and refuse."""

from __future__ import annotations

import pytest
from commands import Lore


@pytest.fixture
def notes(lore: Lore) -> Lore:
    """Two notes, the second a part of the first."""
    lore.patch.setenv("LORE_EMBEDDER", "none")
    lore("add", "note", "a zebra", "--id", "note-1", "--tags", "a,b", "--why", "so")
    lore("add", "note", "two", "--id", "note-2", "--link", "note-1:part_of")
    return lore


def found(lore: Lore, *words: str) -> list[str]:
    return lore("search", *words, "--ids", "--quiet").lines


def test_edit_changes_the_given_fields_only(notes: Lore) -> None:
    edited = notes("edit", "note-1", "--tags", "C d,e", "--confidence", "0.5", "--text")
    assert edited.out == "updated  note-1\n"
    shown = notes("show", "note-1").json
    assert (shown["body"], shown["tags"], shown["confidence"], shown["data"]) == (
        "a zebra", ["c-d", "e"], 0.5, {"why": "so"},
    )  # fmt: skip
    notes("edit", "note-1", "--why", "")
    assert notes("show", "note-1").json["data"] == {}


def test_edit_takes_a_text_from_words_or_stdin(notes: Lore) -> None:
    updated = {"id": "note-1", "state": "updated"}
    assert notes("edit", "note-1", "penguins", "swim").json == updated
    assert (found(notes, "penguins"), found(notes, "zebra")) == (["note-1"], [])
    assert notes("edit", "note-1", "penguins swim").json["state"] == "unchanged"
    assert notes("edit", "note-1", "-", stdin="gulls fly\n").json == updated
    assert notes("show", "note-1").json["body"] == "gulls fly"


def test_edit_opens_the_editor_without_a_text(notes: Lore) -> None:
    notes.patch.setenv("EDITOR", "sed -i s/zebra/gnu/")
    assert notes("edit", "note-1").json["state"] == "updated"
    assert notes("show", "note-1").json["body"].rstrip() == "a gnu"
    for editor in ("false", "true"):
        notes.patch.setenv("EDITOR", editor)
        assert "nothing was changed" in notes.refuse("edit", "note-1", code=1)


@pytest.mark.parametrize(
    ("words", "code", "part"),
    [
        (["edit", "note-none", "x"], 1, "no node 'note-none'"),
        (["edit", "note-1", ""], 1, "the text is empty"),
        (["edit", "note-1", "--status", "done"], 2, "--status is 'done'"),
        (["edit"], 2, "edit needs ID"),
        (["forget"], 2, "forget needs an id"),
        (["forget", "note-1", "note-none"], 1, "no node 'note-none'"),
        (["forget", "--purge", "te-2"], 2, "needs a whole id, not 'te-2': give note-2"),
        (["restore", "note-none"], 1, "no node 'note-none'"),
    ],
)
def test_refused_change_leaves_everything(
    notes: Lore, words: list[str], code: int, part: str
) -> None:
    before = notes("list").out
    assert part in notes.refuse(*words, code=code)
    assert notes("list").out == before


def test_forget_hides_records_and_links_until_restored(notes: Lore) -> None:
    assert notes("forget", "note-1").json == [{"id": "note-1", "state": "invalidated"}]
    assert notes("list", "--ids").lines == ["note-2"]
    assert notes("list", "--forgotten", "--ids").lines == ["note-1"]
    assert found(notes, "zebra") == notes("related", "note-2", "--ids").lines == []
    assert len(notes("show", "note-1").json["invalidated_at"]) == 20
    restored = notes("restore", "note-1", "note-2", "--text")
    assert restored.out == "restored  note-1\nunchanged  note-2\n"
    assert found(notes, "zebra") == notes("related", "note-2", "--ids").lines == ["note-1"]


def test_adding_a_forgotten_record_restores_its_links(notes: Lore) -> None:
    notes("forget", "note-2")
    notes("add", "note", "two", "--id", "note-2")
    assert notes("related", "note-1", "--ids").lines == ["note-2"]


def test_forget_and_restore_read_ids_from_stdin(notes: Lore) -> None:
    ids = notes("list", "--ids").out
    notes("forget", "-", stdin=ids)
    assert not notes("list", "--ids").out
    notes("restore", "-", stdin=ids)
    assert notes("list", "--ids").out.count("\n") == 2
    assert notes("forget", "-").json == []


def test_purge_leaves_no_trace(notes: Lore) -> None:
    purged = notes("forget", "--purge", "note-1", "--jsonl")
    assert purged.rows == [{"id": "note-1", "state": "purged"}]
    assert "no node 'note-1'" in notes.refuse("show", "note-1", code=1)
    assert notes("list", "--forgotten").json == []
    assert notes("show", "note-2", "--history").json["edges"] == []
    assert "zebra" not in notes("export", "-").out
    files = [file for file in notes.home.rglob("*") if file.is_file()]
    assert notes.store / "search.db" in files
    assert not [file for file in files if b"zebra" in file.read_bytes()]
