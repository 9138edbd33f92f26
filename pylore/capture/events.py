"""Read the log of events by time and kind, and sweep it."""

from __future__ import annotations

import os
from time import gmtime, strftime, time
from typing import TYPE_CHECKING

from ..core.errors import LoreError
from ..core.json import dumps, parse_object
from .event_log import VERSION, event_file, event_files

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from typing import IO, Any

KINDS = ("prompt", "say", "tool", "edit", "search", "commit", "session", "question")
FIELDS = (
    "v",
    "id",
    "t",
    "src",
    "session",
    "turn",
    "span",
    "kind",
    "name",
    "ok",
    "files",
    "text",
    "err",
    "ref",
)
MOST_TEXT, MOST_ERROR = 500, 200
MOST_LINE = 1_000_000
"""Maximum bytes of a line; longer lines are skipped."""
MOST_EVENTS = 200_000_000
"""Maximum bytes of the log."""
ID_DIGITS = 16
_ID_BEGINS, _ID_WITHIN = b'"id":"', 40
_TYPES = {"v": int, "turn": int, "ok": object, "files": list}
"""Types of fields; texts otherwise."""


def read_events(
    path: str | None = None,
    *,
    since: str = "",
    session: str = "",
    kinds: Collection[str] = (),
) -> Iterator[dict[str, Any]]:
    """Yield the events of the log, or of a file, in the order of writing.

    Skips half lines, other objects, later versions, and repeated ids.

    Args:
        path: a file of events; the log by default.
        since: only events at this time or later.
        session: only this session.
        kinds: only these kinds; all if empty.
    """
    sign = session.encode() if session.isascii() and session.isprintable() else b""
    seen: set[str] = set()
    for line in _lines(path):
        event = parse_event(line) if sign in line else None
        if (
            event is not None
            and event["t"] >= since
            and (not kinds or event["kind"] in kinds)
            and (not session or event.get("session") == session)
            and event.get("id") not in seen
        ):
            seen.update(filter(None, [event.get("id")]))
            yield event


def parse_event(line: bytes) -> dict[str, Any] | None:
    """Return the event on a line of the log; None for any other line."""
    try:
        event = parse_object(line, MOST_LINE)
    except LoreError:
        return None
    version = event.get("v")
    if not isinstance(version, int) or version > VERSION or event.get("kind") not in KINDS:
        return None
    fields = {name: event[name] for name in FIELDS if event.get(name) is not None}
    is_right = all(isinstance(fields[name], _TYPES.get(name, str)) for name in fields)
    has_files = all(isinstance(path, str) for path in event.get("files") or ())
    return event if event.get("t") and is_right and has_files else None


def text(fields: Mapping[str, Any], *names: str) -> str:
    """Return the first field with a text; empty if all are missing."""
    return next(
        (fields[name] for name in names if isinstance(fields.get(name), str) and fields[name]), ""
    )


def event_line(event: dict[str, Any]) -> bytes:
    """Return an event as a line of the log."""
    row = {name: event[name] for name in FIELDS if name in event}
    return (dumps(row) + "\n").encode("utf-8", "backslashreplace")


def shortened(event: dict[str, Any]) -> None:
    """Cut the texts of an event to their maximum, in place."""
    for name, most in (("text", MOST_TEXT), ("err", MOST_ERROR)):
        if len(event.get(name) or "") > most:
            event[name] = event[name][: most - 1].rstrip() + "…"


def known_ids() -> set[str]:
    """Return the ids of the events of the log."""
    found: set[str] = set()
    for line in _lines(None):
        at = line.find(_ID_BEGINS, 0, _ID_WITHIN)
        if at >= 0:
            found.add(line[at + len(_ID_BEGINS) :][:ID_DIGITS].decode("ascii", "replace"))
    return found


def _lines(path: str | None) -> Iterator[bytes]:
    for name in event_files() if path is None else [path]:
        try:
            with open(name, "rb") as file:
                yield from filter(None, whole_lines(file, MOST_LINE))
        except FileNotFoundError:
            if path is not None:
                raise


def whole_lines(file: IO[bytes], longest: int) -> Iterator[bytes]:
    """Yield the lines of a file; an empty text for each line of more than ``longest`` bytes."""
    while line := file.readline(longest):
        if line.endswith(b"\n") or len(line) < longest:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(1 << 20)
        yield b""


def sweep_events(days: int) -> None:
    """Delete files older than ``days``, then the oldest above ``MOST_EVENTS`` bytes.

    Today's file is kept. Raise OSError if a file cannot be deleted.
    """
    oldest = strftime("%Y-%m-%d", gmtime(time() - days * 86_400))
    today = event_file()
    left = 0
    for path in reversed(event_files()):
        try:
            left += os.path.getsize(path)
            if path < today and (os.path.basename(path)[:10] < oldest or left > MOST_EVENTS):
                os.unlink(path)
        except FileNotFoundError:
            continue  # deleted by a concurrent sweep
