"""lore plugin test."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import QUIET

COMMAND = Command(
    "plugin test",
    "[options] FILE [SAMPLE]",
    "",
    """\
Runs a plugin as lore would, in an empty folder with a store of its own, and prints how it
went as TAP: its head, empty and valid input, 1 MiB, bad UTF-8, a closed pipe, the time it
takes, children that it leaves behind, and whether stdout has its results alone. FILE is a
path, or a name in your folder of commands. An importer is given SAMPLE, a file or folder of
its format. A command is run without arguments. Exit code 1 if something is not ok.""",
    Option("--event-timeout SECONDS", "the time that an event plugin has", setting="event_timeout"),
    Option(
        "--format-timeout SECONDS",
        "that of an importer, an exporter, a redactor or a command",
        setting="format_timeout",
    ),
    Option("--retriever-timeout SECONDS", "that of a retriever", setting="retriever_timeout"),
    QUIET,
    examples=("lore plugin test lore-import-csv table.csv",),
    arguments=(Argument("FILE", "file", "files"), Argument("[SAMPLE]", "sample", "files")),
    run="plugins:test",
)
