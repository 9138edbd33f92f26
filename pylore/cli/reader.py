"""Command lines of the hot path, read without click (whose import costs two searches).

Every setting is an option of its own; beside those a command has the options that
it declares. The rest of the commands use click (``cli/commands``).
"""

from __future__ import annotations

from ..core.errors import UsageError, nearest
from ..core.settings import SETTINGS
from .declare import SHORT_FORMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .declaration import Command, Option


class Arguments:
    """What a command line held, sorted into kinds."""

    __slots__ = ("flags", "positionals", "switches", "values")

    def __init__(self) -> None:
        self.flags: dict[str, str] = {}
        """Settings: name to text."""
        self.values: dict[str, list[str]] = {}
        """Options with a value: name to every value given."""
        self.switches: set[str] = set()
        self.positionals: list[str] = []

    def words(self, name: str) -> tuple[str, ...]:
        """All values of an option that takes a comma-separated list."""
        return split_words(self.values.get(name, []))

    def last(self, name: str) -> str | None:
        """The value of an option that counts once."""
        return self.values.get(name, [None])[-1]


def split_words(values: Sequence[str]) -> tuple[str, ...]:
    """The words of all values of an option that takes a comma-separated list."""
    return tuple(word for value in values for word in value.split(",") if word)


_HEEDED_BY = {"on": "search"}
"""Settings that one command alone heeds: as an option of another one they would say nothing."""

_SHORT_FORMS = {name: option for option in SHORT_FORMS for name in option.names}


def parse(argv: Sequence[str], command: Command) -> Arguments:
    """Sorts ``argv``; everything after ``--`` is positional, and so is a lone ``-``.

    Raises:
        UsageError: an option is not known or lacks its value.
    """
    found = Arguments()
    own = _own_options(command)
    rest = iter(argv)
    while (word := next(rest, None)) is not None:
        if word == "--":
            found.positionals.extend(rest)
        elif not word.startswith("-") or word == "-":
            found.positionals.append(word)
        else:
            name, equals, value = word.partition("=")
            if name[:2] == "-n" and name[2:].isdecimal():
                name, equals, value = "-n", "=", name[2:]
            option = own.get(name)
            setting = setting_of_option(name) if option is None else None
            if option is None and setting is None:
                first = own.get(word[:2])
                if first is None or first.value or word[2:3] in ("", "-", "="):
                    raise _unknown(name, own)
                rest = iter([word[:2], f"-{word[2:]}", *rest])  # -qn5 is -q -n5
                continue
            if option is not None and not option.value:
                if equals:
                    raise UsageError(f"{name} takes no value: see --help")
                if option.setting:
                    found.flags[option.setting] = option.constant
                else:
                    found.switches.add(name[2:])
                continue
            if not equals:
                value = _next(rest, name)
            if setting is not None:
                heeds = _HEEDED_BY.get(setting, command.name)
                if heeds != command.name:
                    raise UsageError(f"{name} is for 'lore {heeds}': leave it out")
                found.flags[setting] = value
            else:
                found.values.setdefault(name[2:], []).append(value)
    return found


def _own_options(command: Command) -> dict[str, Option]:
    """By name: what the command declares, and what every hot command takes; no settings."""
    own = {name: option for option in command.options() for name in option.names
           if not (option.setting and option.value)}  # fmt: skip
    own.update(_SHORT_FORMS)
    return own


def _next(rest: object, name: str) -> str:
    value = next(rest, None)  # type: ignore[call-overload]
    if value is None:
        raise UsageError(f"{name} needs a value: see --help")
    return str(value)


def _unknown(name: str, own: dict[str, Option]) -> UsageError:
    known = [*own, *(f"--{setting.option}" for setting in SETTINGS)]
    return UsageError(f"unknown option '{name}'{nearest(name, known)}: see --help")


def setting_of_option(option: str) -> str | None:
    """The setting that ``--decay`` sets, or ``--hop-decay``; None: there is no such setting."""
    if option == "-n":
        return "limit"
    for setting in SETTINGS:
        if option in ("--" + setting.option, "--" + setting.name.replace("_", "-")):
            return setting.name
    return None


def read_plainly(words: Sequence[str], command: Command) -> dict[str, Any] | None:
    """The parameters of a command's function; None where click has to read the words."""
    own, found = _plain_words_own_options(command)
    given: dict[str, Option] = {}
    positionals: list[str] = []
    rest = iter(words)
    while (word := next(rest, None)) is not None:
        if word == "--":
            positionals.extend(rest)
            continue
        if word == "-" or not word.startswith("-"):
            positionals.append(word)
            continue
        name, equals, text = word.partition("=")
        if name[1] != "-" and len(word) > 2:
            name, equals, text = word[:2], "", word[2:]
        into, option = own.get(name, ("", None))
        if option is None or given.setdefault(into, option) is not option:
            return None
        if text and not equals:  # -qn5 is -q -n5, and -n5 is -n 5
            if not option.value and text[0] in "-=":
                return None
            rest = iter([name, text if option.value else f"-{text}", *rest])
            continue
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


def _plain_words_own_options(
    command: Command,
) -> tuple[dict[str, tuple[str, Option]], dict[str, Any]]:
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
    if option.many:
        return option.default or ()
    if option.default is not None or option.constant:
        return option.default
    return None if option.value else False


def _flag(option: Option, word: str) -> object:
    return (option.constant or True) if word in option.names else None


def _value(option: Option, equals: str, text: str, rest: Any) -> object:
    """Return the value of an option as its kind has it; None where click must read it."""
    if option.value.startswith("["):
        return None
    value = text if equals else next(rest, None)
    if value is None or (option.choices and value not in option.choices):
        return None
    low, high = option.low, option.high
    if low is None and high is None:
        return value
    try:
        number = int(value) if option.whole else float(value)
    except ValueError:
        return None
    return number if (low is None or low <= number) and (high is None or number <= high) else None


def _take(words: list[str], command: Command, found: dict[str, Any]) -> bool:
    """Give each argument its word, the last one all that are left; return False if it is not plain.

    Arguments that go into one parameter are one list.
    """
    places = [argument.into for argument in command.arguments]
    last = places[-1] if places else ""
    for argument in command.arguments:
        into = argument.into
        if argument.many or places.count(into) > 1:
            if into != last:
                return False
            found[into] = tuple(words)
            return True
        if words:
            found[into] = words.pop(0)
        elif argument.required or into != last:
            return False
        else:
            found[into] = ""
    return not words
