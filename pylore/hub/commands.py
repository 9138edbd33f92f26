"""Commands of hubs, and sync with a hub."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ..app.sync import changed_by, last_command
from ..cli.command import Group, argument, command, option
from ..cli.options import SINCE
from ..cli.session import data_folder, project_folder
from ..cli.transfer import came_in_row, say_came_in, synced_text
from ..core.errors import HubUnavailable, LoreError, NoStore, StoreBusy, UsageError
from ..core.ids import is_name
from ..core.text import counted
from ..core.times import parse_since
from ..system.edits import change_file, users_file
from ..system.plugin_files import Events
from ..system.projects import is_trusted
from ..terminal.output import flush, note
from ..terminal.text import each
from .connection import options_of, shown
from .indexing import index_hub
from .schema import make_schema
from .sync import (
    TAKES,
    HubSync,
    HubSynced,
    Remote,
    forget,
    forget_others,
    hub_status,
    open_hub,
    remote_named,
    remote_of,
    remotes,
)

if TYPE_CHECKING:
    from ..cli.session import Session
    from .connection import Hub

HUB = Group("hub", """\
Share knowledge through PostgreSQL databases.

The driver comes by 'make setup-hub'.""")  # fmt: skip

_MOST_NAMED = 5
"""Refused records that a sync names."""


ROLES = ("reader", "writer", "curator")

_AUDIT = """
SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), role, client, action, kind,
  owner, detail, scope
