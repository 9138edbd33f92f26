"""lore warm."""

from __future__ import annotations

from ..declaration import Command, Option
from . import COUNTS_OUTPUT, QUIET

COMMAND = Command(
    "warm",
    "[options]",
    "load what searches read, so that the first one is fast",
    """\
Reads the pages of the store that searches go through (full text, vectors, edges,
and rows up to 256 MB) and the embedder's files, so that the system has them in
memory: after a start of the machine, or after much else has been read. It writes
nothing and stays in no memory of its own.""",
    Option(
        "--entity ID",
        "what is around this node too, within activation_hops: nodes,\nedges and passages",
        kind="ids",
    ),
    COUNTS_OUTPUT,
    QUIET,
    examples=("lore warm", "lore warm --entity entity-duckdb --json"),
    settings=("activation_hops", "graph_fanout", "embedder", "busy_timeout"),
    run="warm:warm",
)
