"""Test the log of events: concurrent writers, sweeps, and malformed lines."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from pylore.capture.event_log import append, append_event, event_files, event_line
from pylore.capture.events import MOST_EVENTS, read_events, sweep_events

DAY = 86_400
LINES = 150


def test_eight_writers_lose_no_line(log: Path) -> None:
    writers = []
    for writer in range(8):
        child = os.fork()
        if not child:
            for number in range(LINES):
                append_event("test", str(writer), "tool", f"{number}", ["a.py"], ok=True)
            os._exit(0)
        writers.append(child)
    seen: set[tuple[str, str]] = set()
    while writers:
        seen |= {(event["session"], event["name"]) for event in read_events()}
        sweep_events(1)
        writers = [child for child in writers if not os.waitpid(child, os.WNOHANG)[0]]
    found = [(event["session"], event["name"]) for event in read_events()]
    assert len(found) == len({*found}) == 8 * LINES and seen <= {*found}
    for writer in range(8):
        assert [int(name) for session, name in found if session == str(writer)] == [*range(LINES)]


def test_sweep_deletes_old_days(log: Path) -> None:
    for days in (20, 15, 2, 0):
        append_event("test", "s", "tool", f"{days} days", [], ok=True)
        log.rename(
            log.with_name(time.strftime("%Y-%m-%d.jsonl", time.gmtime(time.time() - days * DAY)))
        )
    sweep_events(14)
    assert [event["name"] for event in read_events()] == ["2 days", "0 days"]
    with Path(event_files()[0]).open("ab") as file:
        file.truncate(MOST_EVENTS + 1)
    sweep_events(14)
    assert [event["name"] for event in read_events()] == ["0 days"]


def test_repeated_id_is_read_once(log: Path) -> None:
    event = {"v": 1, "id": "0123456789abcdef", "t": "2026-11-01T10:00:00Z", "kind": "say"}
    append(event_line(event) * 2 + event_line({**event, "id": "fedcba9876543210"}))
    assert len([*read_events()]) == 2


def test_half_a_line_is_skipped(log: Path) -> None:
    append_event("test", "s", "tool", "one", [], ok=True)
    with log.open("ab") as file:
        file.write(b'{"v":1,"t":"2026-11-01T10:0')
    assert [event["name"] for event in read_events()] == ["one"]
    append_event("test", "s", "tool", "two", [], ok=True)
    with log.open("ab") as file:
        file.write(b'\xff\xfe\n[]\n{"v":2,"t":"x","kind":"say"}\n{"v":1,"t":5,"kind":"say"}\n')
        file.write(b'{"v":1,"t":"x","kind":"say","files":[1]}\n' + b"x" * 3_000_000 + b"\n")
    append_event("test", "s", "tool", "three", [], ok=True)
    assert [event["name"] for event in read_events()] == ["one", "two", "three"]


def test_append_imports_little() -> None:
    import subprocess

    code = (
        "import sys; from pylore.capture import event_log; "
        "print([name for name in ('json', 're', 'typing') if name in sys.modules])"
    )
    root = Path(__file__).resolve().parent.parent.parent
    out = subprocess.check_output([sys.executable, "-S", "-c", code], cwd=root, text=True)
    assert out == "[]\n"
