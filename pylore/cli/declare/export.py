"""lore export."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import BUSY_TIMEOUT

COMMAND = Command(
    "export",
    "[--type TYPE,…] [FILE]",
    "write everything out as JSON lines: the backup, and what goes into git",
    """\
The lines are sorted, so that the same knowledge is the same file, and
'lore import' reads them back. Without FILE, or for a lone -, they go to stdout;
a FILE is replaced only when all of it has been written. A link that leads out of the
project is not written through.""",
    Option(
        "--type TYPE,…",
        "only nodes of these types, with all of their links; 'records'\n"
        "is what people wrote: all but files, symbols, commits and runs",
        kind="types",
        many=True,
        into="types",
    ),
    BUSY_TIMEOUT,
    examples=(
        "lore export backup.jsonl",
        "lore export --type records knowledge.jsonl && git add knowledge.jsonl",
    ),
    arguments=(Argument("[FILE]", "path", "files"),),
    run="transfer:export",
)
