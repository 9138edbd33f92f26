"""Test capture of transcripts into the log."""

from __future__ import annotations

import os
import re
import resource
import signal
import tracemalloc
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from agent_sessions import ClaudeSession, a_session
from planted_secrets import planted
from samples import some

from pylore.capture.capture import Capture
from pylore.capture.events import read_events
from pylore.capture.recorder import LONGEST
from pylore.capture.redaction import Redactor
from pylore.capture.transcripts import TRANSCRIPTS
from pylore.core.errors import LoreError

OF_ALL = {"session": 1, "prompt": 1, "say": 2, "tool": 2, "search": 1, "edit": 1, "commit": 1}


def capture(*paths: Path, since: str = "", said: list[str] | None = None) -> SimpleNamespace:
    say = ([] if said is None else said).append
    return Capture(TRANSCRIPTS["claude"], Redactor(), since, say).run([*map(str, paths)])


def spans() -> list[tuple[str, str]]:
    return [(event["kind"], event.get("text", "")) for event in read_events()]


def test_session_becomes_events_once(tmp_path: Path, log: Path) -> None:
    file = a_session().write(tmp_path / "a.jsonl")
    receipt = capture(file)
    assert receipt.events == OF_ALL and receipt.files == receipt.sessions == 1
    assert log.stat().st_mode & 0o777 == 0o600
    begun, *events = read_events()
    assert [event["turn"] for event in events] == [1] * 8
    assert (begun["name"], begun["text"]) == ("/home/me/shop", "main")
    failed = events[2]
    assert (failed["ok"], failed["text"], failed["ref"]) == (False, "make test", f"{file}#4")
    assert failed["err"] == "src/login.py:3: error: no clock"
    assert events[4]["files"] == ["src/login.py"]
    assert (events[6]["kind"], events[6]["name"]) == ("commit", "1a2b3c4")
    again = capture(file)
    assert again.unchanged == 1 and not again.events and len(spans()) == 9


def test_growing_transcript_is_read_in_any_portions(tmp_path: Path) -> None:
    capture(a_session().write(tmp_path / "whole.jsonl"))
    whole = spans()
    other = a_session("5e550000-0000-4000-8000-000000000002")
    file = tmp_path / "grows.jsonl"
    text = "".join(f"{line}\n" for line in other.lines)
    for end in (*range(0, len(text), 301), len(text)):
        file.write_text(text[:end])  # most portions end in the middle of a line, and of a letter
        capture(file)
    assert spans()[len(whole) :] == whole


def test_rewritten_transcript_adds_new_events_only(tmp_path: Path) -> None:
    session = a_session()
    file = session.write(tmp_path / "a.jsonl")
    capture(file)
    session.lines[0] = session.lines[0].replace("login test", "first test")
    session.says("And the docs say so now.").write(file)
    assert capture(file).events == {"say": 1}
    assert spans()[-1] == ("say", "And the docs say so now.")
    for lines in (4, None):  # a truncated transcript that grows again
        assert not capture(session.write(file, lines)).events


@pytest.mark.parametrize("left", [b"", b'{"a":', b'{"a.jsonl":[1]}', b"[]"])
def test_lost_stamps_add_no_event_twice(tmp_path: Path, left: bytes) -> None:
    file = a_session().write(tmp_path / "a.jsonl")
    capture(file)
    stamps = tmp_path / "home/state/lore/captured.json"
    assert str(file) in stamps.read_text()
    stamps.write_bytes(left)
    assert not capture(file).events and len(spans()) == 9
    file.unlink()
    capture(tmp_path)
    assert stamps.read_text() == "{}"


def test_lines_without_a_folder(tmp_path: Path) -> None:
    session = a_session()
    session.lines = [re.sub('"(?:cwd|sessionId)": ?"[^"]*",? ?', "", one) for one in session.lines]
    assert capture(session.write(tmp_path / "a.jsonl")).events["prompt"] == 1
    assert {event["session"] for event in read_events()} == {"a"}


def test_session_in_a_folder_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "shop/web").mkdir(parents=True)
    (tmp_path / "shop/.lore").mkdir()
    session = ClaudeSession(project=f"{tmp_path}/shop/web").tool("Edit", "x", file_path="a.js")
    capture(session.write(tmp_path / "a.jsonl"))
    begun, edit = read_events()
    assert (begun["name"], edit["files"]) == (f"{tmp_path}/shop", ["web/a.js"])


