"""lore hub grant."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import OUTPUT, QUIET

ROLES = ("reader", "writer", "curator")
ON = Option("--on REMOTE|URL", "which hub; the only remote unless set", default="", kind="remotes")

COMMAND = Command(
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
