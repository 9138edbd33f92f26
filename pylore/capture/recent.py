"""The latest sessions of a project, from the end of the log of events: who edited what, where."""

from __future__ import annotations

import os

from .event_log import append_event, event_files
from .events import parse_event, read_events, sweep_events

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


_TAIL = 4 << 20
"""Bytes of the log that are looked at: a prompt waits for it. Events of a live session have some
200 bytes, and of captured ones only those are parsed that are looked for."""

_MARKS = (b'"kind":"edit"', b'"kind":"session"', b'"kind":"prompt"')
_LONGEST = 4096
"""Bytes of a ``.git`` that is a file, and of a HEAD."""

_BRANCH = "ref: refs/heads/"


class RecentSession:
    """One session: its ``folder``, its ``branch``, the ``files`` that it edited, from there, the
    one that it edited last at the end, and its last ``prompt``, as far as that is noted."""

    __slots__ = ("branch", "files", "folder", "last", "name", "prompt")

    def __init__(self, name: str) -> None:
        self.name = name
        self.folder = self.branch = self.prompt = self.last = ""
        self.files: dict[str, None] = {}


def log_start(agent: str, session: str, here: str, days: int) -> None:
    """Log the start of a session unless ``days`` is 0, and sweep the log.

    Raises:
        OSError: the log cannot be written.
    """
    if days:
        append_event(agent, session, "session", here, [], text=branch_of(here))
    sweep_events(days)


def recent_sessions(project: str) -> list[RecentSession]:
    """Return the sessions of a project that edited files, the one that went on last first."""
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
    """Return the sessions whose folder is that of a project, or a work tree of its repository."""
    ours = _Ours(project)
    return {name for name, folder in _begun() if ours.has(folder)}


def _begun() -> Iterator[tuple[str, str]]:
    """Yield the sessions of the log, each with its folder."""
    for event in read_events(kinds=("session",)):
        if event.get("session"):
            yield event["session"], event.get("name") or ""


class _Ours:
    """Which folders are that of a project, or of another work tree of its repository."""

    def __init__(self, project: str) -> None:
        self._known = {"": False, project: True}
        self._place = os.path.realpath(project)
        self._repository = _repository(self._place)

    def has(self, folder: str) -> bool:
        if folder not in self._known:
            here = os.path.realpath(folder)
            self._known[folder] = here == self._place or (
                bool(self._repository) and self._repository == _repository(here)
            )
        return self._known[folder]


def branch_of(folder: str) -> str:
    """Return the branch that is checked out in a work tree; empty where there is none."""
    head = _read(os.path.join(_git_folder(folder), "HEAD")).strip()
    return head.removeprefix(_BRANCH) if head.startswith(_BRANCH) else ""


def _repository(folder: str) -> str:
    """Return the folder of the repository that a work tree belongs to; nothing where it is none."""
    own = os.path.realpath(_git_folder(folder)) if _git_folder(folder) else ""
    beside = os.path.dirname(own)
    return os.path.dirname(beside) if os.path.basename(beside) == "worktrees" else own


def _git_folder(folder: str) -> str:
    """Return what git keeps of one work tree: its ``.git``, or what that names."""
    place = os.path.join(folder, ".git")
    if os.path.isdir(place):
        return place
    key, _, path = _read(place).partition(":")
    return os.path.join(folder, path.strip()) if key == "gitdir" else ""


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_LONGEST)
    except OSError:
        return ""


def _end_of_log() -> Iterator[bytes]:
    """Yield the last lines of the log, in their order; the first may be half a line."""
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
