"""lore show."""

from __future__ import annotations

from ..declaration import NO_PAGER, Argument, Command, Option
from . import MAX_BYTES, OUTPUT

COMMAND = Command(
    "show",
    "[--history] ID…",
    "a record whole, with its edges",
    """\
One id prints one object; several, or a lone - (ids from stdin), an array. Being shown
counts as an access, of an entity's facts too: what was staged is confirmed after
promote_after of them. The states of a record are numbered from 1, the first one: see
'lore restore --at N'.""",
    Option("--history", "every state that the record and its edges have left, ended edges too"),
    OUTPUT,
    NO_PAGER,
    MAX_BYTES,
    arguments=(Argument("ID…", "ids", "ids"),),
    settings=None,
    hot="hot:show_command",
)
