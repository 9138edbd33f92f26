"""Texts in an editor: an edited text is stored, and kept in a file after an error."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from commands import Lore
from terminals import at_terminal
from wire import LORE


@pytest.fixture
def project(lore: Lore) -> Lore:
    lore("add", "decision", "Use tokens", "--id", "decision-a")
    return lore


def edits(lore: Lore, script: str, *words: str) -> tuple[int, str]:
    environ = {**os.environ, "EDITOR": f"sed -i {script}", "NO_COLOR": "1"}
    return at_terminal([LORE, *words], environ, str(lore.project), columns=400)


def test_edit_stores_the_text_and_saves_rejected_text(project: Lore) -> None:
    code, shown = edits(project, "s/Use/Take/", "edit", "decision-a")
    assert code == 0 and "updated  decision-a" in shown
    node = project("show", "decision-a").json
    assert node["title"] == node["body"] == "Take tokens"
    assert "unchanged  decision-a" in edits(project, "s/x/x/", "edit", "decision-a")[1]
    drafts = [*Path(os.environ["XDG_STATE_HOME"]).glob("lore/drafts/*")]
    assert drafts == []
    code, shown = edits(project, "'s/.*/ /'", "edit", "decision-a")
    assert code == 1 and "the text is empty" in shown
    kept = Path(shown.partition("kept in ")[2].strip())
    assert kept.read_text() == " \n" and kept.stat().st_mode & 0o77 == 0


def test_add_needs_a_text_on_a_terminal(project: Lore) -> None:
    code, shown = edits(project, "s/x/x/", "add", "lesson")
    assert code == 2 and "add needs a text" in shown
