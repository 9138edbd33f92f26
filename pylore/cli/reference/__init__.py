"""What is written from the declarations: help and the manual."""

from __future__ import annotations

import os

from .. import declare
from ..declaration import PARTS, Command, declared_in

FIRST = ("init", "add", "index", "search", "show")
"""The commands to start with: ``lore help`` begins with them."""

GROUPS = (
    ("Find", ("search", "related", "context", "ask", "show", "list", "browse", "graph")),
    ("Write", ("add", "fact", "confirm", "retract", "link", "unlink", "edit", "forget", "restore",
               "undo", "sweep")),
    ("From sessions", ("capture", "events", "event", "candidates", "promote")),
    ("Code", ("index", "anchor", "verify", "stale")),
    ("For agents and git", ("mcp", "hook", "run", "feedback")),
    ("Bring in and take out", ("import", "export", "sync", "merge-file", "backup",
                               "restore-backup")),
    ("The store", ("init", "config", "trust", "embed", "reindex", "warm", "doctor")),
    ("Quality, and lore itself", ("tune", "help", "commands", "plugin", "version",
                                 "completion")),
)  # fmt: skip
"""The order in which ``lore help`` lists commands; one that no group names comes last."""


def every_command() -> dict[str, Command]:
    """All that are declared, verbs too, by name, sorted."""
    files = {file for folder in declare.__path__ for file in os.listdir(folder)}
    modules = sorted(file[:-3] for file in files if file.endswith(".py") and file[0] != "_")
    found = [one for module in (*modules, *PARTS) for one in declared_in(module)]
    return {command.name: command for command in sorted(found, key=_by_name)}


def _by_name(command: Command) -> str:
    return command.name
