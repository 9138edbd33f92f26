"""lore unlink."""

from __future__ import annotations

from ..declaration import Argument, Command
from . import BUSY_TIMEOUT, OUTPUT, quiet

COMMAND = Command(
    "unlink",
    "[options] A RELATION B",
    "take a link away",
    """\
A and B are ids, and the link leads from A to B. 'lore show --history' still has
it, and 'lore link' makes it stand again.""",
    OUTPUT,
    BUSY_TIMEOUT,
    quiet("leave out the notes on stderr"),
    examples=("lore unlink lesson-1a2b3c4d learned_from failure-5e6f7a8b",),
    arguments=(
        Argument("A", "from_id", "ids"),
        Argument("RELATION", "relation", "relations"),
        Argument("B", "to_id", "ids"),
    ),
    run="records:unlink",
)
