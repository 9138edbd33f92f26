"""lore graph link: the same as lore link."""

from __future__ import annotations

from . import link

COMMAND = link.COMMAND.as_verb(
    "graph link",
    "link two nodes",
    """\
Links two nodes. A link that was taken away stands again, with its weight and metadata;
the same link twice is one link. 'lore link' is the same.""",
    brief="A RELATION B",
    examples=("lore graph link lesson-1a2b3c4d learned_from failure-5e6f7a8b",),
)
