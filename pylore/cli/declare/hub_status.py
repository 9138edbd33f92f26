"""lore hub status."""

from __future__ import annotations

from ..declaration import Argument, Command
from . import OUTPUT, QUIET

COMMAND = Command(
    "hub status",
    "[options] [REMOTE|URL]",
    "",
    """\
What a hub is and holds, as whom you are known there, how it keeps what it has acknowledged
(with a warning where that may be lost), and how far this store is: records and links that
were not sent yet, lines that were not read. REMOTE may be left out where there is one.""",
    OUTPUT,
    QUIET,
    examples=("lore hub status team --jq .unsent",),
    arguments=(Argument("[REMOTE]", "remote", "remotes"),),
    run="hub:status",
)
