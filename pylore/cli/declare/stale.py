"""lore stale."""

from __future__ import annotations

from ..declaration import Command, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET

COMMAND = Command(
    "stale",
    "[options]",
    "list what no longer holds for the code of today",
    """\
Verifies every anchor, as 'lore verify' does, and prints those that have
drifted or are invalid. Relocated ones hold: their anchors have moved, and what
they lead to is as it was. 'lore restore ID' lets a record hold for the code as it
is now; where the code is gone, 'lore anchor ID FILE --symbol NAME' ties it to
another place, and 'lore anchor ID FILE --symbol OLD --remove' takes the broken
anchor away.""",
    Option("--fail", "exit 1 if there are any: for CI"),
    Option("--kept", "print the verdicts as they were last given; look at no file"),
    OUTPUT,
    QUIET,
    Option(
        "--embedder NAME", "static, or none: no vectors for a new commit's node", setting="embedder"
    ),
    BUSY_TIMEOUT,
    examples=(
        "lore stale --fail --text",
        "lore stale --ids | xargs lore show",
    ),
    run="anchors:stale",
)
