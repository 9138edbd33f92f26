"""lore undo."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET

COMMAND = Command(
    "undo",
    "[options] [ID…]",
    "take back the last change of a record, or the last command",
    """\
With ids, the last change of each of these records; called again, the one before. Without,
or with --last, all that the last command did to this store: what it changed is as it was,
what it added is forgotten. That is a command too, so the next 'lore undo' does it again.
Neither a purge nor 'lore restore-backup' can be taken back, the file that
the latter keeps can be restored. 'lore restore --at N' leads to any earlier state.""",
    Option("--last", "the last command; so it is without ids"),
    OUTPUT,
    QUIET,
    Option(
        "--embedder NAME", "what makes the vectors; none: no vectors for these", setting="embedder"
    ),
    BUSY_TIMEOUT,
    examples=("lore undo", "lore undo decision-1a2b3c4d"),
    arguments=(Argument("[ID…]", "ids", "ids"),),
    run="records:undo",
)
