"""lore graph hubs."""

from __future__ import annotations

from ..declaration import Command, Option
from . import OUTPUT, QUIET

COMMAND = Command(
    "graph hubs",
    "[options]",
    "the nodes with most edges",
    """\
The nodes with most edges, most first.""",
    Option(
        "-n, --limit N",
        "how many; 10 unless set",
        whole=True,
        low=1,
        high=1_000_000_000,
        default=10,
    ),
    OUTPUT,
    also=(QUIET,),
    settings=("busy_timeout",),
    run="graph:hubs_command",
)
