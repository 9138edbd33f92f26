"""plugin list, plugin new, plugin test."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ...app.plugins import skeleton
from ...core.errors import LoreError, UsageError
from ...system.plugin_files import READY, Plugin, all_plugins, file_name, find_file
from ...system.private_files import own_folder
from ...terminal.output import flush, write
from ...terminal.text import bold, dim
from ..reference import every_command
from .shared import Session


def list_plugins(**options: Any) -> None:
    session = Session(options)
    found = all_plugins(session.settings.plugin_dir, {*every_command()})
    session.output.list([_row(plugin) for plugin in found], _text)


def new(kind: str, name: str, **options: Any) -> None:
    session = Session(options)
    file = file_name(kind, name)
    if kind == "command" and name in every_command():
        raise UsageError(f"lore has a command '{name}' of its own: choose another name")
    folder = own_folder(session.settings.plugin_dir)
    path = os.path.join(folder, file)
    try:
        os.makedirs(folder, exist_ok=True)
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o777)
    except FileExistsError:
        raise LoreError(f"{path} is there already: nothing was written") from None
    except OSError as error:
        raise LoreError(f"{path}: {error.strerror}: nothing was written") from None
    with open(number, "w", encoding="utf-8") as opened:
        opened.write(skeleton(kind, name, file))
    row = {"id": file, "file": path, "state": "added"}
    session.output.one(row, lambda row: f"{row['file']}\n")


def test(file: str, sample: str | None, **options: Any) -> None:
    from ...app.plugins import Trials

    session = Session(options)
    path = find_file(file, session.settings.plugin_dir)
    if sample and not os.path.exists(sample):
        raise LoreError(f"{sample}: there is no such file: check its name")
    plugin = Plugin(path)
    file_name(plugin.kind, plugin.name)
    if sample and plugin.kind != "import":
        raise UsageError(f"a SAMPLE is for importers, and {plugin.id} is none: leave it out")
    write("TAP version 13\n")
    count = failed = 0
    for what, why, skipped in Trials(plugin, session.settings, sample or "").cases():
        count += 1
        failed += bool(why)
        write(_tap(count, what, why, skipped))
        flush()
    write(f"1..{count}\n")
    if failed:
        flush()
        raise LoreError(f"{plugin.id}: {failed} of {count} are not ok: see above")


def _tap(number: int, what: str, why: str, skipped: str) -> str:
    if skipped:
        return f"ok {number} - {what} # SKIP {skipped}\n"
    return f"not ok {number} - {what}\n# {why}\n" if why else f"ok {number} - {what}\n"


def _row(plugin: Plugin) -> dict[str, Any]:
    return {
        "id": plugin.id, "kind": plugin.kind, "name": plugin.name, "state": plugin.state,
        "api": plugin.api, "summary": plugin.summary, "file": plugin.file,
    }  # fmt: skip


def _text(rows: Sequence[dict[str, Any]]) -> str:
    return "".join(
        f"{row['kind']:<10} {bold(row['name'])}"
        + (f"  {row['summary']}" if row["summary"] else "")
        + (f"  ({row['state']})" if row["state"] != READY else "")
        + dim(f"  {row['file']}") + "\n"
        for row in rows
    )  # fmt: skip
