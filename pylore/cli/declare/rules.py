"""lore rules and its verb."""

from __future__ import annotations

from ..declaration import Argument, Command
from . import OUTPUT, QUIET

RULES_COMMAND = Command(
    "rules",
    "suggest ID",
    "find rules by which a record can be held against the code",
    """\
'lore anchor ID --rule' ties a record to a rule; this finds out which.""",
    verbs=("suggest",),
)


SUGGEST = Command(
    "rules suggest",
    "[options] ID",
    "propose rules from a record's words, with what each finds today",
    """\
Patterns come from the code that a record names, in backticks, or with a dot,
an underscore or parentheses; what is expected from its words (never, always, only in),
and where from the folders that it names. Each is counted in the files as they are. Pick
one, and run its command: nothing is written before.""",
    OUTPUT,
    QUIET,
    examples=("lore rules suggest decision-1a2b3c4d --text",),
    arguments=(Argument("ID", "id", "ids"),),
    run="commands.claims:suggest_command",
)
