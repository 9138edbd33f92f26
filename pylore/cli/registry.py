"""Which module has which command, and other names of commands."""

from __future__ import annotations

from ..core.errors import UsageError, nearest
from ..system.parts import require_part
from .command import Command, Group

SECTIONS = {
    "Find": {"cli.find": "search related show list context ask", "cli.graph": "graph"},
    "Write": {"cli.write": "add edit link fact confirm forget undo"},
    "Code": {"cli.code": "index anchor verify"},
    "Sessions and agents": {
        "capture.commands": "capture",
        "cli.runs": "run",
        "cli.hooks": "hook",
        "mcp.commands": "mcp",
    },
    "Exchange": {"cli.transfer": "import export sync", "hub.commands": "hub"},
    "The store": {
        "cli.store": "init store config",
        "cli.doctor": "doctor",
        "cli.evaluate": "eval",
    },
}
"""The commands as the help lists them, by the module below ``pylore`` that has them. A module that
is missing belongs to a part that was left out."""

MODULES = {
    **{name: module for families in SECTIONS.values()
       for module, names in families.items() for name in names.split()},
    "merge-file": "cli.transfer",
}  # fmt: skip
"""Each command with its module."""

SCRIPTS = ("browse", "completion", "plugin", "prompt")
"""Commands that are scripts in ``lib/``."""

ALIASES = {
    "stale": "verify --broken",
    "remote": "hub",
    "neighbors": "related --limit 1000",
    "unlink": "link --remove",
    "retract": "confirm --retract",
    "restore": "undo --restore",
    "sweep": "forget --faded",
    "analyze-cochanges": "index --cochanges",
    "feedback": "run rate",
    "candidates": "capture candidates",
    "promote": "capture promote",
    "trust": "store trust",
    "reindex": "store reindex",
    "backup": "store backup",
    "tune": "eval --tune",
}
"""Other names of commands, each with the words that it stands for."""


_OF_GRAPH = ("related", "neighbors", "show", "link", "unlink", "analyze-cochanges")
"""Commands and aliases that may stand behind ``graph``, too."""


def unaliased(words: list[str]) -> list[str]:
    """Return a command line with the command that an alias stands for."""
    if words[:1] == ["graph"] and words[1:] and words[1] in _OF_GRAPH:
        words = words[1:]
    meant = ALIASES.get(words[0]) if words else None
    return [*meant.split(), *words[1:]] if meant else words


def find(words: list[str]) -> tuple[Command | Group, list[str]]:
    """Return the command or verb that a line begins with, and its other words.

    Raises:
        UsageError: it begins with no verb of its command.
    """
    commands = commands_of(words[0])
    found, *rest = commands[words[0]], *words[1:]
    if not isinstance(found, Group) or rest[:1] in (["-h"], ["--help"], ["help"]):
        return found, rest
    bare = not rest or (rest[0][:1] == "-" and found.default)
    verb = found.default if bare else rest.pop(0)
    if verb and f"{found.name} {verb}" not in commands:
        near = nearest(verb, verbs_of(found.name))
        see = f"see 'lore {found.name} --help'"
        raise UsageError(f"no such command '{verb}'{near}: {see}")
    return commands[f"{found.name} {verb}" if verb else found.name], rest


def commands_of(name: str) -> dict[str, Command | Group]:
    """Return a command and its verbs by name.

    Raises:
        LoreError: it belongs to a part that was left out.
    """
    loaded = vars(require_part(*MODULES[name].split("."))).values()
    some = [one for one in loaded if isinstance(one, (Command, Group))]
    return {one.name: one for one in some if one.name.split()[0] == name}


def verbs_of(name: str) -> list[str]:
    """Return the verbs of a command, which may have none."""
    return [one.partition(" ")[2] for one in commands_of(name) if one != name]


def names() -> list[str]:
    """Return the names of the commands that the help lists, in its order."""
    return [name for name in MODULES if name != "merge-file"]
