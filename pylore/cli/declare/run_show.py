"""lore run show."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET

COMMAND = Command(
    "run show",
    "[options] [RUN]",
    "",
    """\
One run, LORE_RUN unless given, with each record that it was shown: its best
position, the search or question that gave it, its rating. coverage: how many were
shown and rated; diversity: which share of the top five of an answer is of one
category, on average (share) and at most.""",
    Option("--run RUN", "the run, if it is not an argument", setting="run"),
    OUTPUT,
    QUIET,
    BUSY_TIMEOUT,
    arguments=(Argument("[RUN]", "run", "runs"),),
    run="runs:show",
)
