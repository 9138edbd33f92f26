"""lore graph, whose verbs are declared beside it."""

from __future__ import annotations

from ..declaration import Command, VerbList

COMMAND = Command(
    "graph",
    "<verb> [arguments]",
    "what is connected to what: ask, count, draw and change the graph",
    """\
Also runs on its own, as graph/graph.sh <verb>. 'lore graph <verb> --help'
prints one verb's part of this:""",
    VerbList(),
    """\
Relations may be written in capitals too (ANCHORED_TO). Settings such as
--edge-weights and --busy-timeout are options as in 'lore search'.""",
    verbs=(
        "related",
        "neighbors",
        "path",
        "show",
        "stats",
        "hubs",
        "orphans",
        "relations",
        "similar",
        "duplicates",
        "link",
        "unlink",
        "analyze-cochanges",
        "analyze-imports",
        "export",
        "view",
    ),
)
