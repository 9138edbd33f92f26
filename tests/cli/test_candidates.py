"""Test candidates found in sessions, and promote."""

from __future__ import annotations

import json
import time

import pytest
from commands import Lore

RULE = "Always sign the tokens with the rotating key, never with the static one"
FAILURE = (
    "Root cause: the token cache was shared, so src/auth.py gave one user the token of another."
)


def event(lore: Lore, session: str, minute: int, kind: str, **fields: object) -> None:
    """Append an event to the log."""
    log = lore.home / time.strftime("state/lore/events/%Y-%m-%d.jsonl", time.gmtime())
    log.parent.mkdir(parents=True, exist_ok=True)
    row = {
        "v": 1,
        "t": f"2026-11-20T10:{minute:02}:00Z",
        "src": "claude",
        "session": session,
        "kind": kind,
        "ref": f"{session}.jsonl#{minute:02}",
        **fields,
    }
    with log.open("a") as file:
        file.write(f"{json.dumps(row)}\n")


@pytest.fixture
def found(lore: Lore) -> Lore:
    """Two sessions of the project: both have a rule, the first a failure."""
    lore.write("src/auth.py", "x = 1\n")
    event(lore, "one", 0, "session", name=str(lore.project))
    event(lore, "one", 1, "prompt", text=RULE)
    event(lore, "one", 2, "edit", name="Edit", ok=True, files=["src/auth.py"])
    event(lore, "one", 3, "say", text=FAILURE)
    event(lore, "two", 5, "session", name=str(lore.project))
    event(lore, "two", 6, "prompt", text=f"{RULE}!")
    return lore


def candidates(lore: Lore) -> list[str]:
    return lore("candidates", "--ids", "-q").lines


def plugin(lore: Lore, name: str, script: str) -> None:
    lore.program(lore.config.parent / "commands" / name, script)


def test_candidates_list_the_best_first(found: Lore) -> None:
    done = found("candidates")
    assert done.notes == ["2 new candidates"]
    assert [(row["type"], row["sessions"], row["signals"][0]["name"]) for row in done.json] == [
        ("pattern", ["one", "two"], "rule"),
        ("failure", ["one"], "cause"),
    ]
    assert '"Always sign' in found("candidates", "-n", "1", "--text").out
    assert found("search", "rotating tokens").json == [] and found("export").out == ""


def test_promote_makes_records_of_all_or_none(found: Lore) -> None:
    rule, failure = candidates(found)
    found.refuse_each(f"""
        promote | 2 | promote needs ids of candidates without a terminal
        promote --confirm | 2 | --confirm needs ids of candidates
        promote {rule} candidate-none | 1 | no candidate 'candidate-none'
        promote --refuse --confirm {rule} | 2 | exclude each other
    """)
    assert found("list").json == []
    id = found.id("promote", rule, "--as", "lesson")
    row = found("show", id).json
    assert id.startswith("lesson-") and row["status"] == "staged"
    text = found("show", id, "--text").out
    assert "learned_from session-one" in text and "one.jsonl#01" in text
    assert f"'{rule}' is lesson-" in found.refuse("promote", rule, code=1)
    found("promote", "--confirm", "-", stdin=f"{failure}\n")
    assert len(found("list", "--status", "confirmed", "--type", "failure").json) == 1
    assert candidates(found) == []


def test_three_reads_by_people_confirm(found: Lore) -> None:
    id = found.id("promote", candidates(found)[0])
    with pytest.MonkeyPatch.context() as agent:
        agent.setenv("CLAUDECODE", "1")
        for _ in range(3):
            found("show", id)
    for _ in range(2):
        found("show", id)
    assert found("list", "--status", "staged", "--ids").lines == [id]
    assert f"confirmed, since it is read often: {id}" in found("context", "rotating key").err
    assert found("list", "--status", "staged").json == []


def test_event_plugins_hear_of_promotions(found: Lore) -> None:
    heard = found.root / "heard"
    plugin(found, "lore-hook-pre-add", "! grep -q 'token cache' || { echo no >&2; exit 1; }")
    plugin(found, "lore-hook-post-add", f"cat >>'{heard}'")
    rule, failure = candidates(found)
    refused = found.refuse("promote", rule, failure, code=1)
    assert refused == "lore-hook-pre-add: no: nothing was written"
    assert found("list").json == [] and not heard.exists()
    id = found.id("promote", rule)
    told = json.loads(heard.read_text())
    assert (told["event"], told["id"], told["state"]) == ("post-add", id, "added")
    assert told["candidate"] == rule
