"""lore backup."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import BUSY_TIMEOUT, COUNTS_OUTPUT, IDS, QUIET

COMMAND = Command(
    "backup",
    "[--force] FILE",
    "copy the whole store into one file, while others may write to it",
    """\
The copy has everything: records, history, what 'lore index' has found, full text and
vectors. It is the store as it was at one moment. It is checked when it is written, and
only then takes its place; it is readable by you alone. A former backup is replaced, any
other file is not. 'lore restore-backup' brings it back. For a text that git can compare
and another lore can merge, see 'lore export'.""",
    Option("--force", "replace a file that is no backup too"),
    BUSY_TIMEOUT,
    QUIET,
    COUNTS_OUTPUT,
    """\
Prints {file, bytes, nodes, edges}.""",
    examples=(
        "lore backup ~/backups/project.db",
        "lore backup ~/backups/project-$(date +%F).db",
    ),
    arguments=(Argument("FILE", "path", "files"),),
    also=(IDS,),
    run="backup:backup",
)
