"""lore confirm."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET

COMMAND = Command(
    "confirm",
    "[options] ID… | SUBJECT PREDICATE OBJECT",
    "say that records, or a fact, are right",
    """\
What was staged counts for more from now on; what was superseded or retracted stands
again. Where the predicate has one value at a time (the setting single_valued, or a
fact that was stated with --single), the other values are superseded, and kept. A
lone - reads ids from stdin; 'lore list --status staged' has them.""",
    Option(
        "--single-valued NAME,…", "predicates with one value at a time", setting="single_valued"
    ),
    OUTPUT,
    QUIET,
    BUSY_TIMEOUT,
    examples=(
        "lore confirm lesson-1a2b3c4d",
        "lore confirm jacq lives_in oslo",
    ),
    arguments=(Argument("ID…", "words", "ids"),),
    run="facts:confirm",
)
