"""Declare and run ``lore hub`` and ``lore remote``, and sync with a remote."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from ..app.sync import changed_by, last_command
from ..cli.commands.system import change_users_config
from ..cli.declaration import Argument, OldCommand, Option
from ..cli.declare import BUSY_TIMEOUT, COUNTS_OUTPUT, OUTPUT, QUIET
from ..cli.runtime import data_folder, open_for_reading, project_folder, say_left_out
from ..cli.session import Session
from ..core.errors import HubUnavailable, LoreError, NoStore, StoreBusy, UsageError
from ..core.ids import ALL, is_name
from ..core.text import counted
from ..core.times import parse_since
from ..formats.merge_lines import conflict_notes
from ..system.plugin_files import Events
from ..system.projects import is_trusted
from ..terminal.output import flush, note
from ..terminal.screen import Progress
from .connection import Hub
from .indexing import index_hub
from .schema import ROLES as RIGHTS_ROLES
from .schema import Rights
from .sync import TAKES as HUB_SYNC_TAKES
from .sync import (
    HubSync,
    HubSynced,
    Remote,
    forget,
    forget_others,
    hub_status,
    make_hub,
    open_hub,
    remote_named,
    remotes,
    require_url,
)


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
    from .connection import shown

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


def grant(name: str, role: str, on: str, **options: Any) -> None:
    in_scope = _asked(options)
    session = Session(options)
    if role not in RIGHTS_ROLES:
        raise UsageError(f"'{role}' is no role of a hub: give one of {', '.join(RIGHTS_ROLES)}")
    with _hub(session, on, "hub grant") as hub:
        rights = Rights(hub)
        if not rights.is_role(name):
            raise LoreError(f"{hub.name}: the server has no role '{name}': make it there first "
                            f'(CREATE ROLE "{name}" LOGIN)')  # fmt: skip
        rights.let(name, role, in_scope)
        row = {"id": name, "role": role, "scopes": rights.scopes(name)}
    session.output.one(row, _granted)


def revoke(name: str, on: str, **options: Any) -> None:
    in_scope = _asked(options)
    session = Session(options)
    with _hub(session, on, "hub revoke") as hub:
        if not Rights(hub).bar(name, in_scope):
            what = f"is not in scope {in_scope}" if in_scope else "has no role and no scope"
            raise LoreError(f"{hub.name}: '{name}' {what} there: nothing was changed")
    session.output.one({"id": name, "scope": in_scope or None}, _revoked)


def audit(since: str, on: str, **options: Any) -> None:
    session = Session(options)
    start = parse_since(since) if since else ""
    with _hub(session, on, "hub audit") as hub:
        rows = Rights(hub).audit(start)
    session.output.list(rows, _audit_text)


def _hub(session: Session, place: str, command: str) -> Hub:
    remote = meant(session, place, command, "--on with ")
    return open_hub(remote.name, remote.url).hub


def _asked(options: dict[str, Any]) -> str:
    """Return the scope that ``--scope`` names; that under which one works oneself is none of
    this."""
    scope = str(options["settings"].get("scope", ""))
    return "" if scope == ALL else scope


def _granted(row: dict[str, Any]) -> str:
    scopes = f", in {', '.join(row['scopes'])}" if row["scopes"] else ""
    return f"{row['id']}: {row['role']}{scopes}\n"


def _revoked(row: dict[str, Any]) -> str:
    what = f"no longer in {row['scope']}" if row["scope"] else "may do nothing any more"
    return f"{row['id']}: {what}\n"


def _audit_text(rows: Sequence[dict[str, Any]]) -> str:
    return "".join(
        f"{row['at']}  {row['role']:<12} {row['action']:<8} {row['id']}"
        f"{' ' if row['detail'] else ''}{row['detail']}\n"
        for row in rows
    )


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
    events = Events(session.settings)
    with session.open_whole("sync") as store:
        before = last_command(store)
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
        changes = changed_by(store, "sync", before) if events.hear_of("post-sync") else []
        session.wipe(store)
    _say(session, name, done)
    row = _row(name, done, dry_run=dry_run)
    if not quiet or any(row["in"].values()) or any(row["out"].values()):
        session.output.one(row, _text)
    session.tell("post-sync", changes, events)


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
    """Return a line for each way in which something went; none where nothing did."""
    lines = []
    for way in ("in", "out"):
        told = [f"{count} {name}" for name, count in row[way].items()
                if count and name not in ("kept", "known")]  # fmt: skip
        if told:
            lines.append(f"{way:<4}{', '.join(told)}\n")
    return "".join(lines)


def add(name: str, url: str, staged: bool, **options: Any) -> None:
    takes = _taken_out(options)
    session = Session(options)
    if name in session.settings.remotes:
        raise UsageError(f"there is a remote '{name}' already: 'lore remote set {name}' changes it")
    if not is_name(name) or not name[0].isalpha():
        raise UsageError(f"'{name}' is no name of a remote: give lower-case letters, digits, - "
                         "and _, a letter first")  # fmt: skip
    remote = Remote(name, require_url(url), staged=staged)
    _change(session, remote, takes, state="added")


def set_remote(
    name: str, url: str | None, staged: bool, no_staged: bool, **options: Any
) -> None:  # fmt: skip
    takes = _taken_out(options)
    session = Session(options)
    remote = remote_named(session.settings, name)
    if staged and no_staged:
        raise UsageError("--staged and --no-staged exclude each other: give one")
    remote.url = require_url(url) if url else remote.url
    remote.staged = (remote.staged or staged) and not no_staged
    _change(session, remote, takes, state="set")


def list_remotes(**options: Any) -> None:
    session = Session(options)
    session.output.list([_remote_row(remote) for remote in remotes(session.settings)], _remote_text)


def remove(name: str, **options: Any) -> None:
    session = Session(options)
    remote_named(session.settings, name)
    path = change_users_config({f"REMOTES[{name}]": None})
    try:
        with open_for_reading(session.settings) as store:
            forget(store, name)
    except NoStore:
        pass
    row = {"id": name, "state": "removed", "file": path}
    session.output.one(row, lambda row: f"removed  {row['id']}  from {row['file']}\n")


def _taken_out(options: dict[str, Any]) -> dict[str, str | None]:
    return {name: options.pop(name) for name in HUB_SYNC_TAKES}


def _require_words(what: str, words: list[str]) -> None:
    """Lets words pass that may be types, tags or scopes.

    Raises:
        UsageError: one of them cannot be.
    """
    for word in words:
        if what == "scopes" and word != "*" and not is_name(word):
            raise UsageError(f"'{word}' is no name of a scope: give lower-case letters, digits, - "
                             "and _")  # fmt: skip
        if what == "types" and not (word.isascii() and word.isalpha() and word.islower()):
            raise UsageError(f"'{word}' is no type: give lower-case letters")


def _change(session: Session, remote: Remote, takes: dict[str, str | None], *, state: str) -> None:
    for what, value in takes.items():
        if value is not None:
            words = value.replace(",", " ").split()
            _require_words(what, words)
            setattr(remote, what, tuple(words))
    path = change_users_config({f"REMOTES[{remote.name}]": remote.as_setting()})
    row = {"id": remote.name, "state": state, "file": path}
    session.output.one(row, lambda row: f"{row['state']}  {row['id']}  in {row['file']}\n")


def _remote_row(remote: Remote) -> dict[str, Any]:
    from .connection import shown

    return {
        "id": remote.name, "url": shown(remote.url), "types": [*remote.types],
        "tags": [*remote.tags], "scopes": [*remote.scopes], "staged": remote.staged,
    }  # fmt: skip


def _remote_text(rows: Sequence[dict[str, Any]]) -> str:
    lines = []
    for row in rows:
        takes = [f"{name} {' '.join(row[name])}" for name in HUB_SYNC_TAKES if row[name]]
        takes += ["staged"] if row["staged"] else []
        lines.append(f"{row['id']:<12} {row['url']}{'  ' if takes else ''}{', '.join(takes)}\n")
    return "".join(lines)


ON = Option("--on REMOTE|URL", "which hub; the only remote unless set", default="", kind="remotes")

COMMAND = OldCommand(
    "hub",
    "init | status | grant | revoke | audit",
    "a PostgreSQL database in which the stores of a team meet",
    """\
