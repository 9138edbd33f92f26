"""Which module has which command, and other names of commands."""

from __future__ import annotations

from ..system.parts import part, require_part
from .command import Command, Group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

FAMILIES = {
    "cli.find": "search related show list context ask",
    "cli.write": "add edit link fact confirm forget undo",
    "cli.graph": "graph",
    "cli.code": "index anchor verify",
    "capture.commands": "capture",
    "cli.agents": "run hook",
    "mcp.commands": "mcp",
    "cli.transfer": "import export sync merge-file",
    "hub.commands": "hub",
    "cli.store": "init store config",
    "cli.doctor": "doctor",
    "cli.evaluate": "eval",
}
"""Module below ``pylore`` to its commands, in the order of the help. A module that is missing
belongs to a part that was left out."""

SECTIONS = (
    ("Find", "search related show list context ask graph"),
    ("Write", "add edit link fact confirm forget undo"),
    ("Code", "index anchor verify"),
    ("Sessions and agents", "capture run mcp hook"),
    ("Exchange", "import export sync hub"),
    ("The store", "init store config doctor eval"),
)
"""The commands as the help lists them."""

SCRIPTS = ("browse", "completion", "plugin")
"""Commands that are scripts in ``lib/``."""

HOT = ("cli.find", "cli.write", "cli.agents", "mcp.commands")
"""Modules whose commands are called in loops, or waited for by agents: they load no click, numpy
or json."""

ALIASES = {
    "stale": "verify --broken",
    "remote": "hub",
    "neighbors": "related --direction both",
    "unlink": "link --remove",
    "retract": "confirm --retract",
    "restore": "undo --restore",
    "sweep": "forget --faded",
    "sweep --telemetry": "capture sweep",
    "graph related": "related",
    "graph neighbors": "related --direction both",
    "graph show": "show",
    "graph orphans": "list --orphans",
    "graph duplicates": "graph similar --groups",
    "graph link": "link",
    "graph unlink": "link --remove",
    "graph analyze-cochanges": "index --cochanges",
    "feedback": "run rate",
    "event": "capture event",
    "events": "capture events",
    "candidates": "capture candidates",
    "promote": "capture promote",
    "gaps": "capture gaps",
    "trust": "store trust",
    "embed": "store embed",
    "reindex": "store reindex",
    "backup": "store backup",
    "restore-backup": "store restore",
    "tune": "eval --tune",
}
"""Other names of commands, each with the words that it stands for."""


def unaliased(words: list[str]) -> list[str]:
    """Return a command line with the command that an alias stands for."""
    for count in (2, 1):
        meant = ALIASES.get(" ".join(words[:count]))
        if meant is not None and len(words) >= count:
            return [*meant.split(), *words[count:]]
    return words


def find(words: list[str]) -> tuple[Command | Group | None, list[str]]:
    """Return the command that a line begins with, and its other words; None if there is none."""
    if not words:
        return None, words
    commands = commands_of(words[0])
    verb = commands.get(" ".join(words[:2]))
    if len(words) > 1 and isinstance(verb, Command):
        return verb, words[2:]
    found = commands.get(words[0])
    if isinstance(found, Group) and found.default and _is_of_default(words[1:]):
        return commands[f"{found.name} {found.default}"], words[1:]
    return found, words[1:]


def _is_of_default(words: list[str]) -> bool:
    """Return True if these words belong to the verb that a group has by default."""
    return not words or (words[0][:1] == "-" and words[0] not in ("-h", "--help"))


def module_of(name: str) -> str:
    """Return the module, below ``pylore``, that has a command; empty if there is none."""
    return next((module for module, names in FAMILIES.items() if name in names.split()), "")


def commands_of(name: str) -> dict[str, Command | Group]:
    """Return the commands of the module that has this one, by name.

    Raises:
        LoreError: it belongs to a part that was left out.
    """
    module = module_of(name)
    if not module:
        return {}
    loaded = require_part(*module.split("."))
    return {one.name: one for one in vars(loaded).values() if isinstance(one, (Command, Group))}


def names() -> list[str]:
    """Return the names of the commands that the help lists, sorted."""
    return sorted(name for _, names in SECTIONS for name in names.split())


def every_command() -> Iterator[Command]:
    """Yield all commands and verbs whose part is here."""
    for module, names in FAMILIES.items():
        if part(*module.split(".")) is not None:
            for one in commands_of(names.split()[0]).values():
                if isinstance(one, Command):
                    yield one
