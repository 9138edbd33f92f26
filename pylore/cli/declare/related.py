"""lore related."""

from __future__ import annotations

from ..declaration import NO_PAGER, Argument, Command, Option, Row
from . import MAX_BYTES, ONELINE, OUTPUT

COMMAND = Command(
    "related",
    "[options] ID|FILE… | --files GLOB,…",
    "what is connected to a node or known about a file, nearest first",
    """\
Walks from the nodes given (a lone - reads ids from stdin) as a search does.

In place of an id there may be a path, from the working directory or from the
project's root: then it is what is known about this file, records first: those
tied to it (hops 0), then those tied to files that it imports, that import it, or
that change together with it (1 hop, over that file), then what the walk reaches.
A folder stands for all files below it, @git for those changed in the work tree.
Where a node has such an id, it is the node (./NAME is a file).""",
    Option(
        "--files GLOB,…",
        "files too: globs from the project's root, or @git for those\nchanged in the work tree",
        kind="files",
        many=True,
    ),
    Option("--hops N", "how far to walk, 1 to 3; 1 unless set", whole=True, low=1, high=3),
    Option("--edges NAME,…", "walk these relations only", setting="graph_edges"),
    Option("--exclude-edges NAME,…", "never walk these", setting="graph_exclude_edges"),
    Option("--type TYPE,…", "return only these types, or 'records'", kind="types", many=True),
    Option(
        "--exclude ID,…", "neither return these nodes nor walk through them", kind="ids", many=True
    ),
    Row(
        "as in 'lore search'",
        Option("--decay X", setting="hop_decay"),
        Option("--max-nodes N", setting="graph_max_nodes"),
    ),
    Option("--symbols", "the symbols of these files too, which are counted otherwise"),
    Option("--explain", "every factor of each score"),
    Option("--tree", "each reached node hangs on the one it was reached from"),
    Option("-n, --limit N", "the most to return, nearest first; all unless set", setting="limit"),
    ONELINE,
    OUTPUT,
    NO_PAGER,
    MAX_BYTES,
    examples=(
        "lore related decision-1a2b3c4d --hops 2 --type file --ids",
        "lore related src/auth.py --text",
    ),
    arguments=(Argument("ID|FILE…", "ids", "ids"),),
    settings=None,
    hot="hot:related_command",
)
