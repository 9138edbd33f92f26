"""lore graph relations."""

from __future__ import annotations

from ..declaration import Command
from . import OUTPUT, QUIET

COMMAND = Command(
    "graph relations",
    "[options]",
    "the relations: their weights, how many edges have them",
    """\
Every relation: its weight walked forwards and backwards, whether that comes
from the store or from a setting, what it leads from and to, its live edges.""",
    OUTPUT,
    examples=("lore graph relations --jq '.[] | select(.edges > 0).name'",),
    also=(QUIET,),
    settings=(
        "edge_weights",
        "edge_backward_weights",
        "busy_timeout",
    ),
    run="graph:relations_command",
)
