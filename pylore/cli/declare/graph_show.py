"""lore graph show: the same as lore show."""

from __future__ import annotations

from . import show

COMMAND = show.COMMAND.as_verb(
    "graph show",
    "a record whole, with its edges",
    """\
A record whole, with its edges. One id prints one object; several, or a lone
- (ids from stdin), an array. 'lore show' is the same.""",
    brief="ID…",
    examples=(),
)
