"""lore plugin list."""

from __future__ import annotations

from ..declaration import Command
from . import OUTPUT, QUIET

COMMAND = Command(
    "plugin list",
    "[options]",
    "",
    """\
The plugins that there are, your own folder first, then PATH: kind, name, file, summary,
and whether lore uses it, or why not.""",
    OUTPUT,
    QUIET,
    run="plugins:list_plugins",
)
