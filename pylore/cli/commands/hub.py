"""hub: making one, and what it and this store know of each other."""

from __future__ import annotations

from typing import Any

from ...app.hub_sync import Remote, hub_status, make_hub, open_hub, remote_named, remotes
from ...core.errors import NoStore, UsageError
from ...core.text import counted
from .shared import Session


def init(place: str, **options: Any) -> None:
    session = Session(options)
    remote = meant(session, place, "hub init")
    hub = open_hub(remote.name, remote.url)
    with hub.hub:
        made = make_hub(hub, session.settings.max_text)
        hello = hub.hello()
    row = {"id": remote.name, "version": hello.version, "made": made,
           "generation": hello.generation}  # fmt: skip
    session.output.one(row, _init_text)


def status(remote: str, **options: Any) -> None:
    session = Session(options)
    named = meant(session, remote, "hub status")
    hub = open_hub(named.name, named.url, writes=False)
    with hub.hub:
        try:
            with session.open_whole("hub status") as store, store.faults, store.snapshot():
                row = hub_status(hub, named, store)
        except NoStore:
            row = hub_status(hub, named, None)
    if row["warning"]:
        session.say([f"{named.name}: an acknowledged write may be lost: {row['warning']}"])
    session.output.one(row, _status_text)


def meant(session: Session, place: str, command: str, option: str = "") -> Remote:
    """Return a remote by its name, a hub by its URL, or the only remote that there is.

    ``option`` is what the command names it by, if not by an argument.
    """
    place = place or _only_one(session, command, option)
    if "://" not in place:
        return remote_named(session.settings, place)
    from ...store.postgres.url import shown

    return Remote(shown(place), place)


def _only_one(session: Session, command: str, option: str) -> str:
    found = [remote.name for remote in remotes(session.settings)]
    if len(found) != 1:
        if not found:
            raise UsageError(f"{command} needs a remote: 'lore remote add NAME URL'")
        raise UsageError(f"{command} needs {option}one of {', '.join(found)}")
    return found[0]


def _init_text(row: dict[str, Any]) -> str:
    what = "made" if 1 in row["made"] else "brought up to date" if row["made"] else "is there"
    return f"{row['id']}: {what}, version {row['version']}\n"


def _status_text(row: dict[str, Any]) -> str:
    lines = [
        f"{row['id']}  {row['url']}, version {row['version']}, PostgreSQL {row['server']}",
        f"as       {row['role']}{'' if row['may_write'] else ', who may only read'}",
        f"holds    {counted(row['records'], 'record')}, {counted(row['links'], 'link')}, "
        f"{counted(row['lines'], 'line')}, {row['bytes'] // 1_000_000} MB",
        f"commits  synchronous_commit={row['synchronous_commit']}, "
        f"{counted(row['standbys'], 'standby', 'standbys')}, {row['synchronous']} synchronous",
    ]
    if row["unread"] is not None:
        unsent = "" if row["unsent"] is None else f"{row['unsent']} unsent, "
        when = row["synced_at"] or "never"
        lines.append(f"here     {unsent}{row['unread']} unread, synced {when}")
    return "\n".join(lines) + "\n"
