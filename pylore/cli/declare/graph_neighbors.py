"""lore graph neighbors."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import OUTPUT, QUIET

COMMAND = Command(
    "graph neighbors",
    "[options] ID",
    "everything one edge away",
    """\
Every node one edge away, all of them, strongest edge first. An edge is as
strong as its weight times its relation's weight in that direction.""",
    Option(
        "--direction D",
        "out (edges from here), in (edges to here) or both",
        choices=("out", "in", "both"),
        default="both",
    ),
    Option("--edges NAME,…", "these relations only", setting="graph_edges"),
    Option("--exclude-edges NAME,…", "leave these out", setting="graph_exclude_edges"),
    OUTPUT,
    examples=("lore graph neighbors file-src/auth.py --direction in --edges imports",),
    arguments=(Argument("ID", "id", "ids"),),
    also=(QUIET,),
    settings=(
        "edge_weights",
        "edge_backward_weights",
        "busy_timeout",
    ),
    run="graph:neighbors_command",
    brief="ID",
)
