"""lore graph unlink: the same as lore unlink."""

from __future__ import annotations

from . import unlink

COMMAND = unlink.COMMAND.as_verb(
    "graph unlink",
    "take a link away",
    """\
Takes a link away; 'lore show --history' still has it. 'lore unlink' is the
same.""",
    brief="A RELATION B",
    examples=(),
)
