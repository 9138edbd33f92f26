"""Words that completion offers: those of a kind, and those that a setting may be."""

from __future__ import annotations

import os
from io import StringIO

from ..core.errors import LoreError
from ..core.setting_values import OWN_EMBEDDERS, PLACES
from ..core.settings import BUILT_IN_RETRIEVERS, SETTINGS
from ..core.vocabulary import SOURCES, STATUSES, TYPES
from ..system.config import load
from . import registry
from .command import Command, read
from .session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ..core.settings import Setting

    Offer = tuple[str, list[str], bool]
    """A kind, the words if they are known beforehand, and whether it is a list with commas."""

FEW = 10
"""A whole number with so many values at most is completed."""

WORDS: dict[str, Iterable[str]] = {"sources": SOURCES, "statuses": STATUSES, "types": TYPES}
"""Kinds whose words are known here."""

ASKED = {
    "forgotten": ("list", "--ids", "-n", "500", "--all", "--forgotten"),
    "ids": ("list", "--ids", "-n", "500", "--all"),
    "relations": ("graph", "relations", "--ids"),
    "remotes": ("hub", "list", "--ids"),
    "runs": ("list", "--ids", "-n", "500", "--type", "run"),
}
"""Kinds that a command lists."""

KINDS = {
    "run": "runs", "user_entity": "ids", "graph_edges": "relations", "single_valued": "relations",
    "graph_exclude_edges": "relations", "plugin_dir": "files",
}  # fmt: skip
"""Settings whose values are of a kind."""


def words_of(kind: str) -> list[str]:
    """Return the words of a kind (``ids``, ``types``); those that the store has are asked for."""
    if kind in WORDS:
        return [*WORDS[kind]]
    if kind == "forgotten":
        return [*asked(*ASKED[kind]), *asked(*ASKED["ids"])]
    if kind in ASKED:
        return asked(*ASKED[kind])
    if kind == "settings":
        return [setting.config_key for setting in SETTINGS]
    if kind == "sections":
        return [*dict.fromkeys(setting.section for setting in SETTINGS)]
    if kind == "tags":
        return tags()
    if kind == "languages":
        from ..code.rules import rule_files

        return [*rule_files()]
    return ["@git", "@session"] if kind == "near" else []


def files_at(beginning: str) -> list[str]:
    """Return the files and folders below the working directory that begin so."""
    return [path for path in files(beginning) if path.startswith(beginning)]


def words_of_setting(setting: Setting) -> list[str]:
    """Return the words that a setting may be, as far as they can be listed."""
    kind, words, _ = offer_of_setting(setting)
    return words or words_of(kind)


def offer_of_setting(setting: Setting) -> Offer:
    """Return what a setting may be, as far as that can be listed."""
    words = [*setting.choices]
    if setting.name in KINDS:
        words = []
    elif setting.kind == "embedder":
        words = [*OWN_EMBEDDERS, "sentence-transformers:", *(f"endpoint:{one}" for one in PLACES)]
    elif setting.kind == "names":
        words = [*BUILT_IN_RETRIEVERS]
    elif setting.kind == "int":
        words = few(setting.low, setting.high)
    return KINDS.get(setting.name, ""), words, setting.kind in ("names", "words")


def few(low: float, high: float) -> list[str]:
    numbers = range(int(low), int(high) + 1)
    return [str(number) for number in numbers] if len(numbers) <= FEW else []


def files(beginning: str) -> Iterator[str]:
    folder = os.path.dirname(beginning)
    for name in sorted(_names_in(folder or ".")):
        path = os.path.join(folder, name)
        if not name.startswith(".") or os.path.basename(beginning).startswith("."):
            yield f"{path}/" if os.path.isdir(path) else path


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def asked(*words: str) -> list[str]:
    """Return the lines that a command of lore's prints; none where it fails."""
    return quietly(lambda: _printed(words))


def _printed(words: Sequence[str]) -> list[str]:
    from contextlib import redirect_stdout

    command, rest = registry.find([*words])
    line = read([*rest, "--quiet"], command) if isinstance(command, Command) else None
    if line is None or not isinstance(command, Command):
        return []
    load(os.environ)
    with redirect_stdout(StringIO()) as printed:
        command.run(Session(line), **line.values(command))
    return printed.getvalue().splitlines()


def tags() -> list[str]:
    import json

    lines = asked("list", "--jsonl", "-n", "2000")
    return sorted({tag for line in lines for tag in json.loads(line).get("tags", ())})


def quietly(words: Callable[[], list[str]]) -> list[str]:
    """Return these words; none, and nothing said, where they cannot be had."""
    from contextlib import redirect_stderr

    with redirect_stderr(StringIO()):
        try:
            return words()
        except LoreError:
            return []
