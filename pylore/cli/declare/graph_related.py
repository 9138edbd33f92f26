"""lore graph related: the same as lore related."""

from __future__ import annotations

from . import related

COMMAND = related.COMMAND.as_verb(
    "graph related",
    "what is connected to a node, nearest first",
    """\
What is connected to a node, nearest first: walks from the nodes given (a
lone - reads ids from stdin) as a search does. 'lore related' is the same,
and its help says what a FILE does.""",
    brief="ID|FILE…",
    examples=("lore graph related decision-1a2b3c4d --hops 2 --type file --ids",),
)
