"""Words that completion offers: those of a kind, and those that a setting may be."""

from __future__ import annotations

import json
import os
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

from ..core.errors import LoreError
from ..core.setting_values import OWN_EMBEDDERS, PLACES
from ..core.settings import BUILT_IN_RETRIEVERS, SETTINGS, Setting
from ..core.vocabulary import SOURCES, STATUSES, TYPES
from ..system.config import load
from . import registry
from .command import Command, read
from .session import Session

FEW = 10
"""A whole number with so many values at most is completed."""

WORDS = {
    "near": ("@git", "@session"),
    "sections": tuple(dict.fromkeys(setting.section for setting in SETTINGS)),
    "settings": tuple(setting.config_key for setting in SETTINGS),
    "sources": SOURCES,
    "statuses": STATUSES,
    "types": tuple(TYPES),
}
"""Kinds whose words are known here."""

ASKED = {
    "forgotten": ("list --ids -n 500 --all --forgotten", "list --ids -n 500 --all"),
    "ids": ("list --ids -n 500 --all",),
    "relations": ("graph relations --ids",),
    "remotes": ("hub list --ids",),
    "runs": ("list --ids -n 500 --type run",),
}
"""Kinds that commands list."""

KINDS = {
    "run": "runs", "user_entity": "ids", "graph_edges": "relations", "single_valued": "relations",
    "graph_exclude_edges": "relations", "plugin_dir": "files",
}  # fmt: skip
"""Settings whose values are of a kind."""


def words_of(kind: str) -> list[str]:
    """Return the words of a kind (``ids``, ``types``); those that the store has are asked for."""
    if kind == "tags":
        rows = map(json.loads, _asked("list --jsonl -n 2000"))
        return sorted({tag for row in rows for tag in row.get("tags", ())})
    if kind == "languages":
        from ..code.rules import rule_files

        return [*rule_files()]
    return [*WORDS.get(kind, ()), *(word for line in ASKED.get(kind, ()) for word in _asked(line))]


def words_of_setting(setting: Setting) -> list[str]:
    """Return the words that a setting may be, as far as they can be listed."""
    if setting.name in KINDS:
        return words_of(KINDS[setting.name])
    if setting.kind == "embedder":
        return [*OWN_EMBEDDERS, "sentence-transformers:", *(f"endpoint:{one}" for one in PLACES)]
    if setting.kind == "names":
        return [*BUILT_IN_RETRIEVERS]
    if setting.kind == "int":
        numbers = range(int(setting.low), int(setting.high) + 1)
        return [*map(str, numbers)] if len(numbers) <= FEW else []
    return [*setting.choices]


def _asked(line: str) -> list[str]:
    """Return the lines that a command of lore's prints; none where it fails."""
    command, words = registry.find(line.split())
    plain = read([*words, "--quiet"], command) if isinstance(command, Command) else None
    if plain is None or not isinstance(command, Command):
        return []
    with redirect_stderr(StringIO()), redirect_stdout(StringIO()) as printed:
        try:
            load(os.environ)
            command.run(Session(plain), **plain.values(command))
        except LoreError:
            return []
    return printed.getvalue().splitlines()
