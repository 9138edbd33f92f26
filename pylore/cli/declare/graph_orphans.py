"""lore graph orphans."""

from __future__ import annotations

from ..declaration import Command, Option
from . import OUTPUT, QUIET

COMMAND = Command(
    "graph orphans",
    "[options]",
    "the nodes without an edge",
    """\
The nodes without an edge, by id.""",
    Option("-n, --limit N", "how many; all unless set", whole=True, low=1, high=1_000_000_000),
    Option("--type TYPE,…", "these types only", kind="types", many=True, into="types"),
    OUTPUT,
    examples=("lore graph orphans --type decision --ids | fzf | xargs lore show",),
    also=(QUIET,),
    settings=("busy_timeout",),
    run="graph:orphans_command",
)
