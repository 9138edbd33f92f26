"""lore retract."""

from __future__ import annotations

from ..declaration import Argument, Command
from . import BUSY_TIMEOUT, OUTPUT, QUIET

COMMAND = Command(
    "retract",
    "[options] ID… | SUBJECT PREDICATE OBJECT",
    "say that records, or a fact, are wrong",
    """\
A retracted record stays: a search finds it with --status retracted, and 'lore show'
has it. A retracted fact is ended, and 'lore show --history' has it. 'lore confirm'
takes it back. A lone - reads ids from stdin.""",
    OUTPUT,
    QUIET,
    BUSY_TIMEOUT,
    examples=('lore retract "billing service" uses mysql',),
    arguments=(Argument("ID…", "words", "ids"),),
    run="facts:retract",
)
