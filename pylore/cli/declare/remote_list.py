"""lore remote list."""

from __future__ import annotations

from ..declaration import Command
from . import OUTPUT, QUIET

COMMAND = Command(
    "remote list",
    "[options]",
    "",
    """\
The remotes, by name, each with its URL and what it takes. 'lore hub status' asks one.""",
    OUTPUT,
    QUIET,
    run="remote:list_remotes",
)
