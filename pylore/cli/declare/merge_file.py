"""lore merge-file."""

from __future__ import annotations

from ..declaration import Argument, Command, Option

COMMAND = Command(
    "merge-file",
    "[--path PATH] BASE OURS THEIRS",
    "merge two exports by record and edge, as git's merge driver",
    """\
Writes what OURS and THEIRS say together over OURS: of a record that both have the later
state, as 'lore import' would. BASE is what both came from; an empty file will do. There
are no conflict markers, and no store is needed. Records that both had changed are named
on stderr: the newer version wins, and its field 'was' names the other one. A file that
git has merged line by line is merged too, and so are two files of other kinds of lines:
what is not known here is kept.

A line that is not JSON in one of the files: exit code 1, and OURS stays as it was.

'lore sync --install' has git call it.""",
    Option("--path PATH", "what messages call the file"),
    examples=("lore merge-file /dev/null mine.jsonl theirs.jsonl",),
    arguments=(
        Argument("BASE", "base", "files"),
        Argument("OURS", "ours", "files"),
        Argument("THEIRS", "theirs", "files"),
    ),
    run="merge_file:merge_file",
)
