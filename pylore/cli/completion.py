"""Words that ``lore complete`` offers for the last word of a command line."""

from __future__ import annotations

import os
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

from ..core.errors import LoreError
from ..core.settings import SETTINGS
from ..core.vocabulary import STATUSES, TYPES
from ..system.config import load
from . import registry
from .command import SHARED, Command, read
from .help import programs
from .session import Session

_RELATIONS = "graph relations --ids"
_WORDS = {
    "forgotten": "list --ids -n 500 --all --forgotten",
    "graph_edges": _RELATIONS,
    "graph_exclude_edges": _RELATIONS,
    "ids": "list --ids -n 500 --all",
    "near": ("@git", "@session"),
    "relations": _RELATIONS,
    "remotes": "hub list --ids",
    "run": "list --ids -n 500 --type run",
    "settings": [setting.config_key for setting in SETTINGS],
    "statuses": STATUSES,
    "types": TYPES,
}
"""Kinds of words: themselves, or the command that lists them. A setting is a kind."""


def offered(words: list[str]) -> list[str]:
    """Return the words that complete the last word of a line."""
    *before, current = words
    before = registry.unaliased(before[before[:1] == ["help"] :])
    if not before:
        found = sorted((*registry.names(), *programs()))
    elif before[0] not in registry.MODULES:
        found = []
    elif len(before) == 1 and (verbs := registry.verbs_of(before[0])):
        found = verbs
    else:
        command, rest = registry.find(before)
        found = _of_command(command, rest, current) if isinstance(command, Command) else []
    return [word for word in found if word.startswith(current)]


def _of_command(command: Command, words: list[str], current: str) -> list[str]:
    """Return the words that complete an argument of a command."""
    before = ""
    if current[:1] == "-":
        name, equals, current = current.partition("=")
        if not equals:
            return [name for one in (*command.shown_options, *SHARED) for name in one.names]
        words, before = [name], f"{name}="
    option = command.option_of(words[-1]) if words else None
    found: list[str] = []
    for one in [option] if option and option.value else command.arguments:
        listed = _WORDS.get(one.complete, ())
        head = before + (current[: current.rfind(",") + 1] if one.is_list else "")
        some = (*one.choices, *(_printed(listed) if isinstance(listed, str) else listed))
        found += [head + word for word in some]
    return [*dict.fromkeys(found)]


def _printed(line: str) -> list[str]:
    """Return the lines that a command of lore's prints; none where it fails."""
    with redirect_stderr(StringIO()), redirect_stdout(StringIO()) as printed:
        try:
            load(os.environ)
            command, words = registry.find(line.split())
            assert isinstance(command, Command)
            values, settings = read([*words, "--quiet"], command)
            command.run(Session(settings), **values)
        except LoreError:
            return []
    return printed.getvalue().splitlines()
