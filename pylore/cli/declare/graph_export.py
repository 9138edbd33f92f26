"""lore graph export."""

from __future__ import annotations

from ..declaration import Command, Option

COMMAND = Command(
    "graph export",
    "[options]",
    "the graph as a drawing or as data",
    """\
The graph as text for other programs, always in the same order: live nodes,
and the live edges that have both ends among them.""",
    Option(
        "--format FORMAT",
        "json (nodes and links; unless set), dot (Graphviz),\nmermaid (a flowchart) or graphml",
        choices=("json", "dot", "mermaid", "graphml"),
        default="json",
        into="form",
    ),
    Option("--type TYPE,…", "only nodes of these types", kind="types", many=True, into="types"),
    Option("--edges NAME,…", "only these relations", setting="graph_edges"),
    Option("--exclude-edges NAME,…", "all but these", setting="graph_exclude_edges"),
    Option("--around ID", "only what is connected to this node,", kind="ids"),
    Option("--hops N", "within so many hops; 1 unless set", whole=True, low=0, high=1_000_000_000),
    examples=("lore graph export --format dot --around goal-1a2b3c4d | dot -Tsvg >goal.svg",),
    settings=("busy_timeout",),
    run="graph:export_command",
)
