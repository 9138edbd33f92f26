"""sync: the file that knowledge travels in by git."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ...app.event_rows import changed_by, last_command
from ...app.sync import Synced
from ...app.sync import sync as synced
from ...core.errors import LoreError, UsageError
from ...formats.knowledge import FILE
from ...formats.merge_lines import conflict_notes
from ...system.config import SHARED
from ...system.event_plugins import Events
from ...system.git_setup import Repository
from ...system.parts import require_part
from ...system.programs import find_program
from ...terminal.output import note
from ..runtime import data_folder, project_folder, require_store, say_left_out
from .shared import Session


def sync(
    path: str, only_in: bool, install: bool, hooks: bool, uninstall: bool, watch: float,
    dry_run: bool, all: bool, **options: Any,
) -> None:  # fmt: skip
    session = Session(options)
    if path in session.settings.remotes or _is_no_file(path) or "://" in path:
        if only_in or install or hooks or uninstall:
            raise UsageError("--in, --install, --hooks and --uninstall are for a file: "
                             "leave them out")  # fmt: skip
        hub = require_part("hub", "commands")
        hub.sync_with_hub(session, path, watch=watch, dry_run=dry_run, all=all)
        return
    if watch or dry_run or all:
        raise UsageError("--watch, --dry-run and --all are for a remote: name one")
    if install or uninstall or hooks:
        if path or only_in or install == uninstall or (hooks and not install):
            raise UsageError("sync takes --install [--hooks] or --uninstall alone: "
                             "see 'lore sync --help'")  # fmt: skip
        _set_up(session, install=install, hooks=hooks)
        return
    path = path or _file_of_project()
    if not only_in:
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    events = Events(session.settings)
    with session.open_whole("sync") as store, store.faults:
        before = last_command(store)
        done = synced(session.engine(store), path, out=not only_in)
        changes = changed_by(store, "sync", before) if events.hear_of("post-sync") else []
    _say(session, path, done)
    row = {"in": _counts(done), "out": done.went_out, "file": os.path.abspath(path)}
    session.output.one(row, _text)
    session.tell("post-sync", changes, events)


def _is_no_file(path: str) -> bool:
    """Whether the name of a remote is meant: a file's has a / or a . in it, or is there."""
    return bool(path) and not {"/", "."} & {*path} and not os.path.lexists(path)


def _file_of_project() -> str:
    """Where the file of this store is.

    Raises:
        LoreError: there is no store, or it is a person's own, and no project's.
    """
    project = project_folder()
    if not project:
        require_store(data_folder())
        raise LoreError(f"the store in {data_folder()} is of no project: "
                        "name the file: 'lore sync FILE'")  # fmt: skip
    return os.path.join(project, SHARED, FILE)


def _counts(done: Synced) -> dict[str, int]:
    found = done.came_in
    return {
        "added": found.added, "updated": found.updated, "kept": found.kept,
        "conflicts": found.conflicts,
    }  # fmt: skip


def _say(session: Session, path: str, done: Synced) -> None:
    for text in conflict_notes(done.came_in.conflicting):
        note(text)
    session.say(done.came_in.notes)
    say_left_out(done.came_in.skipped, session.settings)
    if done.resolved:
        session.say([f"{path}: both sides of git's merge are in the store and in the file: "
                     "'git add' it"])  # fmt: skip


def _text(row: dict[str, Any]) -> str:
    """A line for each way in which something went; none where nothing did."""
    lines = []
    for way in ("in", "out"):
        told = [f"{count} {name}" for name, count in row[way].items() if count and name != "kept"]
        if told:
            lines.append(f"{way:<4}{', '.join(told)}\n")
    return "".join(lines)


# --- git


def _set_up(session: Session, *, install: bool, hooks: bool) -> None:
    file = _file_of_project()
    repository = Repository(project_folder(), f"{SHARED}/{FILE}")
    done = repository.install(hooks=hooks) if install else repository.uninstall()
    rows = [{"id": what, "state": state, "why": why} for what, state, why in done]
    for row in rows:
        if row["state"] == "left":
            note(f"{row['id']} was left as it is: {row['why']}")
    if install and find_program("lore") is None:
        session.say(["lore is not on PATH: git calls it by this name, so put it there"])
    if install and repository.is_ignored():
        session.say([f"{file} is ignored by git: take it out of .gitignore to share it"])
    session.output.list(rows, _set_up_text)


def _set_up_text(rows: Sequence[dict[str, Any]]) -> str:
    return "".join(f"{row['state']:<10} {row['id']}\n" for row in rows)
