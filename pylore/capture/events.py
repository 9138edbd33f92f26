"""Read the log of events by time and kind, find the latest sessions, and sweep the log."""

from __future__ import annotations

import os
from functools import cache
from time import gmtime, strftime, time
from typing import TYPE_CHECKING

from ..core.errors import LoreError
from ..core.json import lines_of, parse_object
from ..system.files import first_line, git_folder
from .event_log import VERSION, append_event, event_file, event_files

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from typing import Any

KINDS = ("prompt", "say", "tool", "edit", "search", "commit", "session", "question")
_TEXTS = ("id", "t", "src", "session", "span", "kind", "name", "text", "err", "ref")
_TYPES = {"v": int, "turn": int, "ok": bool, "files": list, **dict.fromkeys(_TEXTS, str)}
MOST_TEXT, MOST_ERROR = 500, 200
MOST_LINE = 1_000_000
"""Maximum bytes of a line; longer lines are skipped."""
MOST_EVENTS = 200_000_000
"""Maximum bytes of the log."""
ID_DIGITS = 16
_ID_BEGINS, _ID_WITHIN = b'"id":"', 40
_TAIL = 4 << 20
"""Maximum bytes to read from the end of the log, since a prompt waits."""
_MARKS = (b'"kind":"edit"', b'"kind":"session"', b'"kind":"prompt"')
_BRANCH = "ref: refs/heads/"


def read_events(
    *, since: str = "", session: str = "", kinds: Collection[str] = KINDS
) -> Iterator[dict[str, Any]]:
    """Yield the events of the log in the order of writing.

    Skips half lines, other objects, later versions, and repeated ids.

    Args:
        since: only events at this time or later.
        session: only this session.
        kinds: only these kinds.
    """
    sign = session.encode() if session.isascii() and session.isprintable() else b""
    seen: set[str] = set()
    for line in _lines():
        event = parse_event(line) if sign in line else None
        if (
            event is not None
            and event["t"] >= since
            and event["kind"] in kinds
            and session in ("", event.get("session"))
            and event.get("id") not in seen
        ):
            seen.update(filter(None, [event.get("id")]))
            yield event


def parse_event(line: bytes) -> dict[str, Any] | None:
    """Return the known fields of the event on a line of the log; None for any other line."""
    try:
        row = parse_object(line, MOST_LINE)
    except LoreError:
        return None
    event = {name: row[name] for name in row if name in _TYPES and row[name] is not None}
    is_right = all(isinstance(value, _TYPES[name]) for name, value in event.items())
    if not is_right or not all(isinstance(path, str) for path in event.get("files", ())):
        return None
    is_known = event.get("v", VERSION + 1) <= VERSION and event.get("kind") in KINDS
    return event if is_known and event.get("t") else None


def new_event(**fields: Any) -> dict[str, Any]:
    """Return an event without empty fields."""
    given = {name: value for name, value in fields.items() if value not in (None, "", [])}
    return {"v": VERSION, **given}


def shortened(event: dict[str, Any]) -> None:
    """Cut the texts of an event to their maximum, in place."""
    for name, most in (("text", MOST_TEXT), ("err", MOST_ERROR)):
        if len(event.get(name) or "") > most:
            event[name] = event[name][: most - 1].rstrip() + "…"


def known_ids() -> set[str]:
    """Return the ids of the events of the log."""
    found: set[str] = set()
    for line in _lines():
        at = line.find(_ID_BEGINS, 0, _ID_WITHIN)
        if at >= 0:
            found.add(line[at + len(_ID_BEGINS) :][:ID_DIGITS].decode("ascii", "replace"))
    return found


def _lines() -> Iterator[bytes]:
    for path in event_files():
        try:
            with open(path, "rb") as file:
                yield from lines_of(file, MOST_LINE)
        except FileNotFoundError:
            continue  # deleted by a concurrent sweep


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


# --- sessions


class RecentSession:
    """A session: folder, branch, last prompt, and edited files in order."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.folder = self.branch = self.prompt = self.last = ""
        self.files: dict[str, None] = {}


def log_start(agent: str, session: str, here: str, days: int) -> None:
    """Log the start of a session unless ``days`` is 0, and sweep the log.

    Raise OSError if the log cannot be written.
    """
    if days:
        append_event(agent, session, "session", here, [], text=branch_of(here))
    sweep_events(days)


def recent_sessions(project: str) -> list[RecentSession]:
    """Return the sessions of a project that edited files, the latest first."""
    found: dict[str, RecentSession] = {}
    for line in _end_of_log():
        event = parse_event(line) if any(mark in line for mark in _MARKS) else None
        if not event or not event.get("session"):
            continue
        one = found.setdefault(event["session"], RecentSession(event["session"]))
        one.last = max(one.last, event["t"])
        if event["kind"] == "session":
            one.folder = event.get("name") or one.folder
            one.branch = event.get("text") or one.branch
        elif event["kind"] == "prompt":
            one.prompt = event.get("text") or one.prompt
        elif event.get("ok") is not False:
            for path in [one for one in event.get("files", ()) if one[:1] != "/"]:
                one.files.pop(path, None)
                one.files[path] = None
    is_ours = _folders_of(project)
    sessions = [one for one in found.values() if one.files and is_ours(one.folder)]
    return sorted(sessions, key=lambda one: one.last)[::-1]


def project_events(project: str, since: str = "") -> Iterator[dict[str, Any]]:
    """Yield the events of a project's sessions, since a time, in their order."""
    sessions = sessions_of(project)
    for event in read_events(since=since) if sessions else ():
        if event.get("session") in sessions:
            yield event


def sessions_of(project: str) -> set[str]:
    """Return the sessions in a project's folder, or in a worktree of the same repository."""
    is_ours = _folders_of(project)
    begun = read_events(kinds=("session",))
    return {one["session"] for one in begun if one.get("session") and is_ours(one.get("name", ""))}


def _folders_of(project: str) -> Callable[[str], bool]:
    """Return a test for the folders of a project, worktrees of the repository included."""
    place = os.path.realpath(project)
    repository = git_folder(place)

    @cache
    def is_ours(folder: str) -> bool:
        here = os.path.realpath(folder)
        shares = bool(repository) and git_folder(here) == repository
        return bool(folder) and (here == place or shares)

    return is_ours


def branch_of(folder: str) -> str:
    """Return the branch that is checked out in a worktree; empty if unknown."""
    place = os.path.join(folder, ".git")
    if os.path.isfile(place):
        place = os.path.join(folder, first_line(place).removeprefix("gitdir: "))
    head = first_line(os.path.join(place, "HEAD"))
    return head.removeprefix(_BRANCH) if head.startswith(_BRANCH) else ""


def _end_of_log() -> Iterator[bytes]:
    """Yield the last lines of the log in order; the first may be incomplete."""
    parts: list[bytes] = []
    room = _TAIL
    for path in reversed(event_files()):
        if room <= 0:
            break
        try:
            with open(path, "rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - room))
                parts.append(file.read(room))
        except OSError:
            continue  # deleted by a concurrent sweep
        room -= len(parts[-1])
    for part in reversed(parts):
        yield from part.split(b"\n")