Every machine has its own store and searches that; 'lore sync NAME' sends what has changed in
it to the hub and merges what others have sent. The driver comes by 'make setup-hub'.""",
    verbs=("init", "status", "grant", "revoke", "audit"),
)


AUDIT = OldCommand(
    "hub audit",
    "[options]",
    "",
    """\
Who changed what at the hub, the oldest first: time of the server, role, address and program,
what was done (add, edit, confirm, forget, restore, link, unlink, purge, anchor, declare,
grant, revoke), to what. No texts: what is deleted for good does not stay here. Nobody can
change it, and curators read it, but for scopes that are not theirs.""",
    Option("--since DATE|AGE", "only from then on (2026-01-31, 12h, 7d, 2w, 3m, 1y)", default=""),
    ON,
    COUNTS_OUTPUT,
    QUIET,
    examples=("lore hub audit --since 1d --jq 'select(.action == \"purge\")'",),
    run=audit,
)


ROLES = ("reader", "writer", "curator")
GRANT = OldCommand(
    "hub grant",
    "[options] NAME ROLE",
    "",
    """\
Makes NAME, a role of the server that may log in or a group of such, a reader, a writer or a
curator of the hub, and not another of these. A reader reads what is common; a writer adds and
changes; a curator also decides on what is staged at the hub and deletes for good. With
--scope NAME sees and writes what is of that scope, too; several take one call each. Takes
whoever keeps the hub.""",
    Option("--scope S", "let NAME into this scope, too", setting="scope"),
    ON,
    OUTPUT,
    QUIET,
    examples=(
        "lore hub grant ann writer",
        "lore hub grant payments reader --scope payments",
    ),
    arguments=(Argument("NAME", "name"), Argument("ROLE", "role", choices=ROLES)),
    run=grant,
)


INIT = OldCommand(
    "hub init",
    "[options] URL|REMOTE",
    "",
    """\
