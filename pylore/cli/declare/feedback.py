"""lore feedback."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET

COMMAND = Command(
    "feedback",
    "[options] ID…",
    "say which records helped and which did not",
    """\
What was helpful comes sooner in later searches, what was not comes later; no
result is ever left out for it. A record has one rating a run: the last one
counts. Without a run the rating belongs to this day. A lone - reads ids from stdin.""",
    Option("--helpful", "these helped", many=True, constant="helpful", into="verb"),
    Option("--unhelpful", "these did not", many=True, constant="unhelpful", into="verb"),
    Option(
        "--undo",
        "take back the newest rating of each of these; without an\n"
        "id, everything that was rated last at once",
        many=True,
        constant="undo",
        into="verb",
    ),
    Option(
        "--list",
        "the ratings, the newest first; of these records, if given",
        many=True,
        constant="list",
        into="verb",
    ),
    Option(
        "-n, --limit N", "how many to list; all unless set", whole=True, low=1, high=1_000_000_000
    ),
    Option("--run RUN", "the run it is about; LORE_RUN unless given", setting="run"),
    OUTPUT,
    QUIET,
    BUSY_TIMEOUT,
    examples=('lore search "token rotation" --ids -n 1 | lore feedback --helpful -',),
    arguments=(Argument("ID…", "ids", "ids"),),
    run="runs:feedback",
)
