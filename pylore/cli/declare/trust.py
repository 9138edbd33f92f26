"""lore trust."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET

COMMAND = Command(
    "trust",
    "[--revoke] [FOLDER]",
    "let programs write into a project's store, and tell of it unasked",
    """\
A .lore may have come with a clone, and what it says with it. Such a store is searched
when you ask; 'lore mcp' writes nothing into it and hooks say nothing of it until you
have said here that it is yours. A store that you make by 'lore init' is. FOLDER is the
project or its .lore; the store in use unless given.

Who is trusted stands in your own state folder, outside of any repository. A store that
is replaced, as by a checkout, is another one, and asked for again.""",
    Option("--revoke", "take it back"),
    BUSY_TIMEOUT,
    OUTPUT,
    QUIET,
    examples=("lore trust", "lore trust --revoke ~/src/shop"),
    arguments=(Argument("[FOLDER]", "folder", "files"),),
    run="system:trust",
)
