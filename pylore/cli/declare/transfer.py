"""Declare backup and restore-backup."""

from __future__ import annotations

from ..declaration import Argument, OldCommand, Option
from . import BUSY_TIMEOUT, COUNTS_OUTPUT, IDS, QUIET, quiet

BACKUP_COMMAND = OldCommand(
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
    run="commands.store:backup",
)


RESTORE_BACKUP_COMMAND = OldCommand(
    "restore-backup",
    "FILE",
    "put what a backup holds in the place of the store",
    """\
FILE is what 'lore backup' has made. It is looked at before anything is changed: whether it
is whole, and whether there is anything in it that is not lore's. One of an older version
becomes one of this version; the file itself stays as it is.

What was there is kept beside the store, as search.db.before-restore-<time>, itself a
backup. Other commands may go on meanwhile: who reads sees the old store or the new one,
who writes waits. What was written since the backup is in the kept file alone: to bring
records back from an older store into this one, 'lore export' and 'lore import' do so.""",
    BUSY_TIMEOUT,
    quiet("do not say where the old store is kept"),
    COUNTS_OUTPUT,
    """\
Prints {file, bytes, nodes, edges, kept}; kept is null where there was nothing to keep.""",
    examples=(
        "lore restore-backup ~/backups/project.db",
        "lore init && lore restore-backup ~/backups/project.db",
    ),
    arguments=(Argument("FILE", "path", "files"),),
    also=(IDS,),
    run="commands.store:restore_backup",
)
