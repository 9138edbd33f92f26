"""lore store path."""

from __future__ import annotations

from ..declaration import Command
from . import OUTPUT, QUIET

COMMAND = Command(
    "store path",
    "[options]",
    "",
    """\
Prints the path of the search.db that commands in this folder use; text unless asked otherwise.""",
    OUTPUT,
    QUIET,
    examples=("sqlite3 -readonly \"$(lore store path)\" 'select id, title from nodes limit 5'",),
    run="stores:path",
)
