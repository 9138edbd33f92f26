"""Test ``lore edit``, ``forget`` and ``undo``."""

from __future__ import annotations

from typing import Any

import pytest
from commands import Lore


@pytest.fixture
def lore(lore: Lore) -> Lore:
    """Two notes, the second a part of the first."""
    lore("add", "note", "a zebra", "--id", "note-1", "--tags", "a,b", "--why", "so")
    lore("add", "note", "two", "--id", "note-2", "--link", "note-1:part_of")
    return lore


def note(lore: Lore, *options: str) -> dict[str, Any]:
    """Return the first note as ``show`` prints it."""
    shown = lore("show", "note-1", *options).json
    assert isinstance(shown, dict)
    return shown


def test_edit_changes_the_given_fields_only(lore: Lore) -> None:
    edited = lore("edit", "note-1", "--tags", "C d,e", "--confidence", "0.5", terminal=True)
    assert edited.out == "updated  note-1\n"
    fields = [note(lore)[name] for name in ("body", "tags", "confidence", "data")]
    assert fields == ["a zebra", ["c-d", "e"], 0.5, {"why": "so"}]
    lore("edit", "note-1", "--why", "", "--tags", "", "--tag=")
    assert (note(lore)["data"], note(lore)["tags"]) == ({}, [])


def test_edit_takes_a_text_from_words_or_stdin(lore: Lore) -> None:
    for state in ("updated", "unchanged"):
        done = lore("edit", "note-1", "penguins", "swim").json
        assert done == {"id": "note-1", "state": state}
    lore.print_each("""
        search penguins | note-1
        search zebra |
    """)
    lore("edit", "note-1", "-", stdin="gulls fly\n")
    assert note(lore)["body"] == "gulls fly"


def test_refused_change_leaves_everything(lore: Lore) -> None:
    before = lore("export", "-").out
    lore.refuse_each("""
        edit note-none x | 1 | no node 'note-none'
        edit note-1 '' | 1 | the text is empty
        forget note-1 note-none | 1 | no node 'note-none'
        forget --purge te-2 | 2 | needs a full id, not 'te-2': give note-2
        restore note-none | 1 | no node 'note-none'
        restore note-1 --at 99 | 1 | none at 99: see 'lore show note-1 --history'
        restore note-1 --at 2001-01-01 | 1 | none at 2001-01-01: see
        restore note-1 --at never | 2 | 'never' is not a valid date
        forget --faded note-1 | 2 | exclude each other
        forget note-1 --dry-run | 2 | --dry-run needs --faded
        forget --proposed | 2 | --proposed needs --purge
        undo note-3 | 1 | no node 'note-3'
        undo note-1 | 1 | 'lore forget note-1' forgets it
    """)
    assert lore("export", "-").out == before


def test_forget_hides_records_and_links_until_restored(lore: Lore) -> None:
    assert lore("forget", "note-1").json == [{"id": "note-1", "state": "invalidated"}]
    assert len(note(lore)["invalidated_at"]) == 20
    lore.print_each("""
        list | note-2
        list --forgotten | note-1
        search zebra |
        related note-2 |
    """)
    restored = lore("restore", "note-1", "note-2", terminal=True)
    assert restored.out == "restored  note-1\nunchanged  note-2\n"
    lore("forget", "note-1")
    assert lore("undo", "note-1").json == [{"id": "note-1", "state": "restored"}]
    lore.print_each("""
        search zebra | note-1
        related note-2 | note-1
    """)
    ids = "note-1\nnote-2\n"
    for command, left in (("forget", []), ("restore", ["note-1", "note-2"])):
        assert lore(command, "-", "--ids", stdin=ids).out == ids
        assert sorted(lore("list", "--ids").lines) == left


def test_purge_leaves_no_trace(lore: Lore) -> None:
    assert lore("forget", "--purge", "note-1").json == [{"id": "note-1", "state": "purged"}]
    lore.refuse_each("""
        show note-1 | 1 | no node 'note-1'
        undo | 1 | 'purge' of
        undo note-1 | 1 | 'note-1' was purged
    """)
    assert lore("list", "--forgotten").json == []
    assert lore("show", "note-2", "--history").json["edges"] == []
    files = [file for file in lore.home.rglob("*") if file.is_file()]
    assert lore.store / "search.db" in files
    assert not [file for file in files if b"zebra" in file.read_bytes()]


# --- undo and former states


def test_history_has_the_differences_of_each_state(lore: Lore) -> None:
    lore("edit", "note-1", "a line\na second text", "--tag", "x")
    lore("edit", "note-1", "--status", "superseded")
    one, two = note(lore, "--history")["history"]
    fields = [one[name] for name in ("number", "change", "body", "tags")]
    assert fields == [1, "edit", "a zebra", ["a", "b"]]
    assert (two["number"], two["change"], two["status"]) == (2, "edit", "confirmed")
    assert "body" not in two and "history" not in note(lore)
    text = lore("show", "note-1", "--history", "--text").out
    for part in ("-a zebra", "+a second text", " -> x", "confirmed -> superseded"):
        assert part in text, part


def test_undo_takes_back_the_last_command(lore: Lore) -> None:
    lore("edit", "note-2", "a gnu")
    undone = lore("undo")
    assert undone.json == [{"id": "note-2", "state": "restored"}]
    assert undone.notes[0].startswith("took back 'edit' of 20")
    again = lore("undo", "--redo", "--ids", "-q")
    assert (again.lines, again.err) == (["note-2"], "")
    lore.print_each("search gnu | note-2")
    lore("edit", "note-1", "a gull")
    ids = ["note-1", "note-2"]
    assert lore("undo", "-", "--ids", "-q", stdin="\n".join(ids)).lines == ids
    assert "no change to undo: 'lore undo" in lore.refuse("undo", "note-1", code=1)
