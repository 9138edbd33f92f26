"""lore hub init."""

from __future__ import annotations

from ..declaration import Argument, Command
from . import OUTPUT, QUIET

COMMAND = Command(
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
