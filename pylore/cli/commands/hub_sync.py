"""sync NAME: with a hub, once or again and again."""

from __future__ import annotations

import time
from typing import Any

from ...app.hub_sync import HubSync, HubSynced, forget_others, open_hub, remote_named
from ...core.errors import HubUnavailable, LoreError, StoreBusy
from ...formats.merge_lines import conflict_notes
from ...indexing.at_hub import index_hub
from ...system.projects import is_trusted
from ...terminal.output import flush, note
from ...terminal.progress import Progress
from ..runtime import data_folder, project_folder, say_left_out
from .shared import Session

_NAMED = 5


def sync_with_hub(session: Session, name: str, *, watch: float, dry_run: bool, all: bool) -> None:
    """Syncs with the remote of this name; with ``watch``, every so many seconds until Ctrl-C."""
    _require_trust()
    if not watch:
        _once(session, name, dry_run=dry_run, all=all)
        return
    failed = ""
    while True:
        began = time.monotonic()
        try:
            _once(session, name, dry_run=False, all=all, quiet=True)
            if failed:
                session.say([f"{name}: is there again"])
            failed, all = "", False
        except (HubUnavailable, StoreBusy) as error:
            if str(error) != failed:
                note(str(error))
            failed = str(error)
        flush()
        time.sleep(max(0.0, watch - (time.monotonic() - began)))


def _require_trust() -> None:
    """Goes on with a store that is the user's own.

    Raises:
        LoreError: it may have come with a clone, and what it says with it.
    """
    if project_folder() and not is_trusted(data_folder()):
        raise LoreError("this store may have come with a clone, and would be sent to others: "
                        "'lore trust' says that it is yours")  # fmt: skip


def _once(
    session: Session, name: str, *, dry_run: bool, all: bool, quiet: bool = False
) -> None:  # fmt: skip
    remote = remote_named(session.settings, name, or_file=True)
    with session.open_whole("sync") as store:
        forget_others(store, session.settings)
        hub = open_hub(remote.name, remote.url)
        kept = "what went is kept; the next sync goes on"
        with hub.hub, Progress("syncing", kept=kept, on=not session.settings.quiet) as advance:
            sync = HubSync(
                session.engine(store), hub, name, remote.takes(store), all=all,
                progress=lambda way, lines: advance(lines),
            )  # fmt: skip
            done = sync.dry_run() if dry_run else sync.run()
            if not dry_run and not done.may_only_read:
                index_hub(hub.hub, lambda: session.engine(store).embedder, done.came_in.notes)
    _say(session, name, done)
    row = _row(name, done, dry_run=dry_run)
    if not quiet or any(row["in"].values()) or any(row["out"].values()):
        session.output.one(row, _text)


def _row(name: str, done: HubSynced, *, dry_run: bool) -> dict[str, Any]:
    if dry_run:
        return {"remote": name, "in": {"lines": done.read}, "out": {"lines": done.sent},
                "dry_run": True}  # fmt: skip
    came = done.came_in
    counts = {"added": came.added, "updated": came.updated, "kept": came.kept,
              "conflicts": came.conflicts}  # fmt: skip
    out = {"sent": done.sent, "known": done.known, "refused": len(done.refused)}
    return {"remote": name, "in": counts, "out": out}


def _say(session: Session, name: str, done: HubSynced) -> None:
    for text in conflict_notes(done.came_in.conflicting):
        note(text)
    if done.anew:
        session.say([f"{name}: {done.anew}: all was sent again"])
    session.say(done.came_in.notes)
    say_left_out(done.came_in.skipped, session.settings)
    for id, why in done.refused[:_NAMED]:
        note(f"{name} did not take {id}: {why}")
    if len(done.refused) > _NAMED:
        note(f"{name} did not take {len(done.refused) - _NAMED} more: they stay here")
    if done.may_only_read:
        session.say([f"{name}: {done.may_only_read} may only read there: nothing was sent"])


def _text(row: dict[str, Any]) -> str:
    """A line for each way in which something went; none where nothing did."""
    lines = []
    for way in ("in", "out"):
        told = [f"{count} {name}" for name, count in row[way].items()
                if count and name not in ("kept", "known")]  # fmt: skip
        if told:
            lines.append(f"{way:<4}{', '.join(told)}\n")
    return "".join(lines)
