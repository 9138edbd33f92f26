"""Transcripts of coding agents, read as events: a module an agent."""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import NamedTuple

from . import claude, codex
from .event_log import VERSION
from .events import FIELDS, KINDS, is_right
from .recorder import AHEAD, MOST_FILES, event_id, moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class EventLines:
    """Reads such lines; ``skipped`` counts those that are none, by kind."""

    source = "jsonl"

    def __init__(self, path: str) -> None:
        self.skipped: Counter[str] = Counter()
        self.known = 0
        self.unfinished = 0
        self._path = path
        self._session = os.path.splitext(os.path.basename(path))[0]
        self.events: list[dict[str, Any]] = []

    def read(self, line: bytes, number: int) -> None:
        """One line.

        Raises:
            ValueError: it is no JSON object, or its fields are not what they should be.
        """
        event = json.loads(line)
        if not isinstance(event, dict):
            raise ValueError("not an object")
        kind, version = event.get("kind"), event.get("v", VERSION)
        if kind not in KINDS or not isinstance(version, int) or version > VERSION:
            name = kind if kind not in KINDS else f"version {version}"
            self._skip(name[:40] if isinstance(name, str) else "no kind")
            return
        event = {name: event[name] for name in FIELDS if event.get(name) is not None}
        if not all(is_right(name, value) for name, value in event.items()):
            raise ValueError("a field of another type")
        for name in ("text", "err"):
            if name in event:
                event[name] = event[name][:AHEAD]
        if "files" in event:
            event["files"] = event["files"][:MOST_FILES]
        ref = event.get("ref", f"{self._path}#{number}")
        session = event.get("session", self._session)
        self.events.append({
            **event, "v": VERSION, "id": event_id(session, kind, event.get("span", ref), number),
            "t": moment(event.get("t", "")), "src": event.get("src", self.source),
            "session": session, "ref": ref,
        })  # fmt: skip
        self.known += 1

    def _skip(self, kind: str) -> None:
        self.skipped[kind] += 1


if TYPE_CHECKING:
    from .recorder import Reader


class Kind(NamedTuple):
    """A kind of transcripts: how one is read, and where its agent keeps them."""

    name: str
    reader: Callable[[str], Reader]
    """From the path of a transcript."""
    home: tuple[str, str, str] | None = None
    """The variable that names the agent's folder, the usual one in HOME, the one in it."""

    @property
    def folder(self) -> str:
        """Where its agent keeps them; empty where there is no agent."""
        if self.home is None:
            return ""
        variable, usual, below = self.home
        base = os.environ.get(variable) or os.path.join(os.path.expanduser("~"), usual)
        return os.path.join(base, below)


TRANSCRIPTS = {
    kind.name: kind
    for kind in (
        Kind("claude", claude.Claude, ("CLAUDE_CONFIG_DIR", ".claude", "projects")),
        Kind("codex", codex.Codex, ("CODEX_HOME", ".codex", "sessions")),
        Kind("jsonl", EventLines),
    )
}  # fmt: skip
