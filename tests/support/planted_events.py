"""A log of events, in the format of capture, with sessions that have lessons."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pylore.capture.event_log import event_file

RULE = "Always sign the tokens with the rotating key, never with the static one"
CAUSE = (
    "the token cache was shared between threads, so src/auth.py gave one user the token of another."
)
ERROR = "error: cannot open shared socket {}: address already bound by daemon"


class Log:
    """The log of whoever runs the test; every session is in the folder ``project``."""

    def __init__(self, project: Path | str) -> None:
        self._project = str(project)
        self._count = 0
        Path(event_file()).parent.mkdir(parents=True, exist_ok=True)

    def session(self, name: str, day: str, *events: tuple[str, dict[str, Any]]) -> None:
        """A session of this day (``2026-11-20``) with these ``(kind, fields)``."""
        rows = [("session", {"name": self._project}), *events]
        with open(event_file(), "a", encoding="utf-8") as file:
            for minute, (kind, fields) in enumerate(rows):
                self._count += 1
                row = {
                    "v": 1,
                    "t": f"{day}T10:{minute:02}:00Z",
                    "src": "claude",
                    "session": name,
                    "kind": kind,
                    "ref": f"{name}.jsonl#{self._count}",
                    **fields,
                }
                file.write(json.dumps(row) + "\n")


def prompt(text: str) -> tuple[str, dict[str, Any]]:
    """Return a prompt of the user."""
    return "prompt", {"text": text, "turn": 1}


def failure(command: str, error: str) -> tuple[str, dict[str, Any]]:
    """A command that failed."""
    return "tool", {"name": "Bash", "text": command, "ok": False, "err": f"Exit code 2\n{error}"}


def plant(log: Log, commit: str = "", *, sessions: int = 2) -> None:
    """Log a rule that is repeated in two sessions, and a cause that a session found."""
    edit = ("edit", {"name": "Edit", "files": ["src/auth.py"], "ok": True})
    said = ("say", {"text": f"Root cause: {CAUSE}", "turn": 1})
    made = ("commit", {"name": commit, "text": "Mend it", "files": ["src/auth.py"], "ok": True})
    log.session("s1", "2026-11-20", prompt(RULE), edit, said, *([made] * bool(commit)))
    for number in range(1, sessions):
        log.session(f"s{number + 1}", f"2026-11-{20 + number}", prompt(f"{RULE}!"))
