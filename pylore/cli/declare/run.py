"""lore run and its verbs."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET

COMMAND = Command(
    "run",
    "start | finish | list | show",
    "keep what a piece of work was shown, and say what of it helped",
    """\
A run is one attempt at a task. With LORE_RUN set to its id, or --run ID, every
search records which records it showed and at which position; finishing the run
makes a link 'used_in_run' of each. What was helpful comes sooner next time.""",
    verbs=("start", "finish", "list", "show"),
)


START = Command(
    "run start",
    "[options]",
    "",
    """\
Starts a run and prints its id, alone.""",
    Option(
        "--task ID",
        "what it is an attempt at: the run becomes a part of it",
        kind="ids",
        default="",
    ),
    OUTPUT,
    QUIET,
    BUSY_TIMEOUT,
    examples=("export LORE_RUN=$(lore run start --task task-1a2b3c4d)",),
    run="runs:start",
)


SHOW = Command(
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


LIST = Command(
    "run list",
    "[options]",
    "",
    """\
The runs, the newest first, each with counts of what it was shown.""",
    Option("-n, --limit N", "how many; all unless set", whole=True, low=1, high=1_000_000_000),
    OUTPUT,
    QUIET,
    BUSY_TIMEOUT,
    run="runs:list_runs",
)


FINISH = Command(
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
