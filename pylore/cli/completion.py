"""``lore completion``: the scripts for shells, and what may stand in place of the last word.

What commands take comes from their declarations, ids and the like from the store in use: without
a store there are none.
"""

from __future__ import annotations

import os
from io import StringIO

from ..core.errors import LoreError, UsageError, nearest
from ..core.setting_values import OWN_EMBEDDERS, PLACES
from ..core.settings import BUILT_IN_RETRIEVERS, BY_NAME, SETTINGS
from ..core.vocabulary import SOURCES, STATUSES, TYPES
from ..terminal.output import write
from .declaration import find, verbs_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ..core.settings import Setting
    from .declaration import Argument, Command, Option

    Offer = tuple[str, list[str], bool]
    """A kind, the words if they are known beforehand, and whether it is a list with commas."""

_FEW = 10
"""A whole number with so many values at most is completed."""

_WORDS: dict[str, Iterable[str]] = {"sources": SOURCES, "statuses": STATUSES, "types": TYPES}
"""Kinds whose words are known here."""

_ASKED = {
    "forgotten": ("list", "--ids", "-n", "500", "--all", "--forgotten"),
    "ids": ("list", "--ids", "-n", "500", "--all"),
    "relations": ("graph", "relations", "--ids"),
    "remotes": ("remote", "list", "--ids"),
    "runs": ("list", "--ids", "-n", "500", "--type", "run"),
}
"""Kinds that a command lists."""

_KINDS = {
    "run": "runs", "user_entity": "ids", "graph_edges": "relations", "single_valued": "relations",
    "graph_exclude_edges": "relations", "plugin_dir": "files",
}  # fmt: skip
"""Settings whose values are of a kind."""


def completion_command(argv: Sequence[str], command: Command) -> None:
    """``lore completion``."""
    if argv[:1] == ["words"]:
        write("".join(f"{word}\n" for word in offered([*argv[1:]] or [""])))
    else:
        _print_script(argv, command, "completion.{}")


def prompt_command(argv: Sequence[str], command: Command) -> None:
    """``lore hook shell``."""
    _print_script(argv, command, "prompt.bash")


def _print_script(argv: Sequence[str], command: Command, file: str) -> None:
    shells = [*command.arguments[0].choices]
    see = f"see 'lore {command.name} --help'"
    if not argv or not argv[0]:
        raise UsageError(f"{command.name} needs a shell: lore {command.name} bash, or zsh")
    if argv[0] not in shells:
        raise UsageError(f"unknown shell '{argv[0][:60]}'{nearest(argv[0], shells)}: {see}")
    if len(argv) > 1:
        raise UsageError(f"{command.name} takes one shell, not '{argv[1]}' too: {see}")
    checkout = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    root = os.environ.get("LORE_ROOT") or checkout
    with open(os.path.join(root, "lib", file.format(argv[0])), encoding="utf-8") as script:
        write(script.read())


def offered(words: list[str]) -> list[str]:
    """Return what may stand in place of the last word, after the others."""
    *before, current = words
    if not before:
        from .own_commands import command_names

        return _matching([*_quietly(command_names), "--help", "--version"], current)
    command = find(before.pop(0))
    if command is None:
        return []
    if command.verbs:
        if not before:
            return _matching(_verbs(command), current)
        command = find(f"{command.name}-{before.pop(0)}")
        if command is None:
            return []
    return _Line(command, before).offered(current)


