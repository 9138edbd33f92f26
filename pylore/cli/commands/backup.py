"""backup and restore-backup."""

from __future__ import annotations

from typing import Any

from ...core.errors import UsageError
from ...store.sqlite import backup as backups
from ...terminal.progress import Progress
from ..runtime import data_folder, require_utf8
from .shared import Session


def backup(path: str, force: bool, **options: Any) -> None:
    session = Session(options)
    _require_file(path, "a backup cannot go through a pipe, 'lore export' can")
    session.open_whole("backup").close()  # what is wrong with the store is said as by any command
    with Progress("copying", _STEPS, kept="there is no new backup") as advance:
        done = backups.back_up(
            data_folder(), path, force=force, busy_timeout=session.settings.busy_timeout,
            progress=_Steps(advance),
        )  # fmt: skip
    row = {"file": done.file, "bytes": done.bytes, "nodes": done.nodes, "edges": done.edges}
    session.output.one(row, _text)


def restore_backup(path: str, **options: Any) -> None:
    session = Session(options)
    session.require_whole("restore-backup")
    _require_file(path, "a backup is a file, 'lore import -' reads an export")
    with Progress("restoring", _STEPS, kept="the store is as it was") as advance:
        done = backups.restore_backup(
            data_folder(), path, busy_timeout=session.settings.busy_timeout,
            progress=_Steps(advance),
        )  # fmt: skip
    if done.kept:
        session.say([f"what was there is kept in {done.kept}"])
    row = {"file": done.file, "bytes": done.bytes, "nodes": done.nodes, "edges": done.edges,
           "kept": done.kept}  # fmt: skip
    session.output.one(row, _text)


_STEPS = 100


class _Steps:
    """Turns the part that is done into steps of a bar."""

    def __init__(self, advance: Any) -> None:
        self._advance = advance
        self._done = 0

    def __call__(self, part: float) -> None:
        now = int(part * _STEPS)
        self._advance(now - self._done)
        self._done = now


def _require_file(path: str, instead: str) -> None:
    if path in ("-", ""):
        raise UsageError(f"a file is needed: {instead}")
    require_utf8(path, "the file")


def _text(row: dict[str, Any]) -> str:
    return f"{row['file']}: {row['nodes']} nodes, {row['edges']} edges, {row['bytes']} bytes\n"
