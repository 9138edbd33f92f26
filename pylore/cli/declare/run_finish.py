"""lore run finish."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET

COMMAND = Command(
    "run finish",
    "[options] [RUN]",
    "",
    """\
Ends a run, LORE_RUN unless given: every record that it was shown is linked to
it, rated or not. What is rated need not have been shown. A lone - in place of
ids reads them from stdin.""",
    Option("--helpful ID,…", "what helped", kind="ids", many=True),
    Option("--unhelpful ID,…", "what did not", kind="ids", many=True),
    Option("--run RUN", "the run, if it is not an argument", setting="run"),
    OUTPUT,
    QUIET,
    BUSY_TIMEOUT,
    examples=("lore run finish --helpful decision-1a2b3c4d,lesson-5e6f7a8b",),
    arguments=(Argument("[RUN]", "run", "runs"),),
    run="runs:finish",
)
