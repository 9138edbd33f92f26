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
position, the search that gave it, its rating.""",
    Option("--run RUN", "the run, if it is not an argument", setting="run"),
    OUTPUT,
    QUIET,
    BUSY_TIMEOUT,
    arguments=(Argument("[RUN]", "run", "runs"),),
    run="runs:show",
)
