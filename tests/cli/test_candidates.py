"""Test ``lore capture``: events, candidates, gaps."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from agent_sessions import ClaudeSession
from commands import Lore
from planted_events import Log, plant


@pytest.fixture
def found(lore: Lore) -> Lore:
    """Two sessions of the project: both have a rule, the first a failure."""
    lore.write("src/auth.py", "x = 1\n")
    plant(Log(lore.project))
    return lore


def candidates(lore: Lore) -> list[str]:
    return lore("candidates", "--ids", "-q").lines


def plugin(lore: Lore, name: str, script: str) -> None:
    lore.program(lore.config.parent / "commands" / name, script)


def test_candidates_list_the_best_first(found: Lore) -> None:
    done = found("candidates")
    assert done.notes == ["2 new candidates"]
    assert [(row["type"], row["sessions"], row["signals"][0]["name"]) for row in done.json] == [
        ("pattern", ["s1", "s2"], "rule"),
        ("failure", ["s1"], "cause"),
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
    assert id.startswith("lesson-") and found("show", id).json["status"] == "staged"
    text = found("show", id, "--text").out
    assert "learned_from session-s1" in text and "s1.jsonl#2" in text
    assert f"'{rule}' is lesson-" in found.refuse("promote", rule, code=1)
    found("promote", "--confirm", "-", stdin=f"{failure}\n")
    assert len(found("list", "--status", "confirmed", "--type", "failure").json) == 1
    assert candidates(found) == []


def test_three_reads_by_people_confirm(found: Lore) -> None:
    id = found.id("promote", candidates(found)[0])
    for name in ("CLAUDECODE", "CODEX_THREAD_ID", "CURSOR_AGENT"):
        with pytest.MonkeyPatch.context() as agent:
            agent.setenv(name, "1")
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
    assert refused == "lore-hook-pre-add: no: not written"
    assert found("list").json == [] and not heard.exists()
    id = found.id("promote", rule)
    told = json.loads(heard.read_text())
    assert (told["event"], told["id"], told["state"]) == ("post-add", id, "added")
    assert told["candidate"] == rule


@pytest.fixture
def log(lore: Lore) -> Path:
    """The file of the log, which does not exist yet."""
    return lore.home / time.strftime("state/lore/events/%Y-%m-%d.jsonl", time.gmtime())


def session(lore: Lore) -> None:
    """A transcript in the folder of Claude Code, with a secret in it."""
    session = ClaudeSession("one")
    session.user("why? password=hunter2hunter2").says("Because.")
    session.write(lore.home / ".claude/projects/-shop/one.jsonl")


def test_capture_reads_the_folder_of_an_agent(lore: Lore, log: Path) -> None:
    session(lore)
    done = lore("capture", "--from", "claude")
    receipt = done.json
    assert (receipt["files"], receipt["unchanged"], done.err) == (1, 0, "")
    assert receipt["events"] == {"session": 1, "prompt": 1, "say": 1}
    assert receipt["redacted"] == {"password": 1}
    again = lore("capture", "--from", "claude", "--text").lines
    assert again[0] == "0 files read, 1 unchanged, 0 sessions with something new"
    assert log.stat().st_mode & 0o777 == 0o600 and "hunter2" not in log.read_text()
    prompt, say = lore("capture", "events", "--session", "one", "--kind", "prompt,say").rows
    assert (prompt["turn"], prompt["text"]) == (1, "why? password=[redacted:password]")
    assert say["text"] == "Because."
    last = lore("capture", "events", "--text", "--since", "2026-11-01T10:00:02Z").lines
    assert len(last) == 1 and last[0].endswith("Because.")


def test_capture_stops_when_a_redactor_fails(lore: Lore, log: Path) -> None:
    session(lore)
    plugins = lore.config.parent / "commands"
    redactor = lore.program(plugins / "lore-redact-names", "echo no dictionary >&2", "exit 1")
    refused = lore.refuse("capture", "--from", "claude", code=1)
    assert "lore-redact-names: failed with exit code 1 (no dictionary)" in refused
    assert not log.exists()
    redactor.unlink()
    lore("capture", "--from", "claude")
    assert len(lore("capture", "events").rows) == 3


def test_capture_and_events_refuse_bad_words(lore: Lore, log: Path) -> None:
    lore.refuse_each("""
        capture | 2 | capture needs --from: give one of claude, codex
        capture --from claude | 1 | no sessions of claude: give a file or a folder
        capture event prompt | 2 | event prompt needs a text
        capture --from claude x --events-days 0 | 1 | events_days is 0, which records no events
        capture event say -m x --events-days 0 | 1 | events_days is 0
        capture event dream | 2 | KIND is 'dream': give one of prompt, say
        capture events --kind say,dream | 2 | --kind is 'say,dream': give one of prompt
    """)
    done = lore("capture", "--from", "codex", "nothing.jsonl", code=1)
    assert done.json["failed"] == 1 and "nothing.jsonl: No such file" in done.notes[0]
    assert lore("capture", "events").out == ""


def test_event_appends_to_the_log(lore: Lore, log: Path) -> None:
    words = ("--session", "s1", "--name", "make", "-m", "make test", "--error", "it failed")
    row = lore("capture", "event", "tool", *words, "--file", "a.py,b.py").json
    assert row["kind"] == "tool" and row["files"] == ["a.py", "b.py"]
    assert (row["text"], row["err"], row["ok"]) == ("make test", "it failed", False)
    (line,) = lore("capture", "events", "--text").lines
    assert line.endswith("  s1        tool      make  a.py b.py  make test  failed: it failed")
    lore("capture", "event", "prompt", "-m", "-", stdin="always use uv\n")
    assert [row["text"] for row in lore("capture", "events").rows] == ["make test", "always use uv"]
    assert lore("capture", "events", "--kind", "tool").rows == [row]


def test_gaps_list_unanswered_questions(lore: Lore, log: Path) -> None:
    lore("search", "how are refresh tokens rotated", "--events-days", "0")
    assert lore("capture", "gaps").json == [] and not log.exists()
    lore.write("crossing.py", "def paint_zebra_crossing(where):\n    return where\n")
    lore("index")
    lore("add", "note", "Sessions end after a day")
    for question in (
        "where is the zebra crossing painted",
        "how are refresh tokens rotated",
        "how refresh tokens are rotated",
        "when do sessions end",
        "is ghp_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6 valid here",
    ):
        lore("search", question)
    first, *others = lore("capture", "gaps").json
    assert (first["question"], first["times"]) == ("how refresh tokens are rotated", 2)
    assert {gap["times"] for gap in others} == {1} and len(others) == 2
    assert "zebra crossing" in lore("capture", "gaps", "--text").out
    assert "ghp_aB3d" not in log.read_text()