FROM lore.audit WHERE at >= %s::timestamptz ORDER BY seq
"""
_AUDITED = ("at", "role", "client", "action", "kind", "id", "detail", "scope")

ON = option("--on REMOTE|URL", "which hub", "", complete="remotes")
REMOTE = argument("NAME", complete="remotes")


@command("hub init URL|REMOTE")
def init(session: Session, place: str = argument("URL|REMOTE", complete="remotes")) -> None:
    """Make a hub of a database."""
    remote = _remote_at(session, place, "hub init")
    hub = open_hub(remote.name, remote.url)
    with hub.hub:
        made = make_schema(hub.hub, session.settings.max_text)
        hello = hub.hello()
    row = {
        "id": remote.name, "version": hello.version, "made": made, "generation": hello.generation
    }  # fmt: skip
    session.output.one(row, _init_text)


@command("hub status [REMOTE|URL]")
def status(
    session: Session, place: str = argument("[REMOTE]", default="", complete="remotes")
) -> None:
    """Show what a hub holds, and how far this store is."""
    remote = _remote_at(session, place, "hub status")
    hub = open_hub(remote.name, remote.url, writes=False)
    with hub.hub:
        try:
            with session.open(whole="hub status") as store, store.faults, store.snapshot():
                row = hub_status(hub, remote, store)
        except NoStore:
            row = hub_status(hub, remote, None)
    session.output.one(row, _status_text)


@command("hub grant [options] NAME ROLE")
def grant(
    session: Session,
    name: str = argument("NAME"),
    role: str = argument("ROLE", choices=ROLES),
    *,
    scope: str = option("--scope S", "let in there too", ""),
    on: str = ON,
) -> None:
    """Let a role of the server read, write, or also curate and delete."""
    with _hub(session, on, "hub grant") as hub:
        if not hub.ask("SELECT 1 FROM pg_roles WHERE rolname = %s", [name]):
            raise LoreError(f"{hub.name}: the server has no role '{name}': make it there first "
                            f'(CREATE ROLE "{name}" LOGIN)')  # fmt: skip
        hub.ask("SELECT lore.let(%s, %s, %s)", [name, role, scope])
        scopes = hub.ask("SELECT scope FROM lore.members WHERE role = %s ORDER BY 1", [name])
        row = {"id": name, "role": role, "scopes": [scope for (scope,) in scopes]}
    session.output.one(row, _granted_text)


@command("hub revoke [options] NAME")
def revoke(
    session: Session,
    name: str = argument("NAME"),
    *,
    scope: str = option("--scope S", "only this scope", ""),
    on: str = ON,
) -> None:
    """Take role and scopes from NAME, before DROP ROLE."""
    with _hub(session, on, "hub revoke") as hub:
        if not hub.ask("SELECT lore.bar(%s, %s)", [name, scope])[0][0]:
            lacks = f"is not in scope {scope}" if scope else "has no role and no scope"
            raise LoreError(f"{hub.name}: '{name}' {lacks} there: nothing was changed")
    session.output.one({"id": name, "scope": scope or None}, _revoked_text)


@command("hub audit [options]")
def audit(
    session: Session,
    *,
    since: str = SINCE,
    on: str = ON,
) -> None:
    """List who changed what at the hub, for curators."""
    start = parse_since(since) if since else ""
    with _hub(session, on, "hub audit") as hub:
        found = hub.ask(_AUDIT, [start or "-infinity"])
    rows = [dict(zip(_AUDITED, row, strict=True)) for row in found]
    session.output.list(rows, each(_audit_text))


@command("hub add NAME URL [types=TYPE,…] [tags=TAG,…] [scopes=NAME,…] [staged]")
def add(
    session: Session,
    name: str = REMOTE,
    url: str = argument("URL"),
    takes: tuple[str, ...] = argument("[TAKES…]"),
) -> None:
    """Name a hub for 'lore sync NAME', in your config.

    URL is postgresql://[user@]host[:port]/database or postgresql://?service=NAME, without a
    password (~/.pgpass). The words limit what goes there; of scopes, * is all.

    \b
    lore hub add team 'postgresql://?service=lore' types=decision,lesson
    """
    if not is_name(name) or not name[0].isalpha():
        raise UsageError(f"'{name}' is no name of a remote: give lower-case letters, digits, - "
                         "and _, a letter first")  # fmt: skip
    options_of(url)
    remote = remote_of(name, " ".join([url, *takes]))
    state = "changed" if name in session.settings.remotes else "added"
    _set(session, name, remote.as_setting(), state)


@command("hub list")
def list_hubs(session: Session) -> None:
    """List the hubs in your config."""
    rows = [
        {
            "id": remote.name, "url": shown(remote.url), "types": [*remote.types],
            "tags": [*remote.tags], "scopes": [*remote.scopes], "staged": remote.staged,
        }
        for remote in remotes(session.settings)
    ]  # fmt: skip
    session.output.list(rows, each(_remote_text))


@command("hub remove NAME")
def remove(session: Session, name: str = REMOTE) -> None:
    """Take a hub out of the config."""
    remote_named(session.settings, name)
    try:
        with session.open() as store:
            forget(store, name)
    except NoStore:
        pass
    _set(session, name, None, "removed")


def _set(session: Session, name: str, value: str | None, state: str) -> None:
    path = users_file()
    change_file(path, {f"REMOTES[{name}]": value})
    row = {"id": name, "state": state, "file": path}
    session.output.one(row, lambda row: f"{row['state']}  {row['id']}  in {row['file']}\n")


def _hub(session: Session, place: str, command: str) -> Hub:
    remote = _remote_at(session, place, command, "--on with ")
    return open_hub(remote.name, remote.url).hub


def _remote_at(session: Session, place: str, command: str, option: str = "") -> Remote:
    """Return a remote by its name, a hub by its URL, or the only remote that there is."""
    if "://" in place:
        return Remote(shown(place), place)
    if place:
        return remote_named(session.settings, place)
    found = remotes(session.settings)
    if not found:
        raise UsageError(f"{command} needs a hub: 'lore hub add NAME URL'")
    if len(found) > 1:
        names = ", ".join(remote.name for remote in found)
        raise UsageError(f"{command} needs {option}one of {names}")
    return found[0]


# --- sync


def sync_with_hub(session: Session, name: str, *, watch: float, all: bool) -> None:
    """Sync with a remote; with ``watch``, every so many seconds until Ctrl-C."""
    if project_folder() and not is_trusted(data_folder()):
        raise LoreError("this store may have come with a clone, and would be sent to others: "
                        "'lore store trust' says that it is yours")  # fmt: skip
    if not watch:
        _sync_once(session, name, all=all)
        return
    failed = ""
    while True:
        began = time.monotonic()
        try:
            _sync_once(session, name, all=all, quiet=True)
            if failed:
                session.say([f"{name}: is there again"])
            failed, all = "", False
        except (HubUnavailable, StoreBusy) as error:
            if str(error) != failed:
                note(str(error))
            failed = str(error)
        flush()
        time.sleep(max(0.0, watch - (time.monotonic() - began)))


def _sync_once(session: Session, name: str, *, all: bool, quiet: bool = False) -> None:
    remote = remote_named(session.settings, name, or_file=True)
    events = Events(session.settings)
    with session.open(whole="sync") as store:
        before = last_command(store)
        forget_others(store, session.settings)
        hub = open_hub(remote.name, remote.url)
        kept = "what went is kept; the next sync goes on"
        with hub.hub, session.progress("syncing", kept=kept) as advance:
            sync = HubSync(
                session.engine(store), hub, name, remote.takes(store), all=all,
                progress=lambda way, lines: advance(lines),
            )  # fmt: skip
            done = sync.run()
            if not done.may_only_read:
                index_hub(hub.hub, lambda: session.engine(store).embedder, done.came_in.notes)
        changes = changed_by(store, "sync", before) if events.hear_of("post-sync") else []
        session.wipe(store)
    _say(session, name, done)
    out = {"sent": done.sent, "known": done.known, "refused": len(done.refused)}
    row: dict[str, Any] = {"remote": name, "in": came_in_row(done.came_in), "out": out}
    if not quiet or any(row["in"].values()) or any(row["out"].values()):
        session.output.one(row, synced_text)
    session.tell("post-sync", changes, events)


def _say(session: Session, name: str, done: HubSynced) -> None:
    if done.anew:
        session.say([f"{name}: {done.anew}: all was sent again"])
    say_came_in(session, done.came_in)
    for id, why in done.refused[:_MOST_NAMED]:
        note(f"{name} did not take {id}: {why}")
    if len(done.refused) > _MOST_NAMED:
        note(f"{name} did not take {len(done.refused) - _MOST_NAMED} more: they stay here")
    if done.may_only_read:
        session.say([f"{name}: {done.may_only_read} may only read there: nothing was sent"])


# --- text for a terminal


def _init_text(row: dict[str, Any]) -> str:
    done = "made" if row["made"] else "is there"
    return f"{row['id']}: {done}, version {row['version']}\n"


def _status_text(row: dict[str, Any]) -> str:
    lines = [
        f"{row['id']}  {row['url']}, version {row['version']}, PostgreSQL {row['server']}",
        f"as       {row['role']}{'' if row['may_write'] else ', who may only read'}",
        f"holds    {counted(row['records'], 'record')}, {counted(row['links'], 'link')}, "
        f"{counted(row['lines'], 'line')}, {row['bytes'] // 1_000_000} MB",
    ]
    if row["unread"] is not None:
        unsent = "" if row["unsent"] is None else f"{row['unsent']} unsent, "
        when = row["synced_at"] or "never"
        lines.append(f"here     {unsent}{row['unread']} unread, synced {when}")
    return "\n".join(lines) + "\n"


def _granted_text(row: dict[str, Any]) -> str:
    scopes = f", in {', '.join(row['scopes'])}" if row["scopes"] else ""
    return f"{row['id']}: {row['role']}{scopes}\n"


def _revoked_text(row: dict[str, Any]) -> str:
    now = f"no longer in {row['scope']}" if row["scope"] else "may do nothing any more"
    return f"{row['id']}: {now}\n"


def _audit_text(row: dict[str, Any]) -> str:
    detail = f" {row['detail']}" if row["detail"] else ""
    return f"{row['at']}  {row['role']:<12} {row['action']:<8} {row['id']}{detail}\n"


def _remote_text(row: dict[str, Any]) -> str:
    takes = [f"{name} {' '.join(row[name])}" for name in TAKES if row[name]]
    takes += ["staged"] if row["staged"] else []
    return f"{row['id']:<12} {row['url']}{'  ' if takes else ''}{', '.join(takes)}\n"
