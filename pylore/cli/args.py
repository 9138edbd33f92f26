"""Command lines of the hot path, read without click (whose import costs two searches).

Every setting is an option of its own; beside those a command has switches and
options that take a value. The rest of the commands use click (``cli.py``).
"""

from __future__ import annotations

from ..core.errors import UsageError, nearest
from ..core.settings import SETTINGS
from ..terminal.output import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


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


_SETTING_OPTIONS: dict[str, str] = {
    **{"--" + setting.name.replace("_", "-"): setting.name for setting in SETTINGS},
    **{"--" + setting.option: setting.name for setting in SETTINGS},
    "-n": "limit",
}
_SHORT_FORMS: dict[str, tuple[str, str]] = {
    "--expand": ("graph_depth", "2"),
    "--no-diversify": ("diversify", "0"),
    "-q": ("quiet", "1"),
    "--quiet": ("quiet", "1"),
}
_FORMS = tuple("--" + form for form in FORMATS)


def parse(
    argv: Sequence[str], switches: Sequence[str] = (), values: Sequence[str] = ()
) -> Arguments:
    """Sorts ``argv``; everything after ``--`` is positional, and so is a lone ``-``.

    Raises:
        UsageError: an option is not known or lacks its value.
    """
    found = Arguments()
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
            if name in _SHORT_FORMS or name in switches or name in _FORMS:
                if equals:
                    raise UsageError(f"{name} takes no value: see --help")
                if name in _SHORT_FORMS:
                    setting, text = _SHORT_FORMS[name]
                    found.flags[setting] = text
                else:
                    found.switches.add(name[2:])
            elif name in _SETTING_OPTIONS or name in values or name == "--jq":
                if not equals:
                    value = _next(rest, name)
                if name in _SETTING_OPTIONS and name not in values:
                    found.flags[_SETTING_OPTIONS[name]] = value
                else:
                    found.values.setdefault(name[2:], []).append(value)
            else:
                raise _unknown(name, switches, values)
    return found


def _next(rest: object, name: str) -> str:
    value = next(rest, None)  # type: ignore[call-overload]
    if value is None:
        raise UsageError(f"{name} needs a value: see --help")
    return str(value)


def _unknown(name: str, switches: Sequence[str], values: Sequence[str]) -> UsageError:
    known = [*switches, *values, *_SETTING_OPTIONS, *_SHORT_FORMS, *_FORMS, "--jq"]
    return UsageError(f"unknown option '{name}'{nearest(name, known)}: see --help")


def setting_of_option(option: str) -> str | None:
    """The setting that an option such as ``--decay`` sets, if it is one of theirs."""
    return _SETTING_OPTIONS.get(option)
