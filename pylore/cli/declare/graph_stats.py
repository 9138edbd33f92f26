"""lore graph stats."""

from __future__ import annotations

from ..declaration import Command
from . import COUNTS_OUTPUT

COMMAND = Command(
    "graph stats",
    "[options]",
    "counts: nodes, edges, degrees, components",
    """\
Counts: nodes and their types, edges and their relations, the mean and the
largest degree, nodes without an edge, connected components, edges with an
end that is not in the store (dangling_edges), forgotten nodes. A dangling
edge counts for the degree of its other end and connects nothing.""",
    COUNTS_OUTPUT,
    settings=None,
    hot="hot:stats_command",
)
