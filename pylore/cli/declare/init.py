"""lore init."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET

COMMAND = Command(
    "init",
    "[options] [FOLDER]",
    "make a store for this folder",
    """\
Makes the current folder, or FOLDER, a project: .lore/ there for what is shared, and a store
in your data folder, for you alone (0700, 0600). Commands in that folder or below use it. What
.lore/knowledge.jsonl has is read. Under LORE_DIR it makes search.db in that folder. A store
that is there stays as it is.""",
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
