"""Records in an editor: what was changed is taken, what is wrong is said and not lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from commands import Lore
from hypothesis import example, given
from hypothesis import strategies as st
from terminals import at_terminal
from wire import LORE

from pylore.formats.mdfile import FIELDS, draft_of, read_draft

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n"))
LINE = st.text(st.characters(exclude_categories=["C", "Z"], include_characters=" "), max_size=20)


@given(LINE.map(lambda text: " ".join(text.split())), TEXT.map(str.strip), TEXT)
@example("null", "- a: b\n---\n# c", "---\ntitle: x\n---\n")
@example("'a' \"b\": c", "*x &y", "# One\n\ntext")
def test_what_a_draft_says_is_read_back(title: str, why: str, body: str) -> None:
    fields = {"title": title, "why": why, "text": body, "tags": "a, b-c",
              "file": "src/a b.py:1-2", "status": "staged", "source": "file",
              "confidence": "0.5", "category": ""}  # fmt: skip
    found = read_draft(draft_of("A comment: of\ntwo lines", fields, FIELDS), FIELDS)
    assert {**found, "text": ""} == {**fields, "text": ""}
    assert found["text"].strip() == body.strip()


@pytest.fixture
def project(lore: Lore) -> Lore:
    lore("add", "decision", "Use tokens", "--why", "no state", "--id", "decision-a",
         "--tags", "auth")  # fmt: skip
    return lore


def edits(lore: Lore, script: str, *words: str) -> tuple[int, str]:
    environ = {**os.environ, "EDITOR": f"sed -i {script}", "NO_COLOR": "1"}
    return at_terminal([LORE, *words], environ, str(lore.project), columns=400)


def test_a_record_is_edited_whole_and_a_wrong_draft_is_kept(project: Lore) -> None:
    code, shown = edits(project, "'s/^why: .*/why: simple: fast/'", "edit", "decision-a")
    assert code == 1 and "line 4: not YAML" in shown
    kept = Path(shown.partition("kept in ")[2].partition(": the same")[0])
    assert "why: simple: fast" in kept.read_text() and kept.stat().st_mode & 0o77 == 0
    code, shown = edits(project, "'s/: fast//;s/^tags.*/tags: [auth, api]/;s/Use/Take/'",
                        "edit", "decision-a")  # fmt: skip
    assert code == 0 and "goes on with the draft" in shown and "updated  decision-a" in shown
    node = project("show", "decision-a").json
    assert (node["data"], node["tags"], node["body"]) == (
        {"why": "simple"}, ["api", "auth"], "Take tokens",
    )  # fmt: skip
    assert node["title"] == "Take tokens" and not kept.exists()
    for script, what in (("s/x/x/", "nothing was changed"), ("'/^why/s/why/wy/'", "no field 'wy'")):
        code, shown = edits(project, script, "edit", "decision-a")
        assert code == 1 and what in shown


def test_a_new_record_comes_from_a_form(project: Lore) -> None:
    script = "'s/^links:/links: decision-a:relates_to/;$a Log out at once'"
    code, shown = edits(project, script, "add", "lesson", "--tags", "auth")
    assert code == 0 and "added  lesson-" in shown
    (node,) = project("list", "--type", "lesson").json
    assert (node["title"], node["tags"]) == ("Log out at once", ["auth"])
    assert project("show", node["id"]).json["edges"][0]["id"] == "decision-a"
    code, shown = edits(project, "s/x/x/", "add", "lesson")
    assert code == 1 and "nothing was changed" in shown
    code, shown = edits(project, "s/x/x/", "add", "lessn")
    assert code == 2 and "unknown type 'lessn'" in shown
