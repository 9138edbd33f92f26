"""Test the dialog of ``lore promote`` on a terminal."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import pytest
from commands import Lore
from planted_events import CAUSE, RULE, Log, plant, prompt
from terminals import at_terminal
from wire import LORE

from pylore.store import Store, open_store

PROMPT = "Promote this [y,n,e,m,s,q,?]? "


@pytest.fixture
def store(lore: Lore) -> Iterator[Store]:
    """A store with two candidates."""
    lore.write("src/auth.py", "def token(): ...\n")
    plant(Log(lore.project))
    lore("candidates")
    with open_store(str(lore.store)) as store:
        yield store


def on_terminal(*answers: str) -> tuple[int, str]:
    """Promote on a terminal with a reply to each prompt; return exit code and output."""
    typed = [(PROMPT, f"{answer}\n") for answer in answers]
    return at_terminal([LORE, "promote"], os.environ, os.getcwd(), columns=200, typed=typed)


def standing(store: Store) -> dict[str, str]:
    return {row.body: row.status for row in store.candidates.all()}


def test_candidates_are_shown_in_turn(store: Store) -> None:
    code, shown = on_terminal("?", "y", "n")
    assert code == 0
    assert f'"{RULE}!"  (s2 2026-11-21)' in shown and "files: src/auth.py" in shown
    assert shown.index(RULE) < shown.index("y - promote it") < shown.index(CAUSE)
    assert shown.endswith("1 promoted, 1 refused, 0 left\n")
    assert standing(store) == {RULE: "promoted", CAUSE: "refused"}
    (id,) = (row.promoted_as or "" for row in store.candidates.all(("promoted",)))
    assert store.nodes.require(id).status == "confirmed"
    assert on_terminal()[1] == "no open candidates: 'lore capture candidates' looks for them\n"


def test_quit_leaves_the_rest_open(store: Store) -> None:
    assert on_terminal("s", "q")[1].endswith("0 promoted, 0 refused, 2 left\n")
    assert standing(store) == {RULE: "skipped", CAUSE: "open"}
    assert on_terminal("\x04")[1].endswith("0 promoted, 0 refused, 1 left\n")


def test_editor_changes_title_and_text(
    lore: Lore, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "Sign with the rotating key\\n\\nIt is in the vault.\\n"
    monkeypatch.setenv("EDITOR", "true")
    assert "the text is unchanged: edit again, or type y\n" in on_terminal("e", "q")[1]
    monkeypatch.setenv("VISUAL", str(lore.program("editor", f"printf '{text}' >$1")))
    plugin = lore.program(lore.config.parent / "commands/lore-hook-pre-add", "exit 1")
    assert "not written; the text is kept in" in on_terminal("e", "q")[1]
    plugin.unlink()
    assert "added  pattern-" in on_terminal("e", "q")[1]
    (id,) = (row.promoted_as or "" for row in store.candidates.all(("promoted",)))
    node = store.nodes.require(id)
    assert (node.title, node.body) == ("Sign with the rotating key", "It is in the vault.")


def test_merge_into_a_named_record(lore: Lore, store: Store) -> None:
    lore("add", "note", "Keys rotate", "--id", "note-keys")
    shown = on_terminal("m", "m 77", "m note-none", "m note-keys", "q")[1]
    assert shown.count("unknown record: give 'm ID', or 'm NUMBER' of the records shown") == 2
    assert "no node 'note-none'" in shown and "updated  note-keys" in shown
    edge = store.edges.get("note-keys", "session-s1", "derived_from")
    assert edge is not None and json.loads(edge.metadata)["evidence"][0]["quote"] == RULE


def test_session_text_cannot_steer_the_terminal(
    lore: Lore, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    Log(lore.project).session(
        "s7", "2026-11-22", prompt("Always clear \x1b[2J the cache before a deploy of the shop")
    )
    lore("candidates")
    assert "\x1b" not in on_terminal("q")[1]
    monkeypatch.delenv("NO_COLOR")
    shown = on_terminal("S", "s", "s")[1]
    assert "\x1b[2m" in shown and "?[2m" not in shown and "\x1b[2J" not in shown
