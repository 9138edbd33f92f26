"""lore hook status."""

from __future__ import annotations

from ..declaration import Command
from . import OUTPUT, QUIET

COMMAND = Command(
    "hook status",
    "[options]",
    "",
    """\
Where hooks are installed, a line for each agent and settings file and for each hook of
git, and whether the store of this folder is trusted: else they say nothing.""",
    OUTPUT,
    QUIET,
    run="hooks:status",
)
