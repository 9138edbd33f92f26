"""Read the log of events by time and kind, and trim it."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from time import gmtime, strftime, time
from typing import NamedTuple

from ..core.errors import LoreError
from ..core.json import dumps, parse_object
from .event_log import VERSION, event_file, event_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from typing import IO, Any


KINDS = ("prompt", "say", "tool", "edit", "search", "commit", "session", "question")
FIELDS = (
    "v", "id", "t", "src", "session", "turn", "span", "kind", "name", "ok", "files", "text", "err",
    "ref",
)  # fmt: skip
MOST_TEXT = 500
MOST_ERROR = 200
MOST_FILES = 20
MOST_LINE = 1_000_000
"""Maximum bytes of a line; longer lines are skipped."""
ID_DIGITS = 16
_ID_BEGINS, _ID_WITHIN = b'"id":"', 40

_TEXTS = frozenset(FIELDS) - {"v", "turn", "ok", "files"}


def read_events(
    path: str | None = None,
    *,
    since: str = "",
    session: str = "",
    kinds: Collection[str] = (),
    files: Collection[str] = (),
) -> Iterator[dict[str, Any]]:
    """Yield the events of the log, or of one file, in the order they were written.

    Skips half lines, lines that are no event, later versions, and repeated ids.

    Args:
        path: a file of events; the whole log unless given.
        since: only what happened at this time or later, as ``core.times`` writes times.
        session: only this session's.
        kinds: only these kinds; all of them where empty.
        files: only what has to do with a file below one of these paths, or like one of these
            globs.
    """
    sign = session.encode() if session.isascii() and session.isprintable() else b""
    seen: set[str] = set()
    for line in _lines(path):
        if sign and sign not in line:
            continue
        event = parse_event(line)
        if event is not None and _is_wanted(event, since, session, kinds, files):
            if event.get("id") in seen:
                continue
            if event.get("id"):
                seen.add(event["id"])
            yield event


def _is_wanted(
    event: dict[str, Any], since: str, session: str, kinds: Collection[str],
    files: Collection[str],
) -> bool:  # fmt: skip
    """Return whether an event is among those that somebody asks for, as ``read_events`` has it."""
    if kinds and event["kind"] not in kinds:
        return False
    if (since and event["t"] < since) or (session and event.get("session") != session):
        return False
    return not files or is_about(event.get("files") or (), files)


def is_about(paths: Iterable[str], wanted: Collection[str]) -> bool:
    """Return whether one of the paths is below one of those wanted, or like one of those globs.

    >>> is_about(["src/auth/login.py"], ["src/auth"]), is_about(["src/a.py"], ["*.js"])
    (True, False)
    """
    return any(
        path == one or path.startswith(one.rstrip("/") + "/") or fnmatchcase(path, one)
        for path in paths
        for one in wanted
    )


def parse_event(line: bytes) -> dict[str, Any] | None:
    """Return the event on a line of the log; None where there is none."""
    try:
        event = parse_object(line, MOST_LINE)
    except LoreError:
        return None
    version = event.get("v")
    if not isinstance(version, int) or version > VERSION or event.get("kind") not in KINDS:
        return None
    if not event.get("t") or not all(is_right(name, event[name]) for name in event):
        return None
    return event


def is_right(name: str, value: Any) -> bool:
    """Return whether a field of an event has a value of its type."""
    if value is None:
        return name not in ("t", "kind")
    if name in _TEXTS:
        return isinstance(value, str)
    if name == "turn":
        return isinstance(value, int)
    if name == "files":
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return True


def event_line(event: dict[str, Any]) -> bytes:
    """Return an event as a line of the log."""
    row = {name: event[name] for name in FIELDS if name in event}
    return (dumps(row) + "\n").encode("utf-8", "backslashreplace")


def shortened(event: dict[str, Any]) -> None:
    """Cuts the texts of an event to what the log takes, in place."""
    for name, most in (("text", MOST_TEXT), ("err", MOST_ERROR)):
        if len(event.get(name) or "") > most:
            event[name] = event[name][: most - 1].rstrip() + "…"


def _lines(path: str | None) -> Iterator[bytes]:
    for name in event_files() if path is None else [path]:
        try:
            with open(name, "rb") as file:
                yield from filter(None, whole_lines(file, MOST_LINE))
        except FileNotFoundError:
            if path is not None:
                raise


def known_ids() -> set[str]:
    """Return the ids of the events of the log."""
    found: set[str] = set()
    for line in _lines(None):
        at = line.find(_ID_BEGINS, 0, _ID_WITHIN)
        if at >= 0:
            found.add(line[at + len(_ID_BEGINS) :][:ID_DIGITS].decode("ascii", "replace"))
    return found


def whole_lines(file: IO[bytes], longest: int) -> Iterator[bytes]:
    """Yield the lines of a file; an empty text for each line of more than ``longest`` bytes."""
    while line := file.readline(longest):
        if line.endswith(b"\n") or len(line) < longest:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(1 << 20)
        yield b""


_DAY = 86_400


class Swept(NamedTuple):
    """A file of events that is dropped, or due to be."""

    file: str
    size: int
    """Bytes."""
    why: str


MOST_EVENTS = 200_000_000
"""Maximum bytes of the log of events."""


def sweep_events(days: int, *, dry_run: bool = False) -> list[Swept]:
    """Delete files older than ``days``, then the oldest until ``MOST_EVENTS`` bytes are left.

    Returns the files that were deleted, or are due. Today's file stays.

    Raises:
        OSError: a file cannot be deleted.
    """
    due = [*_due(days)]
    for one in () if dry_run else due:
        try:
            os.unlink(one.file)
        except FileNotFoundError:
            continue  # another sweep was faster
    return due


def _due(days: int) -> Iterator[Swept]:
    oldest = strftime("%Y-%m-%d", gmtime(time() - days * _DAY))
    files = [path for path in event_files() if path < event_file()]
    sizes = {path: os.path.getsize(path) for path in (*files, event_file()) if os.path.exists(path)}
    left = sum(sizes.values())
    for path in files:
        is_old = os.path.basename(path)[:10] < oldest
        if is_old or left > MOST_EVENTS:
            left -= sizes.get(path, 0)
            yield Swept(path, sizes.get(path, 0), "age" if is_old else "size")
