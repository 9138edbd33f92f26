"""The command line: which module has which command, and other names of commands."""

from __future__ import annotations

from ..core.errors import UsageError, nearest
from ..system import require_part
from .command import Command, Group

SECTIONS = {
    "Find": {"cli.find": "search related show list context ask", "cli.graph": "graph"},
    "Write": {"cli.write": "add edit link fact confirm forget undo"},
    "Code": {"cli.code": "index anchor verify"},
    "Sessions and agents": {
        "capture.commands": "capture",
        "cli.quality": "run",
        "cli.hooks": "hook",
        "mcp.commands": "mcp",
    },
    "Exchange": {"cli.transfer": "import export sync", "hub.commands": "hub"},
    "The store": {"cli.store": "init store config", "cli.doctor": "doctor", "cli.quality": "eval"},
}
"""Sections of the help: module below ``pylore`` to commands. A missing module belongs to a part
that is not installed."""

MODULES = {
    **{
        name: module
        for families in SECTIONS.values()
        for module, names in families.items()
        for name in names.split()
    },
    "merge-file": "cli.transfer",
}
"""Command to module."""

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
    "analyze-imports": "index",
    "feedback": "run rate",
    "candidates": "capture candidates",
    "promote": "capture promote",
    "trust": "store trust",
    "reindex": "store reindex",
    "backup": "store backup",
    "tune": "eval --tune",
}
"""Alias to the words that replace it."""

_OF_GRAPH = "related neighbors show link unlink analyze-cochanges analyze-imports".split()
"""Commands and aliases that ``graph`` also accepts as verbs."""


def unaliased(words: list[str]) -> list[str]:
    """Return a command line with the alias replaced."""
    if words[:1] == ["graph"] and words[1:] and words[1] in _OF_GRAPH:
        words = words[1:]
        if words[0] == "link" and (len(words) == 3 or "--anchor-type" in words):
            return ["anchor", *_without_anchor_type(words[1:])]
    meant = ALIASES.get(words[0]) if words else None
    if meant == "index":
        words = [word.removeprefix("--path=") for word in words if word != "--path"]
    return [*meant.split(), *words[1:]] if meant else words


def _without_anchor_type(words: list[str]) -> list[str]:
    """Return ``ID FILE --anchor-type KIND`` with ``--KIND``, except for a symbol FILE::NAME."""
    at = words.index("--anchor-type") if "--anchor-type" in words else len(words)
    kinds = words[at + 1 : at + 2]
    kinds = [f"--{kind}" for kind in kinds if kind != "symbol" or "::" not in " ".join(words)]
    return [*words[:at], *words[at + 2 :], *kinds]


def command_for(words: list[str]) -> tuple[Command | Group, list[str]]:
    """Return the command or verb of a line, and the rest of the line; raise UsageError for an
    unknown verb."""
    commands = commands_of(words[0])
    found, *rest = commands[words[0]], *words[1:]
    if not isinstance(found, Group) or rest[:1] in (["-h"], ["--help"], ["help"]):
        return found, rest
    verb = found.default if not rest or (rest[0][:1] == "-" and found.default) else rest.pop(0)
    if verb and f"{found.name} {verb}" not in commands:
        near = nearest(verb, verbs_of(found.name))
        raise UsageError(f"no such command '{verb}'{near}: see 'lore {found.name} --help'")
    return commands[f"{found.name} {verb}" if verb else found.name], rest


def commands_of(name: str) -> dict[str, Command | Group]:
    """Return a command and its verbs by name; raise LoreError if the part is not installed."""
    loaded = vars(require_part(*MODULES[name].split("."))).values()
    some = [one for one in loaded if isinstance(one, (Command, Group))]
    return {one.name: one for one in some if one.name.split()[0] == name}


def verbs_of(name: str) -> list[str]:
    """Return the verbs of a command, which may have none."""
    return [one.partition(" ")[2] for one in commands_of(name) if one != name]


def names() -> list[str]:
    """Return the names of the commands in the help, in order."""
    return [name for name in MODULES if name != "merge-file"]
