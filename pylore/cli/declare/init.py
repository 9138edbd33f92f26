"""lore init."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET

COMMAND = Command(
    "init",
    "[options] [FOLDER]",
    "make a store for this folder",
    """\
Makes .lore/ in the current folder, or in FOLDER, or makes the folder that
LORE_DIR names. Commands run in that folder or below it use this store. The
database stays out of git; 'lore export' writes what goes in. What is made is for you
alone (0700, 0600), whatever the umask. A store that is there stays as it is.""",
    Option(
        "--fulltext ENGINE",
        "auto, fts5 or fts4; auto takes fts5 where SQLite has it",
        setting="fulltext",
    ),
    BUSY_TIMEOUT,
    OUTPUT,
    QUIET,
    arguments=(Argument("[FOLDER]", "folder", "files"),),
    run="system:init",
)