class _Line:
    """The words of a command before the one that is completed."""

    def __init__(self, command: Command, words: Sequence[str]) -> None:
        self._command = command
        self._arguments: list[str] = []
        self._waiting = ""
        """The option that the next word is the value of."""
        for word in words:
            if self._waiting:
                self._take_scope(self._waiting, word)
                self._waiting = ""
            elif word == "--all-scopes":
                os.environ["LORE_SCOPE"] = "*"
            elif not word.startswith("-") or word == "-":
                self._arguments.append(word)
            elif "=" in word:
                self._take_scope(*word.split("=", 1))
            elif self._taken(word) is not None:
                self._waiting = word

    def _take_scope(self, option: str, value: str) -> None:
        """Let what is offered be within a scope, too."""
        if option == "--scope":
            os.environ["LORE_SCOPE"] = value

    def offered(self, current: str) -> list[str]:
        """Return what may stand in place of this word."""
        option, equals, value = current.partition("=")
        if self._waiting:
            return self._values(self._taken(self._waiting), current)
        if equals and option.startswith("--"):
            return [f"{option}={one}" for one in self._values(self._taken(option), value)]
        if current.startswith("-"):
            names = [name for one in self._command.listed() for name in one.names]
            return _matching([*names, "-h", "--help"], current)
        for number, argument in enumerate(self._command.arguments):
            if number == len(self._arguments) or (argument.many and number < len(self._arguments)):
                found = self._values(_offer_of(argument), current)
                if found:
                    return found
        return []

    def _taken(self, name: str) -> Offer | None:
        """Return what to offer for the value of this option; None where it has none."""
        for option in self._command.listed():
            if name in option.names:
                return _offer_of_option(option) if option.value else None
        settings = SETTINGS if self._command.settings is None else ()
        return next((_offer_of_setting(one) for one in settings if name == f"--{one.option}"), None)

    def _values(self, offer: Offer | None, current: str) -> list[str]:
        if offer is None:
            return []
        kind, words, is_list = offer
        head = current[: current.rfind(",") + 1] if is_list else ""
        words = words or self._of_kind(kind, current[len(head) :], is_list=is_list)
        return _matching([head + word for word in words], current)

    def _of_kind(self, kind: str, last: str, *, is_list: bool) -> list[str]:
        """Return the words of a kind that are not known beforehand."""
        if kind in _ASKED:
            return _asked(*_ASKED[kind])
        if kind == "settings":
            return [setting.config_key for setting in SETTINGS]
        if kind == "tags":
            return _tags()
        if kind == "languages":
            from ..code.rules import rule_files

            return [*rule_files()]
        if kind == "commands":
            from .own_commands import command_names

            return _quietly(command_names)
        if kind == "verbs":
            group = find(self._arguments[-1])
            return _verbs(group) if group else []
        # a single one the shell completes by itself
        return ["@git", "@session", *_files(last)] if kind == "files" and is_list else []


def _verbs(group: Command) -> list[str]:
    return [verb.name.partition(" ")[2] for verb in verbs_of(group)]


def _matching(words: Iterable[str], current: str) -> list[str]:
    return [word for word in words if word.startswith(current)]


def _offer_of(taken: Option | Argument) -> Offer:
    words = [*(taken.choices or _WORDS.get(taken.kind, ()))]
    return taken.kind, words, taken.spelled.endswith(",…")


def _offer_of_option(option: Option) -> Offer:
    if option.setting:
        kind, words, _ = _offer_of_setting(BY_NAME[option.setting])
        return kind, words, option.value.endswith(",…")
    if option.whole and option.low is not None and option.high is not None:
        return "", _few(option.low, option.high), False
    return _offer_of(option)


def _offer_of_setting(setting: Setting) -> Offer:
    """Return what a setting may be, as far as that can be listed."""
    words = [*setting.choices]
    if setting.name in _KINDS:
        words = []
    elif setting.kind == "bool":
        words = ["1", "0"]
    elif setting.kind == "embedder":
        words = [*OWN_EMBEDDERS, "sentence-transformers:", *(f"endpoint:{one}" for one in PLACES)]
    elif setting.kind == "names":
        words = [*BUILT_IN_RETRIEVERS]
    elif setting.kind == "int":
        words = _few(setting.low, setting.high)
    return _KINDS.get(setting.name, ""), words, setting.kind in ("names", "words")


def _few(low: float, high: float) -> list[str]:
    numbers = range(int(low), int(high) + 1)
    return [str(number) for number in numbers] if len(numbers) <= _FEW else []


def _files(beginning: str) -> Iterator[str]:
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


def _asked(*words: str) -> list[str]:
    """Return the lines that a command of lore's prints; none where it fails."""
    return _quietly(lambda: _printed(words))


def _printed(words: Sequence[str]) -> list[str]:
    from contextlib import redirect_stdout

    from .main import _run

    with redirect_stdout(StringIO()) as printed:
        _run([*words, "--quiet"])
    return printed.getvalue().splitlines()


def _tags() -> list[str]:
    import json

    lines = _asked("list", "--jsonl", "-n", "2000")
    return sorted({tag for line in lines for tag in json.loads(line).get("tags", ())})


def _quietly(words: Callable[[], list[str]]) -> list[str]:
    """Return these words; none, and nothing said, where they cannot be had."""
    from contextlib import redirect_stderr

    with redirect_stderr(StringIO()):
        try:
            return words()
        except LoreError:
            return []
