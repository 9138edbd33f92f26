"""lore remote remove."""

from __future__ import annotations

from ..declaration import Argument, Command
from . import BUSY_TIMEOUT, OUTPUT, QUIET

COMMAND = Command(
    "remote remove",
    "[options] NAME",
    "",
    """\
Takes a remote out of the config, and what the store in use keeps of it. The hub has what it
has, and so does this store.""",
    OUTPUT,
    QUIET,
    BUSY_TIMEOUT,
    arguments=(Argument("NAME", "name", "remotes"),),
    run="remote:remove",
)
