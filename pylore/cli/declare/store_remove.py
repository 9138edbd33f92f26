"""lore store remove."""

from __future__ import annotations

from ..declaration import Argument, Command
from . import OUTPUT, QUIET

COMMAND = Command(
    "store remove",
    "[options] FOLDER",
    "",
    """\
Deletes the store of a project that was in FOLDER, for good. It is refused while the project is
still there.""",
    OUTPUT,
    QUIET,
    arguments=(Argument("FOLDER", "folder", "files"),),
    run="stores:remove",
)
