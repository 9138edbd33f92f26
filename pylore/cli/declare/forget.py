"""lore forget."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET

COMMAND = Command(
    "forget",
    "[options] ID…|--proposed",
    "take records and their links out of every search",
    """\
What is forgotten stays in the store: 'lore restore' brings it back. A lone -
reads ids from stdin. What somebody deleted for good and shared by a file is
forgotten here; --purge --proposed deletes it here as well.""",
    Option("--purge", "delete for good, with every link and all history"),
    Option("--proposed", "with --purge: what a file says was deleted for good elsewhere"),
    OUTPUT,
    QUIET,
    BUSY_TIMEOUT,
    examples=("lore list --type observation --until 1y --ids | lore forget -",),
    arguments=(Argument("ID…", "ids", "ids"),),
    run="records:forget",
)
