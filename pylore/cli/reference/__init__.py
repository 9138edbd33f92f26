"""What is written from the declarations: help, completion's data, the manual."""

from __future__ import annotations

from pkgutil import iter_modules

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
    modules = [module.name for module in iter_modules(declare.__path__)]
    found = [one for module in (*modules, *PARTS) for one in declared_in(module)]
    return {command.name: command for command in sorted(found, key=_by_name)}


def _by_name(command: Command) -> str:
    return command.name


def verbs_of(group: Command) -> list[Command]:
    """The verbs of a command, in their order; those that it does not name come last."""
    found = {
        name.partition(" ")[2]: command
        for name, command in every_command().items()
        if name.startswith(f"{group.name} ")
    }
    return [found[verb] for verb in (*group.verbs, *sorted(found.keys() - {*group.verbs}))]
