"""lore plugin new."""

from __future__ import annotations

from ..declaration import Argument, Command
from . import OUTPUT, QUIET

COMMAND = Command(
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
