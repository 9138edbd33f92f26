"""Find the latest sessions of a project, and their edits, at the end of the log."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..system.projects import first_line, git_folder
from .event_log import append_event, event_files
from .events import parse_event, read_events, sweep_events

if TYPE_CHECKING:
    from collections.abc import Iterator


_TAIL = 4 << 20
"""Maximum bytes to read from the end of the log, since a prompt waits."""
_MARKS = (b'"kind":"edit"', b'"kind":"session"', b'"kind":"prompt"')
_BRANCH = "ref: refs/heads/"


class RecentSession:
    """A session: folder, branch, last prompt, and edited files in order."""

    __slots__ = ("branch", "files", "folder", "last", "name", "prompt")

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
        if not any(mark in line for mark in _MARKS):
            continue
        event = parse_event(line)
        name = event and event.get("session")
        if not event or not name:
            continue
        one = found.setdefault(name, RecentSession(name))
        one.last = max(one.last, event["t"])
        if event["kind"] == "session":
            one.folder = event.get("name") or one.folder
            one.branch = event.get("text") or one.branch
        elif event["kind"] == "prompt":
            one.prompt = event.get("text") or one.prompt
        elif event.get("ok") is not False:
            for path in event.get("files") or ():
                one.files.pop(path, None)
                one.files[path] = None
    ours = _Ours(project)
    sessions = [one for one in found.values() if one.files and ours.has(one.folder)]
    return sorted(sessions, key=lambda one: one.last)[::-1]


def sessions_of(project: str) -> set[str]:
    """Return the sessions in a project's folder, or in a worktree of the same repository."""
    ours = _Ours(project)
    begun = read_events(kinds=("session",))
    return {one["session"] for one in begun if one.get("session") and ours.has(one.get("name", ""))}


class _Ours:
    """The folders of a project, worktrees of the repository included."""

    def __init__(self, project: str) -> None:
        self._known = {"": False}
        self._place = os.path.realpath(project)
        self._repository = git_folder(self._place)

    def has(self, folder: str) -> bool:
        if folder not in self._known:
            here = os.path.realpath(folder)
            shares = bool(self._repository) and git_folder(here) == self._repository
            self._known[folder] = here == self._place or shares
        return self._known[folder]


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
            continue  # it was swept
        room -= len(parts[-1])
    for part in reversed(parts):
        yield from part.split(b"\n")
