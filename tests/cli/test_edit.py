"""Test ``lore edit``, ``forget`` and ``undo``."""

from __future__ import annotations

import os
from pathlib import Path
from shlex import quote
from typing import Any

import pytest
from commands import Lore
from terminals import at_terminal
from wire import LORE


@pytest.fixture
def notes(lore: Lore) -> Lore:
    """Two notes, the second a part of the first."""
    lore("add", "note", "a zebra", "--id", "note-1", "--tags", "a,b", "--why", "so")
    lore("add", "note", "two", "--id", "note-2", "--link", "note-1:part_of")
    return lore


def note(notes: Lore, *options: str) -> dict[str, Any]:
    """Return the first note as ``show`` prints it."""
    shown = notes("show", "note-1", *options).json
    assert isinstance(shown, dict)
    return shown


def test_edit_changes_the_given_fields_only(notes: Lore) -> None:
    edited = notes("edit", "note-1", "--tags", "C d,e", "--confidence", "0.5", terminal=True)
    assert edited.out == "updated  note-1\n"
    fields = [note(notes)[name] for name in ("body", "tags", "confidence", "data")]
    assert fields == ["a zebra", ["c-d", "e"], 0.5, {"why": "so"}]
    notes("edit", "note-1", "--why", "", "--tags", "", "--tag=")
    assert (note(notes)["data"], note(notes)["tags"]) == ({}, [])


def test_edit_takes_a_text_from_words_or_stdin(notes: Lore) -> None:
    for state in ("updated", "unchanged"):
        done = notes("edit", "note-1", "penguins", "swim").json
        assert done == {"id": "note-1", "state": state}
    notes.print_each("""
        search penguins | note-1
        search zebra |
    """)
    notes("edit", "note-1", "-", stdin="gulls fly\n")
    assert note(notes)["body"] == "gulls fly"


def test_refused_change_leaves_everything(notes: Lore) -> None:
    before = notes("export", "-").out
    notes.refuse_each("""
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
    assert notes("export", "-").out == before


def test_forget_hides_records_and_links_until_restored(notes: Lore) -> None:
    assert notes("forget", "note-1").json == [{"id": "note-1", "state": "invalidated"}]
    assert len(note(notes)["invalidated_at"]) == 20
    notes.print_each("""
        list | note-2
        list --forgotten | note-1
        search zebra |
        related note-2 |
    """)
    restored = notes("restore", "note-1", "note-2", terminal=True)
    assert restored.out == "restored  note-1\nunchanged  note-2\n"
    notes("forget", "note-1")
    assert notes("undo", "note-1").json == [{"id": "note-1", "state": "restored"}]
    notes.print_each("""
        search zebra | note-1
        related note-2 | note-1
    """)
    ids = "note-1\nnote-2\n"
    for command, left in (("forget", []), ("restore", ["note-1", "note-2"])):
        assert notes(command, "-", "--ids", stdin=ids).out == ids
        assert sorted(notes("list", "--ids").lines) == left


def test_purge_leaves_no_trace(notes: Lore) -> None:
    assert notes("forget", "--purge", "note-1").json == [{"id": "note-1", "state": "purged"}]
    notes.refuse_each("""
        show note-1 | 1 | no node 'note-1'
        undo | 1 | 'purge' of
        undo note-1 | 1 | 'note-1' was purged
    """)
    assert notes("list", "--forgotten").json == []
    assert notes("show", "note-2", "--history").json["edges"] == []
    files = [file for file in notes.home.rglob("*") if file.is_file()]
    assert notes.store / "search.db" in files
    assert not [file for file in files if b"zebra" in file.read_bytes()]


# --- undo and former states


def test_history_has_the_differences_of_each_state(notes: Lore) -> None:
    notes("edit", "note-1", "a line\na second text", "--tag", "x")
    notes("edit", "note-1", "--status", "superseded", "--why", "")
    one, two = note(notes, "--history")["history"]
    fields = [one[name] for name in ("number", "change", "body", "tags")]
    assert fields == [1, "edit", "a zebra", ["a", "b"]]
    assert (two["number"], two["change"], two["status"]) == (2, "edit", "confirmed")
    assert "body" not in two and "history" not in note(notes)
    text = notes("show", "note-1", "--history", "--text").out
    for part in ("-a zebra", "+a second text", "confirmed -> superseded", '{"why":"so"} -> -'):
        assert part in text, part


def test_undo_takes_back_the_last_command(notes: Lore) -> None:
    notes("edit", "note-2", "a gnu")
    undone = notes("undo")
    assert undone.json == [{"id": "note-2", "state": "restored"}]
    assert undone.notes[0].startswith("took back 'edit' of 20")
    again = notes("undo", "--redo", "--ids", "-q")
    assert (again.lines, again.err) == (["note-2"], "")
    notes.print_each("search gnu | note-2")
    notes("edit", "note-1", "a gull")
    ids = ["note-1", "note-2"]
    assert notes("undo", "-", "--ids", "-q", stdin="\n".join(ids)).lines == ids
    assert "no change to undo: 'lore undo" in notes.refuse("undo", "note-1", code=1)


@pytest.fixture
def project(lore: Lore) -> Lore:
    lore("add", "decision", "Use tokens", "--id", "decision-a")
    return lore


def edits(lore: Lore, script: str, *words: str) -> tuple[int, str]:
    editor = f'trap : INT; kill -INT 0; sed -i {script} "$0"'  # Ctrl-C is for the editor
    environ = {**os.environ, "EDITOR": f"sh -c {quote(editor)}", "NO_COLOR": "1"}
    return at_terminal([LORE, *words], environ, str(lore.project), columns=400)


def test_edit_stores_the_text_and_saves_rejected_text(project: Lore) -> None:
    code, shown = edits(project, "s/Use/Take/", "edit", "decision-a")
    assert code == 0 and "updated  decision-a" in shown
    node = project("show", "decision-a").json
    assert node["title"] == node["body"] == "Take tokens"
    assert "unchanged  decision-a" in edits(project, "s/x/x/", "edit", "decision-a")[1]
    assert [*Path(os.environ["XDG_STATE_HOME"]).glob("lore/drafts/*")] == []
    code, shown = edits(project, "'s/.*/ /'", "edit", "decision-a")
    assert code == 1 and "the text is empty" in shown
    kept = Path(shown.partition("kept in ")[2].strip())
    assert kept.read_text() == " \n" and kept.stat().st_mode & 0o77 == 0


def test_add_needs_a_text_on_a_terminal(project: Lore) -> None:
    code, shown = edits(project, "s/x/x/", "add", "lesson")
    assert code == 2 and "add needs a text" in shown
