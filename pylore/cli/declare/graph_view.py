"""lore graph view."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import QUIET

COMMAND = Command(
    "graph view",
    "[options] [ID… | QUERY]",
    "the graph as a page to look around in",
    """\
One HTML file for a browser: nodes and edges drawn, found by their words,
filtered by type and relation, each one's text a click or a key away. It loads
nothing from anywhere. Drawn is what the walk reaches from these nodes (a lone -
reads ids from stdin) or from what a search for the words finds; with neither,
the records with most edges and the files and symbols that they touch, or without
records the files with most edges.

Piped, the page goes to stdout. On a terminal it goes into a file under
~/.cache/lore, and the file's path is printed.""",
    Option(
        "--hops N", "how far to walk, 1 to 3; 2 unless set", whole=True, low=1, high=3, default=2
    ),
    Option(
        "--max-nodes N",
        "the most nodes to draw; 200 unless set",
        whole=True,
        low=1,
        high=2_000,
        default=200,
        into="most",
    ),
    Option("--limit N", "the most direct matches of a query", setting="limit"),
    Option("--edges NAME,…", "these relations only", setting="graph_edges"),
    Option("--exclude-edges NAME,…", "all but these", setting="graph_exclude_edges"),
    Option("-o, --output FILE", "write the page here; - is stdout", kind="files", into="path"),
    Option("--open", "write the file and show it in a browser ($BROWSER)", into="opened"),
    Option("--embedder NAME", "static, or none: search by words alone", setting="embedder"),
    QUIET,
    examples=('lore graph view "session tokens" --open',),
    arguments=(Argument("[ID…]", "words", "ids"),),
    settings=(
        "edge_weights",
        "edge_backward_weights",
        "min_confidence",
        "busy_timeout",
    ),
    run="view:view_command",
)
