"""lore verify."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET

COMMAND = Command(
    "verify",
    "[options] [ID…]",
    "look whether records still hold for the code of today",
    """\
Gives each anchor of these records, or of all, its verdict (see 'lore anchor
--help') and keeps it. A lone - reads ids from stdin. A file that has not
changed costs a stat; of one that has, what is anchored is compared. A symbol
that is defined nowhere is looked for by likeness, in git's history. A record
whose code has changed or gone is linked to the commit that did it
(invalidated_by); 'lore restore ID' lets it hold for the code as it is now.""",
    Option("--changed", "print only anchors whose place or verdict has changed"),
    OUTPUT,
    QUIET,
    Option(
        "--embedder NAME", "static, or none: no vectors for a new commit's node", setting="embedder"
    ),
    BUSY_TIMEOUT,
    examples=(
        "lore verify --changed",
        "lore list --type decision --ids | lore verify -",
    ),
    arguments=(Argument("ID…", "ids", "ids"),),
    run="anchors:verify_command",
)
