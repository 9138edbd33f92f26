"""Test capture and the verbs event, events and gaps."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from agent_sessions import ClaudeSession
from commands import Lore


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
        capture event dream | 2 | KIND is 'dream': give one of prompt, say
        capture events --kind dream | 2 | unknown kind of event 'dream'
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


def test_no_events_without_days_to_keep(lore: Lore, log: Path) -> None:
    lore.patch.setenv("LORE_EVENTS_DAYS", "0")
    lore("search", "where is the zebra crossing painted")
    assert not log.exists()


def test_gaps_list_unanswered_questions(lore: Lore, log: Path) -> None:
    assert lore("capture", "gaps").json == []
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
