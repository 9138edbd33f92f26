"""Words that ``lore complete`` offers for the last word of a command line."""

from __future__ import annotations

import json
import os
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from itertools import pairwise

from ..core.errors import LoreError
from ..core.setting_values import OWN_EMBEDDERS, PLACES
from ..core.settings import BUILT_IN_RETRIEVERS, SETTINGS
from ..core.vocabulary import SOURCES, STATUSES, TYPES
from ..system.config import load
from . import registry
from .command import SHARED, Command, Parameter, read
from .session import Session

_FEW = 10
"""A whole number with so many values at most is completed."""

_WORDS = {
    "near": ("@git", "@session"),
    "sections": tuple(dict.fromkeys(setting.section for setting in SETTINGS)),
    "settings": tuple(setting.config_key for setting in SETTINGS),
    "sources": SOURCES,
    "statuses": STATUSES,
    "types": tuple(TYPES),
    "embedder": (*OWN_EMBEDDERS, "sentence-transformers:", *(f"endpoint:{one}" for one in PLACES)),
    "retrievers": BUILT_IN_RETRIEVERS,
}
"""Kinds whose words are known here: a setting is of the kind of its name."""

_ASKED = {
    "forgotten": ("list --ids -n 500 --all --forgotten", "list --ids -n 500 --all"),
    "ids": ("list --ids -n 500 --all",),
    "relations": ("graph relations --ids",),
    "remotes": ("hub list --ids",),
    "runs": ("list --ids -n 500 --type run",),
}
"""Kinds that commands list."""

_OTHER_NAMES = {
    "run": "runs", "user_entity": "ids", "graph_edges": "relations", "single_valued": "relations",
    "graph_exclude_edges": "relations",
}  # fmt: skip

_LISTS = tuple(setting.name for setting in SETTINGS if setting.kind in ("names", "words"))
"""Settings that are lists with commas."""


def offered(words: list[str]) -> list[str]:
    """Return the words that may stand in place of the last one, after the others."""
    *before, current = words
    before = registry.unaliased(before[before[:1] == ["help"] :])
    for option, value in pairwise(before):
        if option == "--scope":
            os.environ["LORE_SCOPE"] = value
    if not before:
        from .own_commands import own_commands

        found = [*sorted((*registry.names(), *registry.SCRIPTS)), *own_commands()]
    elif not registry.module_of(before[0]):
        found = []
    elif len(before) == 1 and (verbs := registry.verbs_of(before[0])):
        found = [*verbs]
    else:
        command, rest = registry.find(before)
        found = _of_command(command, rest, current) if isinstance(command, Command) else []
    return [word for word in found if word.startswith(current)]


def _of_command(command: Command, words: list[str], current: str) -> list[str]:
    """Return the words that may stand behind others of a command."""
    by_name = {name: one for one in (*SHARED, *command.options) for name in one.names}
    arguments, value_of = command.arguments, None
    for word in words:
        if value_of is not None:
            value_of = None
        elif word[:1] == "-" and word != "-":
            value_of = by_name.get(word) or command.setting_of(word)
            value_of = value_of if value_of and value_of.value else None
        elif arguments and not arguments[0].many:
            arguments = arguments[1:]
    before = ""
    if value_of is None and current[:1] == "-":
        name, equals, current = current.partition("=")
        if not equals:
            return [name for one in (*command.shown_options, *SHARED) for name in one.names]
        value_of, before = by_name.get(name) or command.setting_of(name), f"{name}="
    one = value_of or (arguments[0] if arguments else None)
    if one is None:
        return []
    if one.is_list or (value_of and one.complete in _LISTS):
        before += current[: current.rfind(",") + 1]
    return [before + word for word in _words_of(one)]


def _words_of(one: Parameter) -> list[str]:
    """Return the words that a value may be; those that the store has are asked for."""
    kind = _OTHER_NAMES.get(one.complete, one.complete)
    if kind == "tags":
        rows = map(json.loads, _asked("list --jsonl -n 2000"))
        return sorted({tag for row in rows for tag in row.get("tags", ())})
    if kind == "languages":
        from ..code.rules import rule_files

        return [*rule_files()]
    if isinstance(one.low, int) and one.high is not None and one.high - one.low <= _FEW:
        return [*map(str, range(one.low, int(one.high) + 1))]
    asked = [word for line in _ASKED.get(kind, ()) for word in _asked(line)]
    return [*one.choices, *_WORDS.get(kind, ()), *asked]


def _asked(line: str) -> list[str]:
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
