"""lore trust."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET

COMMAND = Command(
    "trust",
    "[--revoke] [FOLDER]",
    "let programs tell unasked what a project's collaborators wrote",
    """\
What comes with a clone was written by others. It is searched when you ask; until you trust
the project, hooks say nothing of it, 'lore mcp' writes nothing, and no hub is sent any of it.
A project that shared nothing when you ran 'lore init' is trusted. FOLDER is the project; the
one in use unless given.""",
    Option("--revoke", "take it back"),
    BUSY_TIMEOUT,
    OUTPUT,
    QUIET,
    examples=("lore trust", "lore trust --revoke ~/src/shop"),
    arguments=(Argument("[FOLDER]", "folder", "files"),),
    run="system:trust",
)
