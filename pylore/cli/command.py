"""Commands as functions: the defaults of their parameters declare arguments and options.

Command lines, help, completion, the manual and the tools of the MCP server come of these
declarations. This module is on the path of every search.
"""

from __future__ import annotations

from ..core.errors import UsageError, nearest
from ..core.settings import BY_NAME, OPTIONS
from ..terminal.output import FORMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any


class Parameter:
    """One option or argument of a command, in the place of its parameter's default.

    Args:
        spelled: its names and its value: ``-n, --limit N``; a switch has none, ``TAG,…`` is a list
            with commas and ``KEY=VALUE…`` may be given several times: both are tuples. An argument
            has its value alone: ``ID``, ``[FILE]`` (may be left out), ``WORD…`` (a tuple).
        default: False tells a list that is not given from an empty one.
        low: makes it a number, of a thousand million at most: a whole one if this bound is an int.
        choices: the values that it may have.
        complete: the kind of words that completion offers: see ``completion.words_of``.
    """

    def __init__(
        self,
        spelled: str,
        help: str = "",
        default: Any = None,
        *,
        low: float | None = None,
        high: float | None = None,
        choices: Sequence[str] = (),
        complete: str = "",
    ) -> None:
        self.spelled = spelled
        self.help = help
        self.low = low
        self.high = high
        self.choices = choices
        self.complete = complete
        is_option = spelled[0] == "-"
        names, _, value = spelled.rpartition(" ") if is_option else ("", "", spelled)
        if is_option and value[0] == "-":  # a switch
            names, value = spelled, ""
        self.names = names.split(", ") if is_option else []
        self.value = value
        self.is_list = value.endswith(",…")
        self.many = value.rstrip("]").endswith("…")
        """True if the value is a tuple: the option or argument may be given several times."""
        self.required = not is_option and spelled[0] != "["
        self.name = self.names[-1][2:].replace("-", "_") if is_option else ""
        """The parameter of the function."""
        self.default = default
        if default is None and (self.many or not value):
            self.default = () if self.many else False

    def convert(self, text: str) -> Any:
        """Return the value of a text: a tuple of a list, a number within bounds. Raise ValueError,
        which names the valid values."""
        if self.is_list:
            from ..core.paths import listed

            return tuple(listed(text))
        if not self.choices and self.low is None:
            return text
        from ..core.setting_values import parse_value

        kind = "choice" if self.choices else "int" if isinstance(self.low, int) else "float"
        high = 1_000_000_000 if self.high is None else self.high
        return parse_value(kind, text, self.low or 0, high, tuple(self.choices))


option: Callable[..., Any] = Parameter
argument: Callable[..., Any] = Parameter

SHARED = (
    *(Parameter(f"--{form.name}", form.summary) for form in FORMS),
    Parameter("--jq EXPR", "filter the JSON through jq"),
    Parameter("-q, --quiet", "print no notes"),
    Parameter("--all-scopes", "use everybody's facts"),
)
"""Options that all commands have, for the session."""


class Command:
    """A command, as the decorator of its function, whose first parameter is the session.

    Args:
        usage: the name (``search``, ``graph path``), and the arguments as the help shows them.
        settings: settings that the help lists as options; every other one is taken too.
        needs_config: False if it answers whatever the config holds, and reads it itself.
    """

    def __init__(
        self, usage: str, *, settings: Sequence[str] = (), needs_config: bool = True
    ) -> None:
        self.usage = usage
        self.name = _name_in(usage)
        self.settings = settings
        self.needs_config = needs_config

    def __call__(self, run: Callable[..., Any]) -> Command:
        """Make a command of a function; the parameters declare options and arguments."""
        self.run = run
        self.parameters = parameters_of(run)
        return self

    @property
    def options(self) -> list[Parameter]:
        """The options that this command declares itself."""
        return [one for one in self.parameters if one.names]

    @property
    def arguments(self) -> list[Parameter]:
        """The arguments, in their order."""
        return [one for one in self.parameters if not one.names]

    @property
    def shown_options(self) -> list[Parameter]:
        """The options that the help lists, including settings."""
        return [*self.options, *map(setting_option, self.settings)]

    @property
    def text(self) -> str:
        """The help, without the indentation of the docstring."""
        lines = (self.run.__doc__ or "").split("\n")
        return "\n".join([line.removeprefix("    ") for line in lines]).strip()

    def option_of(self, name: str) -> Parameter | None:
        """Return the option with this name, of the command or of a setting."""
        for one in (*SHARED, *self.options):
            if name in one.names:
                return one
        setting = OPTIONS.get(name)
        if setting is None or (setting == "on" and "on" not in self.settings):
            return None
        return setting_option(setting)


