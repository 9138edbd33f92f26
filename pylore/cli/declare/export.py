"""lore export."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import BUSY_TIMEOUT, SCOPES

COMMAND = Command(
    "export",
    "[--type TYPE,…] [--state | --since STATE] [FILE]",
    "write everything out as JSON lines: what goes into git, and to another store",
    """\
The lines are sorted, so that the same knowledge is the same file, and
'lore import' reads them back. Without FILE, or for a lone -, they go to stdout;
a FILE is replaced only when all of it has been written. A link that leads out of the
project is not written through.

Two stores need no whole export to become equal. --state prints what this one has, as sums
of what it says; --since reads that of the other one, and writes the lines alone that it
lacks. The other way round is the same with the sides changed. How often something was read
stays where it is.""",
    Option(
        "--type TYPE,…",
        "only nodes of these types, with all of their links; 'records'\n"
        "is what people wrote: all but files, symbols, commits and runs",
        kind="types",
        many=True,
        into="types",
    ),
    Option("--state", "print what this store has, for --since on the other side"),
    Option(
        "--since STATE",
        "only what a store with this state lacks: a file, or -\n"
        "for stdin; of the types that it was made with",
        kind="files",
    ),
    Option(
        "--format FORMAT",
        "hand the lines to lore-export-FORMAT, an executable of yours, and\n"
        "write what it makes of them (see docs/plugins.md)",
        into="form",
    ),
    SCOPES,
    BUSY_TIMEOUT,
    examples=(
        "lore export backup.jsonl",
        "lore export --type records knowledge.jsonl && git add knowledge.jsonl",
        "ssh b lore export --state | lore export --since - | ssh b lore import -",
        "lore export --state | ssh b lore export --since - | lore import -",
    ),
    arguments=(Argument("[FILE]", "path", "files"),),
    run="transfer:export",
)
