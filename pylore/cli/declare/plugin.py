"""lore plugin and its verbs."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import OUTPUT, QUIET

COMMAND = Command(
    "plugin",
    "list | new | test",
    "executables of your own that lore calls: list them, begin one, try one",
    """\
lore-NAME is a command, lore-retriever-NAME one more retriever, lore-import-FORMAT and
lore-export-FORMAT are formats, lore-redact-NAME takes secrets out of texts, and
lore-hook-EVENT or lore-hook-EVENT.NAME is told of an event: pre-add and pre-promote, which
it may refuse, post-add, post-edit, post-link, post-forget, post-promote, post-index,
post-import and post-sync. They lie in ~/.config/lore/commands, or where the setting
plugin_dir says; all but event plugins may lie on PATH too. None comes from a project.""",
    verbs=("list", "new", "test"),
)


LIST = Command(
    "plugin list",
    "[options]",
    "",
    """\
The plugins that there are, your own folder first, then PATH: kind, name, file, summary,
and whether lore uses it, or why not.""",
    OUTPUT,
    QUIET,
    run="plugins:list_plugins",
)


NEW = Command(
    "plugin new",
    "[options] KIND NAME",
    "",
    """\
Writes a working plugin in bash into your folder of commands, to go on from. KIND is
command, retriever, import, export, redact or hook; the NAME of a hook is an event, or
EVENT.NAME. What is there already stays.""",
    OUTPUT,
    QUIET,
    examples=("lore plugin new import csv", "lore plugin new hook post-add.mail"),
    arguments=(
        Argument(
            "KIND", "kind", choices=("command", "retriever", "import", "export", "redact", "hook")
        ),
        Argument("NAME", "name"),
    ),
    run="plugins:new",
)


TEST = Command(
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
