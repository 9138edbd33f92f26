"""lore restore-backup."""

from __future__ import annotations

from ..declaration import Argument, Command
from . import BUSY_TIMEOUT, COUNTS_OUTPUT, IDS, quiet

COMMAND = Command(
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
    run="backup:restore_backup",
)
