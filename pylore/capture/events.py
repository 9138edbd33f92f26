"""The log of events as it is read: by time and kind, followed, and trimmed."""

from __future__ import annotations

import os
from calendar import timegm
from fnmatch import fnmatchcase
from time import gmtime, strptime, time
from typing import NamedTuple

from ..core.errors import LoreError
from ..core.json import dumps, parse_object
from .event_log import VERSION, event_file, lock, put_away, put_away_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from typing import IO, Any


KINDS = ("prompt", "say", "tool", "edit", "search", "commit", "session", "question")
FIELDS = (
    "v", "t", "src", "session", "turn", "span", "parent", "kind", "name", "ok", "ms", "files",
    "text", "err", "ref",
)  # fmt: skip
MOST_TEXT = 500
MOST_ERROR = 200
MOST_LINE = 1_000_000
"""Bytes of one line; a longer one is none of ours."""

_TEXTS = frozenset(("t", "src", "session", "span", "parent", "kind", "name", "text", "err", "ref"))
_NUMBERS = frozenset(("turn", "ms"))


def read_events(
    path: str | None = None,
    *,
    since: str = "",
    session: str = "",
    kinds: Collection[str] = (),
    files: Collection[str] = (),
) -> Iterator[dict[str, Any]]:
    """Yield the events of the log, or of one file, in the order they were written.

    Half a line, a line that is no event and one of a later version are passed over.

    Args:
        path: a file of events; the whole log unless given.
        since: only what happened at this time or later, as ``core.times`` writes times.
        session: only this session's.
        kinds: only these kinds; all of them where empty.
        files: only what has to do with a file below one of these paths, or like one of these
            globs.
    """
    sign = session.encode() if session.isascii() and session.isprintable() else b""
    for line in _lines(path):
        if sign and sign not in line:
            continue
        event = parse_event(line)
        if event is not None and _is_wanted(event, since, session, kinds, files):
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
    if name in _NUMBERS:
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
    if path is not None:
        with open(path, "rb") as file:
            yield from lines_of(file)
        return
    # What is appended to is opened first: it may be put away while the others are read.
    try:
        last = open(event_file(), "rb")  # noqa: SIM115 - closed below
    except FileNotFoundError:
        last = None
    mark = last and os.fstat(last.fileno()).st_ino
    for name in put_away_files():
        try:
            with open(name, "rb") as file:
                if os.fstat(file.fileno()).st_ino != mark:
                    yield from lines_of(file)
        except FileNotFoundError:
            continue  # it was swept
    if last is not None:
        with last:
            yield from lines_of(last)


def lines_of(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the whole lines of a file; of one that is too long nothing, whatever its length."""
    while line := file.readline(MOST_LINE):
        if line.endswith(b"\n") or len(line) < MOST_LINE:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(MOST_LINE)


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
    """Drop files whose last line was written more than ``days`` ago, then the oldest ones until
    all of them have at most ``MOST_EVENTS`` bytes; return the files that were dropped, or are due.

    The file that lines are appended to stays, unless nothing was appended to it for so long.

    Raises:
        OSError: a file cannot be deleted.
    """
    due = [*_due(days)]
    if not dry_run:
        for one in due:
            _drop(one.file)
    return due


def _due(days: int) -> Iterator[Swept]:
    oldest = (int(time()) // _DAY - days) * _DAY
    files = [(path, *_stand(path)) for path in [*put_away_files(), event_file()]]
    left = sum(size for _, size, _ in files)
    for path, size, written in files:
        if not size:
            continue
        why = ""
        if written < oldest:
            why = "age"
        elif left > MOST_EVENTS and path != event_file():
            why = "size"
        if why:
            left -= size
            yield Swept(path, size, why)


def _stand(path: str) -> tuple[int, int]:
    """Return a file's bytes, and when its last line was written: by its name, which a copy
    keeps."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return 0, 0
    try:
        day = timegm(strptime(os.path.basename(path)[:10], "%Y-%m-%d"))
    except ValueError:
        day = int(found.st_mtime)
    return found.st_size, day


def _drop(path: str) -> None:
    """Deletes a file, once nobody is appending to it; one that has grown since stays."""
    try:
        number = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        lock(number)
        found = os.fstat(number)
        if path == event_file():
            if gmtime(found.st_mtime)[:3] == gmtime()[:3] or not put_away(path, found):
                return
            for moved in reversed(put_away_files()):
                if os.stat(moved).st_ino == found.st_ino:
                    os.unlink(moved)
                    return
            return
        os.unlink(path)
    except FileNotFoundError:
        return  # another sweep was faster
    finally:
        os.close(number)
