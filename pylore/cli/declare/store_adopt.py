"""lore store adopt."""

from __future__ import annotations

from ..declaration import Argument, Command
from . import OUTPUT, QUIET

COMMAND = Command(
    "store adopt",
    "[options] FOLDER",
    "",
    """\
Makes the store of a project that was in FOLDER that of the project in use: for one that was
moved. It is refused while a project is still in FOLDER, or where this one has a store.""",
    OUTPUT,
    QUIET,
    arguments=(Argument("FOLDER", "folder", "files"),),
    run="stores:adopt",
)
