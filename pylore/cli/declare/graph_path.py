"""lore graph path."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import OUTPUT, QUIET

COMMAND = Command(
    "graph path",
    "[options] A B",
    "the shortest way from one node to another",
    """\
The way from A to B with the fewest edges, walked in either direction; among
several, the one with the largest product of edge and relation weights. No
way is an answer too: "hops" is null and "path" is empty.""",
    Option("--max-hops N", "look no further than this", whole=True, low=0, high=1_000_000_000),
    Option("--edges NAME,…", "walk these relations only", setting="graph_edges"),
    Option("--exclude-edges NAME,…", "never walk these", setting="graph_exclude_edges"),
    OUTPUT,
    examples=("lore graph path file-src/auth.py goal-1a2b3c4d --ids",),
    arguments=(
        Argument("A", "from_id", "ids"),
        Argument("B", "to_id", "ids"),
    ),
    also=(QUIET,),
    settings=(
        "edge_weights",
        "edge_backward_weights",
        "busy_timeout",
    ),
    run="graph:path_command",
    brief="A B",
)
