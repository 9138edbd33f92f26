"""lore show."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import OUTPUT

COMMAND = Command(
    "show",
    "[--history] ID…",
    "a record whole, with its edges",
    """\
One id prints one object; several, or a lone - (ids from stdin), an array. Being shown
counts as an access, of an entity's facts too: what was staged is confirmed after
promote_after of them.""",
    Option("--history", "ended edges too, and every state that an edge has left"),
    OUTPUT,
    arguments=(Argument("ID…", "ids", "ids"),),
    settings=None,
    hot="hot:show_command",
)
