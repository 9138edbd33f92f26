"""What all transcripts have in common: turns, calls and results, and how they become events."""

from __future__ import annotations

import os
import re
from calendar import timegm
from datetime import datetime, timezone

from ...core.times import now
from ..event_log import VERSION
from .pieces import AHEAD, pieces
from .shell import commit_of, commits, runs_lore, why_it_failed
from .shown import Shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

MOST_FILES = 20
_LONGEST_NAME = 200
_OF_LORE = re.compile(r"(?:^|__|\.|/)lore(?:__|\.|/)")
_NUMBERS = ((0, 4), (5, 2), (8, 2), (11, 2), (14, 2), (17, 2))
"""Where the numbers of a time stand, and how long they are."""
_ZONE_OF_MOST = re.compile(r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z\Z")


class ToolCall:
    """One call of a tool, until its result is seen."""

    __slots__ = ("files", "kind", "line", "name", "of", "span", "t", "text", "when")

    def __init__(
        self, span: str, of: str, when: str, line: int, kind: str, name: str, text: str = "",
        files: Iterable[str] = (),
    ) -> None:  # fmt: skip
        self.span = span
        self.of = of
        self.when = when
        self.t = moment(when)
        self.line = line
        self.kind = kind
        self.name = name
        self.text = text
        self.files = [*files]


class Recorder:
    """Makes events of what happens in one session, in order; ``taken`` hands them over.

    Texts of these events have up to ``AHEAD`` characters: they are cut when secrets are out.
    """

    def __init__(self, source: str, path: str) -> None:
        self.source = source
        self.path = path
        self.session = ""
        self.project = ""
        self.began = ""
        self.turn = 0
        self.calls: dict[str, ToolCall] = {}
        self.shown = Shown()
        self._events: list[dict[str, Any]] = []

    def taken(self) -> list[dict[str, Any]]:
        """The events since this was last asked."""
        events, self._events = self._events, []
        return events

    def begin(self, session: str, project: str, title: str, when: str) -> None:
        """A session, and the folder of its project."""
        self.session = session
        self.project = project.rstrip("/")
        self.began = when
        self._add("session", moment(when), 0, name=project[:_LONGEST_NAME], text=title)

    def prompt(self, text: str, when: str, line: int, span: str, parent: str = "") -> None:
        """What a person has typed."""
        text = self.shown.without(text)
        kept = pieces(text)
        if not kept:
            return
        self.turn += 1
        for piece in kept:
            self._add("prompt", moment(when), line, span=span, parent=parent, text=piece)

    def say(self, text: str, when: str, line: int, span: str, parent: str = "") -> None:
        """What the model has said to the person."""
        for piece in pieces(self.shown.without(text)):
            self._add("say", moment(when), line, span=span, parent=parent, text=piece)

    def call(self, call: ToolCall) -> None:
        """A tool is called."""
        self.calls[call.span] = call

    def result(
        self, span: str, when: str, output: str, *, ok: bool, refused: bool = False,
        ms: int | None = None,
    ) -> None:  # fmt: skip
        """What a call came to; one whose call was not seen is passed over."""
        call = self.calls.pop(span, None)
        if call is None:
            return
        if runs_lore(call.text) or _OF_LORE.search(call.name):
            self.shown.add(output)
        if ms is None:
            ms = _milliseconds(call.when, when)
        if ok and call.kind == "tool" and commits(call.text):
            hash, message = commit_of(call.text, output)
            self._add("commit", call.t, call.line, span=span, parent=call.of, name=hash, ok=True,
                      ms=ms, text=message[:AHEAD])  # fmt: skip
            return
        error = "" if ok else "refused" if refused else why_it_failed(output)
        self._add(call.kind, call.t, call.line, span=span, parent=call.of,
                  name=call.name[:_LONGEST_NAME], ok=ok, ms=ms, files=self.below(call.files),
                  text=call.text[:AHEAD], err=error)  # fmt: skip

    def below(self, paths: Iterable[str]) -> list[str]:
        """Paths below the project, from there; the others are left out."""
        found = []
        for path in paths:
            if path.startswith("/"):
                if not self.project or not path.startswith(self.project + "/"):
                    continue
                path = path[len(self.project) + 1 :]
            path = os.path.normpath(path) if path else ""
            if path not in ("", ".", "..") and not path.startswith("../") and "\0" not in path:
                found.append(path)
        return [*dict.fromkeys(found)][:MOST_FILES]

    def _add(self, kind: str, t: str, line: int, **fields: Any) -> None:
        event = {
            "v": VERSION, "t": t, "src": self.source, "session": self.session,
            "turn": self.turn or None, "span": fields.pop("span", None),
            "parent": fields.pop("parent", None), "kind": kind, **fields,
            "ref": f"{self.path}#{line}" if line else self.path,
        }  # fmt: skip
        self._events.append(
            {name: value for name, value in event.items() if value not in (None, "", [])}
        )


def moment(when: str) -> str:
    """A time of a transcript as lore writes times; now, where it is none.

    >>> moment("2026-01-31T12:00:00.250Z"), moment("2026-01-31T13:00:00+01:00")
    ('2026-01-31T12:00:00Z', '2026-01-31T12:00:00Z')
    """
    if _ZONE_OF_MOST.match(when):
        return when[:19] + "Z"
    try:
        then = datetime.fromisoformat(when.replace("Z", "+00:00")).astimezone(timezone.utc)
    except (ValueError, OverflowError):
        return now()
    return then.strftime("%Y-%m-%dT%H:%M:%SZ")


def _milliseconds(start: str, end: str) -> int | None:
    if not (_ZONE_OF_MOST.match(start) and _ZONE_OF_MOST.match(end)):
        return None
    return max(0, _since_epoch(end) - _since_epoch(start))


def _since_epoch(when: str) -> int:
    numbers = [int(when[at : at + size]) for at, size in _NUMBERS]
    return timegm((*numbers, 0, 0, 0)) * 1000 + int(f"{when[20:-1]:0<3}"[:3] or 0)
