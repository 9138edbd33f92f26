"""Words that ``lore complete`` offers for the last word of a command line."""

from __future__ import annotations

import json
import os
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

from ..core.errors import LoreError
from ..core.settings import SETTINGS
from ..core.vocabulary import STATUSES, TYPES
from ..system.config import load
from . import registry
from .command import SHARED, Command, read
from .own_commands import programs
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
    """Return the words that may stand in place of the last one, after the others."""
    *before, current = words
    before = registry.unaliased(before[before[:1] == ["help"] :])
    if not before:
        found = sorted((*registry.names(), *programs()))
    elif not registry.module_of(before[0]):
        found = []
    elif len(before) == 1 and (verbs := registry.verbs_of(before[0])):
        found = verbs
    else:
        command, rest = registry.find(before)
        found = _of_command(command, rest, current) if isinstance(command, Command) else []
    return [word for word in found if word.startswith(current)]


def _of_command(command: Command, words: list[str], current: str) -> list[str]:
    """Return the words that may stand behind others of a command."""
    arguments, value_of = command.arguments, None
    for word in words:
        if value_of is not None:
            value_of = None
        elif word[:1] == "-" and word != "-":
            value_of = command.option_of(word)
            value_of = value_of if value_of and value_of.value else None
        elif arguments and not arguments[0].many:
            arguments = arguments[1:]
    before = ""
    if value_of is None and current[:1] == "-":
        name, equals, current = current.partition("=")
        if not equals:
            return [name for one in (*command.shown_options, *SHARED) for name in one.names]
        value_of, before = command.option_of(name), f"{name}="
    one = value_of or (arguments[0] if arguments else None)
    if one is None:
        return []
    if one.is_list:
        before += current[: current.rfind(",") + 1]
    return [before + word for word in (*one.choices, *_words_of(one.complete))]


def _words_of(kind: str) -> list[str]:
    """Return the words of a kind; those that the store has are asked for."""
    if kind == "tags":
        rows = map(json.loads, _printed("list --jsonl -n 2000"))
        return sorted({tag for row in rows for tag in row.get("tags", ())})
    words = _WORDS.get(kind, ())
    return _printed(words) if isinstance(words, str) else [*words]


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