Makes a hub of a database: a schema 'lore' with its tables, roles and functions. Of an older
one it brings the schema to this version; nothing of what it holds is lost, and once more
changes nothing. Takes a role that may create schemas in that database.""",
    OUTPUT,
    QUIET,
    examples=("createdb -h hub.example lore && lore hub init postgresql://hub.example/lore",),
    arguments=(Argument("URL|REMOTE", "place", "remotes"),),
    run=init,
)


REVOKE = OldCommand(
    "hub revoke",
    "[options] NAME",
    "",
    """\
Takes away from NAME its role at the hub and all scopes, or one scope alone. What NAME has
written stays, and so does what is in stores that have synced. Do it before DROP ROLE: another
role of that name would have the same scopes.""",
    Option("--scope S", "this scope alone", setting="scope"),
    ON,
    OUTPUT,
    QUIET,
    examples=("lore hub revoke ann --scope payments",),
    arguments=(Argument("NAME", "name"),),
    run=revoke,
)


STATUS = OldCommand(
    "hub status",
    "[options] [REMOTE|URL]",
    "",
    """\
What a hub is and holds, as whom you are known there, how it keeps what it has acknowledged
(with a warning where that may be lost), and how far this store is: records and links that
were not sent yet, lines that were not read. REMOTE may be left out where there is one.""",
    OUTPUT,
    QUIET,
    examples=("lore hub status team --jq .unsent",),
    arguments=(Argument("[REMOTE]", "remote", "remotes"),),
    run=status,
)


REMOTE_COMMAND = OldCommand(
    "remote",
    "add | list | set | remove",
    "the hubs that 'lore sync NAME' shares knowledge with",
    """\
A hub is a PostgreSQL database in which the stores of a team meet: 'lore hub init' makes one.
Remotes stand in your own config (REMOTES[NAME]), never in a project's. Passwords do not: they
are where libpq has them, ~/.pgpass, PGPASSFILE or a service of ~/.pg_service.conf. A hub on
another host is asked for its certificate (sslmode=verify-full) unless the URL, the service or
PGSSLMODE says otherwise. Several hosts in one URL are tried in turn.""",
    verbs=("add", "list", "set", "remove"),
)

TAKES = (
    Option("--types TYPE,…", "of these types; records unless given", kind="types"),
    Option("--tags TAG,…", "with one of these tags", kind="tags"),
    Option("--scopes NAME,…", "of these scopes, beside what is common; *: of all"),
)
"""What says what a remote takes."""


ADD = OldCommand(
    "remote add",
    "[options] NAME URL",
    "",
    """\
Names a hub. URL is postgresql://[user@]host[:port]/database, or postgresql://?service=NAME.
The options say what goes there; the rest stays here, and so do links that name it. What comes
from there is taken whatever it is.""",
    *TAKES,
    Option("--staged", "what is staged too"),
    OUTPUT,
    QUIET,
    examples=(
        "lore remote add team postgresql://hub.example/lore",
        "lore remote add team 'postgresql://?service=lore' --types decision,lesson,pattern",
    ),
    arguments=(Argument("NAME", "name"), Argument("URL", "url")),
    run=add,
)


LIST = OldCommand(
    "remote list",
    "[options]",
    "",
    """\
The remotes, by name, each with its URL and what it takes. 'lore hub status' asks one.""",
    OUTPUT,
    QUIET,
    run=list_remotes,
)


REMOVE = OldCommand(
    "remote remove",
    "[options] NAME",
    "",
    """\
Takes a remote out of the config, and what the store in use keeps of it. The hub has what it
has, and so does this store.""",
    OUTPUT,
    QUIET,
    BUSY_TIMEOUT,
    arguments=(Argument("NAME", "name", "remotes"),),
    run=remove,
)


SET = OldCommand(
    "remote set",
    "[options] NAME",
    "",
    """\
Changes where a remote is, or what it takes; an empty value takes that limit away. What it
takes from now on goes there with the next sync. What it has already stays there.""",
    Option("--url URL", "where it is"),
    *TAKES,
    Option("--staged", "what is staged too"),
    Option("--no-staged", "what is staged stays here"),
    OUTPUT,
    QUIET,
    arguments=(Argument("NAME", "name", "remotes"),),
    run=set_remote,
)
