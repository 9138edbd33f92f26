"""A command line as the parameters of its command, read without click where it is plain.

Importing click costs as much as two searches, so it reads what is not plain alone, and words all
that is wrong. Both readers work from the declaration of the command (``pylore/cli/declare``).
"""

from __future__ import annotations

from ..core.settings import setting_of_option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from .declaration import OldCommand, Option


def read(
    words: Sequence[str], command: OldCommand, defaults: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the parameters of a command's function; ``settings`` are those given, as text.

    Args:
        defaults: what stands where nothing is given, in place of what the command declares.

    Raises:
        UsageError: an option or argument is unknown, wrong or missing.
    """
    given = read_plainly(words, command)
    if given is None:
        from .click_reader import read_with_click

        given = read_with_click(words, command)
    others = defaults_of(command) if defaults is None else defaults
    return {**others, **given, "settings": {**others["settings"], **given["settings"]}}


def split_words(values: Sequence[str]) -> tuple[str, ...]:
    """Return the words of all values of an option that takes a comma-separated list."""
    return tuple(word for value in values for word in value.split(",") if word)


def defaults_of(command: OldCommand) -> dict[str, Any]:
    """Return what each parameter is whose option is not given."""
    found: dict[str, Any] = {"settings": {}}
    for option in command.options():
        if not option.setting:
            found.setdefault(option.parameter, _default(option))
    return found


def _default(option: Option) -> object:
    if option.many:
        return option.default or ()
    if option.default is not None or option.constant:
        return option.default
    return None if option.value else False


def read_plainly(words: Sequence[str], command: OldCommand) -> dict[str, Any] | None:
    """Return the parameters that the words give; None where click has to read them.

    Everything after ``--`` is an argument, and so is a lone ``-``.
    """
    own = {name: option for option in command.options() for name in option.names
           if not (option.setting and option.value)}  # fmt: skip
    settings: dict[str, str] = {}
    found: dict[str, Any] = {"settings": settings}
    by: dict[str, Option] = {}
    arguments: list[str] = []
    rest = iter(words)
    while (word := next(rest, None)) is not None:
        if word == "--":
            arguments.extend(rest)
            continue
        if word == "-" or word[:1] != "-":
            arguments.append(word)
            continue
        name, equals, text = word.partition("=")
        if name[1] != "-" and len(word) > 2:
            name, equals, text = word[:2], "", word[2:]
        option = own.get(name)
        takes_value = option is None or option.value
        if text and not equals:  # -qn5 is -q -n5, and -n5 is -n 5
            if not takes_value and text[0] in "-=":
                return None
            rest = iter([name, text if takes_value else f"-{text}", *rest])
            continue
        if option is None:
            setting = setting_of_option(name)
            value = text if equals else next(rest, None)
            if setting is None or value is None or setting not in command.own_settings():
                return None
            settings[setting] = value
        elif option.setting:
            if equals:
                return None
            settings[option.setting] = option.constant
        else:
            into = option.parameter
            if by.setdefault(into, option) is not option:
                return None
            read = _value(option, equals, text, rest) if takes_value else _flag(option, equals)
            if read is None:
                return None
            found[into] = (*found.get(into, ()), read) if option.many else read
    return found if _take(arguments, command, found) else None


def _flag(option: Option, equals: str) -> object:
    return None if equals else option.constant or True


def _value(option: Option, equals: str, text: str, rest: Any) -> object:
    """Return the value of an option as its kind has it; None where click must read it."""
    if option.value.startswith("["):
        return None
    value = text if equals else next(rest, None)
    try:
        return None if value is None else option.read(value)
    except ValueError:
        return None


def _take(words: list[str], command: OldCommand, found: dict[str, Any]) -> bool:
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
