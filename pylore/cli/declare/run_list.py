"""lore run list."""

from __future__ import annotations

from ..declaration import Command, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET

COMMAND = Command(
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
