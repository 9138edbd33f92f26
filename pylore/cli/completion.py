"""``lore completion``: the scripts for shells, and what may stand in place of the last word.

What commands take comes from their declarations, ids and the like from the store in use: without
a store there are none.
"""

from __future__ import annotations

import itertools
import os

from ..core.errors import UsageError, nearest
from ..core.settings import BY_NAME, SETTINGS
from ..terminal.output import write
from . import kinds, registry
from .declaration import find, verbs_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .declaration import Argument, OldCommand, Option

    Offer = tuple[str, list[str], bool]
    """A kind, the words if they are known beforehand, and whether it is a list with commas."""


def completion_command(argv: Sequence[str], command: OldCommand) -> None:
    """``lore completion``."""
    if argv[:1] == ["words"]:
        write("".join(f"{word}\n" for word in offered([*argv[1:]] or [""])))
    else:
        _print_script(argv, command, "completion.{}")


def _print_script(argv: Sequence[str], command: OldCommand, file: str) -> None:
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
    before = registry.unaliased(before[before[:1] == ["help"] :])
    if before and registry.module_of(before[0]):
        return _offered_by_click(before, current)
    if not before:
        from .own_commands import command_names

        return _matching([*kinds.quietly(command_names), "--help", "--version"], current)
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


def _offered_by_click(before: list[str], current: str) -> list[str]:
    from click.shell_completion import ShellComplete

    from .click_app import APP

    for option, value in itertools.pairwise(before):
        if option == "--scope":
            os.environ["LORE_SCOPE"] = value
    option, equals, _ = current.partition("=")
    prefix = option + equals if equals and option[:1] == "-" else ""
    found = ShellComplete(APP, {}, "lore", "").get_completions(before, current)
    return [prefix + one.value for one in found]


class _Line:
    """The words of a command before the one that is completed."""

    def __init__(self, command: OldCommand, words: Sequence[str]) -> None:
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
        return next(
            (kinds.offer_of_setting(one) for one in settings if name == f"--{one.option}"), None
        )

    def _values(self, offer: Offer | None, current: str) -> list[str]:
        if offer is None:
            return []
        kind, words, is_list = offer
        head = current[: current.rfind(",") + 1] if is_list else ""
        words = words or self._of_kind(kind, current[len(head) :], is_list=is_list)
        return _matching([head + word for word in words], current)

    def _of_kind(self, kind: str, last: str, *, is_list: bool) -> list[str]:
        """Return the words of a kind that are not known beforehand."""
        if kind in kinds.ASKED:
            return kinds.asked(*kinds.ASKED[kind])
        if kind == "settings":
            return [setting.config_key for setting in SETTINGS]
        if kind == "tags":
            return kinds.tags()
        if kind == "languages":
            from ..code.rules import rule_files

            return [*rule_files()]
        if kind == "commands":
            from .own_commands import command_names

            return kinds.quietly(command_names)
        if kind == "verbs":
            group = find(self._arguments[-1])
            return _verbs(group) if group else []
        # a single one the shell completes by itself
        return ["@git", "@session", *kinds.files(last)] if kind == "files" and is_list else []


def _verbs(group: OldCommand) -> list[str]:
    return [verb.name.partition(" ")[2] for verb in verbs_of(group)]


def _matching(words: Iterable[str], current: str) -> list[str]:
    return [word for word in words if word.startswith(current)]


def _offer_of(taken: Option | Argument) -> Offer:
    words = [*(taken.choices or kinds.WORDS.get(taken.kind, ()))]
    return taken.kind, words, taken.spelled.endswith(",…")


def _offer_of_option(option: Option) -> Offer:
    if option.setting:
        kind, words, _ = kinds.offer_of_setting(BY_NAME[option.setting])
        return kind, words, option.value.endswith(",…")
    if option.whole and option.low is not None and option.high is not None:
        return "", kinds.few(option.low, option.high), False
    return _offer_of(option)
