"""lore hub and its verbs."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import COUNTS_OUTPUT, OUTPUT, QUIET

ON = Option("--on REMOTE|URL", "which hub; the only remote unless set", default="", kind="remotes")

COMMAND = Command(
    "hub",
    "init | status | grant | revoke | audit",
    "a PostgreSQL database in which the stores of a team meet",
    """\
Every machine has its own store and searches that; 'lore sync NAME' sends what has changed in
it to the hub and merges what others have sent. The driver comes by 'make setup-hub'.""",
    verbs=("init", "status", "grant", "revoke", "audit"),
)


AUDIT = Command(
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
    run="hub_rights:audit",
)


ROLES = ("reader", "writer", "curator")
GRANT = Command(
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
    run="hub_rights:grant",
)


INIT = Command(
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
    run="hub:init",
)


REVOKE = Command(
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
    run="hub_rights:revoke",
)


STATUS = Command(
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
    run="hub:status",
)
