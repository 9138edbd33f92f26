"""Command lines that are plain enough to be read without click, whose import costs two searches.

A command with ``quick=`` has one declaration and two doors. What is read here is what click reads;
whatever click may have something to say of (an option that there is not, a value that is
not one of the choices, a word too many) is left to it, so that its messages are the same.
"""

from __future__ import annotations

from ..core.settings import SETTINGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .declaration import Command, Option


def read_plainly(words: Sequence[str], command: Command) -> dict[str, Any] | None:
    """The parameters of a command's function; None where click has to read the words."""
    own, found = _own_options(command)
    given: dict[str, Option] = {}
    positionals: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            positionals.extend(rest)
            continue
        if word == "-" or not word.startswith("-"):
            positionals.append(word)
            continue
        name, equals, text = word.partition("=")
        into, option = own.get(name, ("", None))
        if option is None or given.setdefault(into, option) is not option:
            return None
        value = _flag(option, word) if not option.value else _value(option, equals, text, rest)
        if value is None:
            return None
        found[into] = (*found[into], value) if option.many else value
    return found if _take(positionals, command, found) else None


def parameter(option: Option) -> str:
    """The parameter of the command's function that an option goes into."""
    if option.setting:
        return f"setting_{option.setting}"
    long = next(name for name in option.names if name.startswith("--"))
    return option.into or long[2:].replace("-", "_")


def own_settings(command: Command) -> set[str]:
    """The settings that are options of a command, each with a text."""
    named = {option.setting for option in command.options() if option.setting and option.value}
    if command.settings is None:
        return named | {setting.name for setting in SETTINGS} - {"quiet"}
    return named | {*command.settings, "scope"} - {"quiet"}


def _own_options(command: Command) -> tuple[dict[str, tuple[str, Option]], dict[str, Any]]:
    """Name to parameter and option; and what each parameter is where it is not given."""
    from .declaration import Option

    own = {}
    defaults: dict[str, Any] = {}
    for option in command.options():
        if option.setting and option.value:
            continue
        into = parameter(option)
        own.update(dict.fromkeys(option.names, (into, option)))
        if not option.setting:
            defaults.setdefault(into, _default(option))
    settings = own_settings(command)
    for setting in SETTINGS:
        if setting.name in settings:
            option = Option(f"--{setting.option} VALUE", setting=setting.name)
            own[option.names[0]] = (parameter(option), option)
    return own, defaults


def _default(option: Option) -> object:
    if option.default is not None or option.constant:
        return option.default
    return () if option.many else None if option.value else False


def _flag(option: Option, word: str) -> object:
    return (option.constant or True) if word in option.names else None


def _value(option: Option, equals: str, text: str, rest: Any) -> object:
    """The value of an option as its kind has it; None where it is none such."""
    if option.value.startswith("[") or option.whole:
        return None
    value = text if equals else next(rest, None)
    if value is None or (option.choices and value not in option.choices):
        return None
    if option.low is None and option.high is None:
        return value
    try:
        number = float(value)
    except ValueError:
        return None
    low, high = option.low, option.high
    return number if (low is None or low <= number) and (high is None or number <= high) else None


def _take(words: list[str], command: Command, found: dict[str, Any]) -> bool:
    """Gives each argument its word, the last one all that are left; whether that is plain."""
    places = [argument.into for argument in command.arguments]
    for argument in command.arguments:
        if argument.many and argument is command.arguments[-1]:
            found[argument.into] = tuple(words)
            words = []
        elif not argument.required or not words or places.count(argument.into) > 1:
            return False
        else:
            found[argument.into] = words.pop(0)
    return not words
