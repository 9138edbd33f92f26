"""Commands of hubs, and sync with a hub."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..cli.command import SINCE, Group, argument, command, option
from ..cli.session import data_folder, project_folder
from ..core.errors import LoreError, UsageError, first_of
from ..core.ids import is_name
from ..core.text import counted
from ..core.times import parse_since
from ..system.edits import change_file, users_file
from ..system.files import is_trusted
from ..terminal import note
from ..terminal.text import each
from .connection import connect, make_schema, options_of, remote_named
from .search import index_hub
from .sync import HubSync, Takes, hub_status

if TYPE_CHECKING:
    from ..cli.session import Session
    from ..formats.jsonl import Imported
    from ..store import Store
    from .connection import Hub

_HELP = "Share knowledge through PostgreSQL databases.\n\nThe driver comes by 'make setup-hub'."
HUB = Group("hub", _HELP)

_LOG = """
SELECT jsonb_build_object('at', to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
  'role', by_role, 'kind', kind, 'id', owner, 'scope', scope)
FROM lore.lines WHERE at >= %s::timestamptz ORDER BY seq
"""

ON = option("--on REMOTE", "which hub", "", complete="remotes")


@command("hub init REMOTE|URL")
def init(session: Session, place: str = argument("REMOTE|URL", complete="remotes")) -> None:
    """Make a hub of a database."""
    with _hub(session, place) as hub:
        row = {"id": hub.name, "made": make_schema(hub, session.settings.max_text)}
    made = "made" if row["made"] else "was made before"
    session.output.one(row, lambda row: f"{row['id']}: {made}\n")


@command("hub status [REMOTE|URL]")
def status(
    session: Session, place: str = argument("[REMOTE|URL]", default="", complete="remotes")
) -> None:
    """Show sizes of a hub, and unsent and unread changes."""
    with _hub(session, place, writes=False) as hub:
        takes = Takes(*session.settings.remotes.get(hub.name, "").split()[1:])
        with session.open(whole="hub status") as store, store.faults, store.snapshot():
            row = hub_status(hub, takes, store)
    session.output.one({"id": hub.name, **row}, _status_text)


def _status_text(row: dict[str, Any]) -> str:
    reads = "" if row["may_write"] else ", who may only read"
    unsent = "all" if row["unsent"] is None else row["unsent"]
    return (
        f"{row['id']}  {counted(row['records'], 'record')}, {counted(row['lines'], 'line')}, "
        f"as {row['role']}{reads}\n"
        f"here  {unsent} unsent, {row['unread']} unread, synced {row['synced_at'] or 'never'}\n"
    )


@command("hub grant [options] NAME ROLE")
def grant(
    session: Session,
    name: str = argument("NAME"),
    role: str = argument("ROLE", choices=("reader", "writer", "curator")),
    *,
    scope: str = option("--scope S", "add to this scope too", ""),
    on: str = ON,
) -> None:
    """Let a role of the server read, write, or also curate and purge."""
    _entitle(session, on, name, role, scope)


@command("hub revoke [options] NAME")
def revoke(
    session: Session,
    name: str = argument("NAME"),
    *,
    scope: str = option("--scope S", "only this scope", ""),
    on: str = ON,
) -> None:
    """Remove role and scopes from NAME, before DROP ROLE."""
    _entitle(session, on, name, "", scope)


def _entitle(session: Session, on: str, name: str, role: str, scope: str) -> None:
    with _hub(session, on) as hub:
        hub.ask("SELECT lore.entitle(%s, %s, %s)", [name, role, scope])
    rights = role or ("scope left" if scope else "no rights")
    row = {"id": name, "role": role or None, "scope": scope or None}
    session.output.one(row, lambda row: f"{name}: {rights}{f', {scope}' if scope else ''}\n")


@command("hub audit [options]")
def audit(session: Session, *, since: str = SINCE, on: str = ON) -> None:
    """List the lines of the hub with time and sender."""
    start = parse_since(since) if since else "-infinity"
    with _hub(session, on) as hub:
        rows = [row for (row,) in hub.ask(_LOG, [start])]
    session.output.list(
        rows, each(lambda row: f"{row['at']}  {row['role']:<12} {row['kind']:<8} {row['id']}\n")
    )


@command("hub add NAME URL [types=TYPE,…] [scopes=NAME,…] [staged]")
def add(
    session: Session,
    name: str = argument("NAME", complete="remotes"),
    url: str = argument("URL"),
    takes: tuple[str, ...] = argument("[TAKES…]"),
) -> None:
    """Name a hub for 'lore sync NAME', in your config ('lore config unset "REMOTES[NAME]"').

    URL is postgresql://[user@]host[:port]/database or postgresql://?service=NAME, without a
    password (~/.pgpass). The words limit sending; scopes=* is all scopes.

    \b
    lore hub add team 'postgresql://?service=lore' types=decision,lesson
    """
    if not is_name(name) or not name[0].isalpha():
        raise UsageError(f"invalid name '{name}': use a-z, 0-9, - and _, a letter first")
    options_of(url)
    Takes(*takes)
    state = "changed" if name in session.settings.remotes else "added"
    path = users_file()
    change_file(path, {f"REMOTES[{name}]": " ".join([url, *takes])})
    row = {"id": name, "state": state, "file": path}
    session.output.one(row, lambda row: f"{state}  {name}  in {path}\n")


@command("hub list")
def list_hubs(session: Session) -> None:
    """List the hubs in your config."""
    pairs = sorted((name, value.split()) for name, value in session.settings.remotes.items())
    rows = [{"id": name, "url": words[0], "takes": words[1:]} for name, words in pairs]
    session.output.list(
        rows, each(lambda row: f"{row['id']:<12} {' '.join([row['url'], *row['takes']])}\n")
    )


def _hub(session: Session, place: str, *, writes: bool = True) -> Hub:
    """Return a remote by name, a hub by URL, or the only remote."""
    if "://" in place:
        return connect(place, writes=writes)
    names = [place] if place else [*session.settings.remotes]
    if not names:
        raise UsageError("no hub in your config: 'lore hub add NAME URL'")
    if len(names) > 1:
        raise UsageError(f"name a hub: {' or '.join(names)}")
    return connect(remote_named(session.settings, names[0])[0], names[0], writes=writes)


def sync_with_hub(
    session: Session, store: Store, name: str, *, all: bool
) -> tuple[Imported, dict[str, Any]]:
    """Sync with a remote; return the merged lines, and a summary row."""
    if project_folder() and not is_trusted(data_folder()):
        raise LoreError("this store may be from a clone: run 'lore store trust' to sync it")
    url, *words = remote_named(session.settings, name)
    engine, kept = session.engine(store), "what went is kept; the next sync goes on"
    with connect(url, name) as hub, session.progress("syncing", kept=kept) as advance:
        done = HubSync(engine, hub, Takes(*words), all=all, progress=advance).run()
        notes = done.came_in.notes
        if done.may_only_read:
            notes.append(f"{name}: {done.may_only_read} may only read there: nothing was sent")
        else:
            index_hub(hub, lambda: engine.embedder, notes)
    if done.anew:
        notes.append(f"{name} lacked lines, as after a restored backup: all was sent again")
    if done.refused:
        note(f"{name} refused {first_of([f'{id}: {why}' for id, why in done.refused])}")
    out = {"sent": done.sent, "known": done.known, "refused": len(done.refused)}
    return done.came_in, {"remote": name, "out": out}