class Group:
    """A command that has verbs: ``graph``."""

    def __init__(self, name: str, text: str, default: str = "") -> None:
        self.name = name
        self.text = text
        self.default = default
        """The default verb."""


command = Command


def _name_in(usage: str) -> str:
    """Return the words that a usage begins with.

    >>> _name_in("graph path [options] A B"), _name_in("merge-file --ours FILE")
    ('graph path', 'merge-file')
    """
    words = usage.split()
    return " ".join(words[: next((n for n, one in enumerate(words) if not one[0].islower()), None)])


def parameters_of(run: Callable[..., Any]) -> list[Parameter]:
    """Return the declarations in a function's defaults, with the names of the parameters."""
    code, defaults = run.__code__, run.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    declared = {**dict(zip(names, defaults, strict=True)), **(run.__kwdefaults__ or {})}
    found = {name: one for name, one in declared.items() if isinstance(one, Parameter)}
    for name, one in found.items():
        one.name = name
    return [*found.values()]


def setting_option(name: str) -> Parameter:
    """Return the option of a setting; the value is converted with all settings."""
    setting = BY_NAME[name]
    short = "-n, " if name == "limit" else ""
    value = "VALUE,…" if setting.kind in ("names", "words") else "VALUE"
    found = Parameter(
        f"{short}--{setting.option} {value}",
        setting.help.partition(";")[0],
        choices=setting.choices,
        complete=name,
    )
    found.name = name
    return found


def read(words: Sequence[str], command: Command) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the values of parameters, and settings and shared options as text. Raise UsageError
    for an invalid line."""
    own = command.options
    values = {one.name: one.default for one in command.parameters}
    settings: dict[str, str] = {}
    arguments: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            arguments.extend(rest)
        elif word[:1] != "-" or word == "-":
            arguments.append(word)
        else:
            name, equals, text = word.partition("=")
            if name[1:2] != "-" and len(name) > 2:
                name, equals, text = word[:2], "=", word[2:]  # -n5
            one = command.option_of(name)
            if one is None:
                known = [*OPTIONS, *(name for each in (*SHARED, *own) for name in each.names)]
                raise _wrong(command, f"no such option '{name}'{nearest(name, known)}")
            if equals and not one.value:
                raise _wrong(command, f"{name} takes no value")
            if one.value and not equals:
                try:
                    text = next(rest)
                except StopIteration:
                    raise _wrong(command, f"{name} needs {one.value}") from None
            if one not in own:
                settings[one.name] = text if one.value else "1"
                continue
            value: Any = _converted(one, text) if one.value else True
            if one.many:
                value = (values[one.name] or ()) + (value if one.is_list else (value,))
            values[one.name] = value
    values.update(_filled(command, arguments))
    return values, settings


def _filled(command: Command, words: list[str]) -> Iterator[tuple[str, Any]]:
    """Yield the arguments with their words; raise UsageError where these do not fit."""
    for one in command.arguments:
        if one.required and not words:
            choices = f", one of {', '.join(one.choices)}" if one.choices else ""
            raise _wrong(command, f"{command.name} needs {one.value}{choices}")
        if one.many:
            yield one.name, tuple(words)
            words = []
        elif words:
            yield one.name, _converted(one, words[0])
            words = words[1:]
    if words:
        raise _wrong(command, f"unexpected argument '{words[0]}'")


def _converted(one: Parameter, text: str) -> Any:
    try:
        return one.convert(text)
    except ValueError as error:
        raise UsageError(f"{(one.names or (one.value,))[-1]} is '{text}': give {error}") from None


def _wrong(command: Command, message: str) -> UsageError:
    return UsageError(f"{message}: see 'lore {command.name} --help'")