def test_since_leaves_out_older_events(tmp_path: Path) -> None:
    file = a_session().write(tmp_path / "a.jsonl")
    since = "2026-11-01T10:00:08Z"
    assert capture(file, since=since).events == {"say": 1, "tool": 1, "edit": 1, "commit": 1}
    assert not capture(file, since=since).events
    assert sum(capture(file).events.values()) == 5
    assert Counter(kind for kind, _ in spans()) == OF_ALL
    os.utime(file, (1, 1))
    assert capture(file, since=since).left_out == {"older": 1}


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("nothing", b"", ""),
        ("text", b"hello\nworld\n", "not a transcript of claude"),
        ("binary", b"\xff\x00\n" * 5, "not UTF-8"),
        ("UTF-16", "\n".join(a_session().lines).encode("utf-16"), "not UTF-8"),
        ("another version", b'{"v":9,"kind":"x"}\n', "not a transcript of claude"),
        ("deep", b'{"type":' + b"[" * 100_000 + b"\n", "not a transcript"),
    ],
)
def test_other_files_are_named(tmp_path: Path, name: str, content: bytes, why: str) -> None:
    bad = tmp_path / f"{name}.jsonl"
    bad.write_bytes(content)
    said: list[str] = []
    receipt = capture(bad, a_session().write(tmp_path / "good.jsonl"), said=said)
    assert receipt.events == OF_ALL and receipt.failed == bool(why)
    assert len(said) == bool(why) and all(why in line and "\n" not in line for line in said)
    said.clear()
    assert capture(tmp_path, said=said).failed == 0  # files of a folder do not fail


def test_broken_lines_are_counted(tmp_path: Path) -> None:
    session = a_session()
    good = session.lines
    broken = ['{"type":"user","mess', "\udcff\udcfe", "\0{\0}\0"]
    new = ['{"type":"wholly-new\\ud83d","x":1}', "[1]", good[0][:40]]
    lines = [*good[:2], *broken, *good[2:], *new]
    session.write(tmp_path / "b.jsonl")
    file = tmp_path / "a\udcff.jsonl"
    file.write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))
    receipt = capture(file)
    assert receipt.events == OF_ALL == Counter(kind for kind, _ in spans())
    assert receipt.skipped == {"broken": 4, "wholly-new?": 1}
    assert [capture(tmp_path).unchanged for _ in range(2)] == [0, 1]


def test_endless_line_in_bounded_memory(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    session = a_session()
    session.write(file, 4)
    os.truncate(file, file.stat().st_size + 8 * LONGEST)  # a sparse file
    with file.open("ab") as opened:
        opened.write(b"\n" + "\n".join(session.lines[4:]).encode() + b"\n")
    tracemalloc.start()
    try:
        receipt = capture(file)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert receipt.events == OF_ALL and receipt.skipped == {"too long": 1}
    assert most < 3 * LONGEST


def test_capture_continues_after_a_full_disk(tmp_path: Path, log: Path) -> None:
    sessions = [
        a_session(f"5e550000-0000-4000-8000-{number:012}").write(tmp_path / f"in/{number}.jsonl")
        for number in range(20)
    ]
    capture(sessions[0])
    whole = log.read_bytes()
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 5_000,) * 2)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        try:
            capture(tmp_path / "in")
        except LoreError as error:
            os._exit(7 if ".jsonl: File too large: make room" in str(error) else 8)
        os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert log.read_bytes().endswith(b"\n")  # no partial write
    capture(tmp_path / "in")
    assert len(spans()) == 20 * 9


def test_no_secret_is_written_at_a_cut(tmp_path: Path, log: Path) -> None:
    session = ClaudeSession()
    rows = [(name, text, secret) for name, text, secret in planted() if "bare" not in name]
    for _, text, _ in some(rows, 3):
        session.user(text)
        session.tool("Bash", f"Exit code 1\nerror: {text}", failed=True, command=text)
        session.user("x" * 200 + " y" * 140 + " " + text)  # the 500th letter is within it
    capture(session.write(tmp_path / "a.jsonl"))
    state = b"".join(path.read_bytes() for path in log.parent.rglob("*") if path.is_file())
    assert [name for name, _, secret in rows if secret[:20].encode() in state] == []
