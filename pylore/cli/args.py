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
    for word in rest:
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
                raise _unknown(name, own)
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
