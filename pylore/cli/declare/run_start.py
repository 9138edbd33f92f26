"""lore run start."""

from __future__ import annotations

from ..declaration import Command, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET

COMMAND = Command(
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
