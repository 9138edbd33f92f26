"""lore graph stats."""

from __future__ import annotations

from ..declaration import Command, Option
from . import COUNTS_OUTPUT

COMMAND = Command(
    "graph stats",
    "[options]",
    "counts: nodes, edges, degrees, components",
    """\
Counts: nodes and their types, edges and their relations, the mean and the
largest degree, nodes without an edge, connected components, edges with an
end that is not in the store (dangling_edges), forgotten nodes. A dangling
edge counts for the degree of its other end and connects nothing.
coverage: of the 200 newest runs, how many are finished, records that they were
shown (or that were rated all the same), and how many were rated. diversity: of
the answers that runs were shown, which share of the top five is of one category,
on average (share) and at most; only answers of which at least three of the five
are known count.""",
    Option(
        "--funnel",
        "by week instead: events of this project's sessions, candidates found,\n"
        "known already, promoted and refused; of the promoted how many are confirmed,\n"
        "how many were used, in how many finished runs, and how they were rated",
    ),
    COUNTS_OUTPUT,
    settings=None,
    hot="hot:stats_command",
)
