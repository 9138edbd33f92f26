"""Which sessions belong to a project: those in its folder, and in a work tree of its repository."""

from __future__ import annotations

import os

from .events import read_events

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

ALL = "all"
"""In place of a folder: every project's."""

_LONGEST = 4096
"""Bytes of a ``.git`` that is a file."""


def project_events(project: str, since: str = "") -> Iterator[dict[str, Any]]:
    """The events of the sessions of a project, those of each session in their order.

    Args:
        project: its folder, or ``ALL``.
        since: only what happened at this time or later.
    """
    if project == ALL:
        yield from read_events(since=since)
        return
    sessions = sessions_of(project)
    for event in read_events(since=since) if sessions else ():
        if event.get("session") in sessions:
            yield event


def sessions_of(project: str) -> set[str]:
    """The sessions whose folder is that of a project, or a work tree of its repository."""
    belongs: dict[str, bool] = {}
    found = set()
    for event in read_events(kinds=("session",)):
        folder, session = event.get("name") or "", event.get("session") or ""
        if folder and folder not in belongs:
            belongs[folder] = _belongs(folder, project)
        if session and belongs.get(folder):
            found.add(session)
    return found


def _belongs(folder: str, project: str) -> bool:
    here, there = os.path.realpath(folder), os.path.realpath(project)
    if here == there:
        return True
    repository = _repository(here)
    return bool(repository) and repository == _repository(there)


def _repository(folder: str) -> str:
    """The folder of the repository that a work tree belongs to; nothing where it is none."""
    place = os.path.join(folder, ".git")
    if os.path.isdir(place):
        return os.path.realpath(place)
    try:
        with open(place, encoding="utf-8", errors="replace") as file:
            said = file.read(_LONGEST)
    except OSError:
        return ""
    key, _, path = said.partition(":")
    if key != "gitdir":
        return ""
    own = os.path.realpath(os.path.join(folder, path.strip()))
    beside = os.path.dirname(own)
    return os.path.dirname(beside) if os.path.basename(beside) == "worktrees" else own
