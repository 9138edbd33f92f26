"""Commands as functions: the defaults of their parameters declare arguments and options.

``read`` takes plain command lines; ``click_app`` takes all others, and makes help, errors of usage
and completion of the same declarations. The tools of the MCP server come from them too.
This module is on the path of every search.
"""

from __future__ import annotations

from ..core.settings import setting_of_option
from ..terminal.output import FORMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

MOST = 2**63 - 1
"""The largest whole number that a column of SQLite holds."""


class Parameter:
    """One option or argument, as ``option`` and ``argument`` declare it.

    Its spelling is read when somebody asks for ``names``, ``value`` or ``default``: a module
    declares the options of all its commands, and one of them runs.
    """

    __slots__ = (
        *("_given", "choices", "complete", "default", "help", "hidden", "high", "low"),
        *("name", "names", "spelled", "value"),
    )

    def __init__(
        self,
        spelled: str,
        help: str,
        default: Any,
        low: float | None,
        high: float | None,
        choices: Sequence[str],
        complete: str,
        hidden: bool,
    ) -> None:
        self.spelled = spelled
        self.help = help
        self.low = low
        self.high = high
        self.choices = choices
        self.complete = complete
        self.hidden = hidden
        self._given = default
        self.name = ""
        """The parameter of the function."""

    def __getattr__(self, name: str) -> Any:
        if name not in ("names", "value", "default"):
            raise AttributeError(name)
        parts = self.spelled.split(", ") if self.spelled[:1] == "-" else []
        self.names = tuple([part.partition(" ")[0] for part in parts])
        self.value = parts[-1].partition(" ")[2] if parts else self.spelled
        self.default = self._given
        if self.default is None and (self.many or not self.value):
            self.default = () if self.many else False
        return getattr(self, name)

    @property
    def many(self) -> bool:
        """True if the value is a tuple: the option or argument may be given several times."""
        return self.value.rstrip("]").endswith("…")

    @property
    def is_list(self) -> bool:
        """True if each value is a list with commas."""
        return self.value.endswith(",…")

    @property
    def required(self) -> bool:
        """True for an argument that a command line must have."""
        return not self.names and self.value[:1] != "["

    def convert(self, text: str) -> Any:
        """Return the value of a text: a tuple of a list, a number where there are bounds.

        Raises:
            ValueError: the text is no such value; the message says what to give.
        """
        if self.is_list:
            return tuple([word.strip() for word in text.split(",") if word.strip()])
        if self.choices and text not in self.choices:
            raise ValueError(f"give one of {', '.join(self.choices)}")
        return text if self.low is None else self._number(text, self.low)

    def _number(self, text: str, low: float) -> float:
        whole = isinstance(low, int)
        high = MOST if self.high is None else self.high
        try:
            number = int(text) if whole else float(text)
            if low <= number <= high:
                return number
        except ValueError:
            pass
        most = "" if self.high is None else f" to {self.high:g}"
        raise ValueError(f"give a {'whole ' if whole else ''}number from {low:g}{most}")


def option(
    spelled: str,
    help: str = "",
    default: Any = None,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: Sequence[str] = (),
    complete: str = "",
    hidden: bool = False,
) -> Any:
    """Declare an option in the place of a parameter's default.

    Args:
        spelled: its names and its value: ``-n, --limit N``; a switch has none, ``TAG,…`` is a list
            with commas and ``KEY=VALUE…`` may be given several times: both are tuples.
        default: False tells a list that is not given from an empty one.
        low: makes it a number: a whole one if this bound is an int.
        choices: the values that it may have.
        complete: the kind of words that completion offers: see ``completion.WORDS``.
        hidden: True keeps it out of the help.
    """
    return Parameter(spelled, help, default, low, high, choices, complete, hidden)


def argument(
    spelled: str, help: str = "", *, choices: Sequence[str] = (), default: Any = None,
    complete: str = "",
) -> Any:  # fmt: skip
    """Declare an argument: ``ID``, ``[FILE]`` (may be left out), ``WORD…`` (a tuple)."""
    return Parameter(spelled, help, default, None, None, choices, complete, hidden=False)


def _shared(name: str, spelled: str, help: str) -> Parameter:
    parameter: Parameter = option(spelled, help, hidden=True)
    parameter.name = name
    return parameter


SHARED = (
    *(_shared(f"as_{form.name}", f"--{form.name}", form.summary) for form in FORMS),
    _shared("jq", "--jq EXPR", "filter the JSON through jq"),
    _shared("quiet", "-q, --quiet", "print no notes"),
    _shared("no_pager", "--no-pager", "start no pager"),
    _shared("all_scopes", "--all-scopes", "use everybody's facts"),
)
"""Options of every command, which its session reads."""


class Command:
    """A command: ``name`` (``search``, ``graph path``), its function and its parameters."""

    def __init__(
        self,
        usage: str,
        run: Callable[..., Any],
        settings: Sequence[str],
        *,
        hidden: bool,
        needs_config: bool,
    ) -> None:
        self.usage = usage
        self.name = _name_in(usage)
        self.run = run
        self.settings = settings
        self.hidden = hidden
        self.needs_config = needs_config
        """False for a command that answers whatever the config holds, and reads it itself."""
        self._parameters: list[Parameter] | None = None

    @property
    def parameters(self) -> list[Parameter]:
        """The options and arguments, in the order of the function."""
        if self._parameters is None:
            self._parameters = parameters_of(self.run)
        return self._parameters

    @property
    def options(self) -> list[Parameter]:
        """The options that this command declares itself."""
        return [one for one in self.parameters if one.names]

    @property
    def arguments(self) -> list[Parameter]:
        """The arguments, in their order."""
        return [one for one in self.parameters if not one.names]

    @property
    def text(self) -> str:
        """The help, without the indentation of the docstring."""
        lines = (self.run.__doc__ or "").split("\n")
        return "\n".join([line.removeprefix("    ") for line in lines]).strip()

    def takes_setting(self, name: str) -> bool:
        """Return True if the setting may be an option of this command."""
        return name != "on" or name in self.settings


class Group:
    """A command that has verbs: ``graph``."""

    def __init__(self, name: str, text: str, default: str = "") -> None:
        self.name = name
        self.text = text
        self.default = default
        """The verb that a line without one stands for."""


def command(
    usage: str,
    *,
    settings: Sequence[str] = (),
    hidden: bool = False,
    needs_config: bool = True,
) -> Callable[[Callable[..., Any]], Command]:
    """Make a command of a function, whose first parameter is the session.

    Args:
        usage: the name, and the arguments as the help shows them.
        settings: settings that the help lists as options; every other one is taken too.
    """
    return lambda run: Command(usage, run, settings, hidden=hidden, needs_config=needs_config)


def _name_in(usage: str) -> str:
    """Return the words in lower case that a usage begins with.

    >>> _name_in("graph path [options] A B"), _name_in("merge-file --ours FILE")
    ('graph path', 'merge-file')
    """
    words: list[str] = []
    for word in usage.split():
        if word[0] == "-" or not word.replace("-", "").isalpha() or word != word.lower():
            break
        words.append(word)
    return " ".join(words)


def parameters_of(run: Callable[..., Any]) -> list[Parameter]:
    """Return the declarations in a function's defaults, each with its parameter's name."""
    code = run.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    defaults = run.__defaults__ or ()
    positional = names[code.co_argcount - len(defaults) : code.co_argcount]
    declared = {**dict(zip(positional, defaults, strict=True)), **(run.__kwdefaults__ or {})}
    found = []
    for name, one in declared.items():
        if isinstance(one, Parameter):
            assert one.name in ("", name), f"{one.spelled} is {one.name} elsewhere, not {name}"
            one.name = name
            found.append(one)
    return found


class Line:
    """What a command line gives: values of parameters, settings as text, shared options."""

    __slots__ = ("given", "settings", "shared")

    def __init__(self) -> None:
        self.given: dict[str, Any] = {}
        self.settings: dict[str, str] = {}
        self.shared: dict[str, Any] = {}

    def put(self, one: Parameter, value: Any) -> None:
        """Set the value of an option; values of one that may be repeated are joined."""
        into = self.shared if one in SHARED else self.given
        if one.many:
            into[one.name] = into.get(one.name, ()) + (value if one.is_list else (value,))
        else:
            into[one.name] = value

    def values(self, command: Command) -> dict[str, Any]:
        """Return the parameters of the command's function; defaults stand for the others."""
        return {**{one.name: one.default for one in command.parameters}, **self.given}


def read(words: Sequence[str], command: Command) -> Line | None:
    """Return what a plain line gives; None where click has to read it, or to refuse it."""
    by_name = {name: one for one in (*SHARED, *command.options) for name in one.names}
    line = Line()
    arguments: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            arguments.extend(rest)
        elif word[:1] != "-" or word == "-":
            arguments.append(word)
        else:
            name, equals, text = word.partition("=")
            if not _take(line, command, by_name.get(name), name, text if equals else None, rest):
                return None
    return line if _fill(line, command, arguments) else None


def _take(
    line: Line, command: Command, one: Parameter | None, name: str, text: str | None, rest: Any
) -> bool:
    """Take an option and its value; return False where that is not plain."""
    if one is not None and not one.value:
        line.put(one, True)
        return text is None
    if one is not None and one.value[0] == "[":
        return False
    value = next(rest, None) if text is None else text
    if value is None:
        return False
    if one is None:
        setting = setting_of_option(name)
        if setting is None or not command.takes_setting(setting):
            return False
        line.settings[setting] = value
        return True
    try:
        line.put(one, one.convert(value))
    except ValueError:
        return False
    return True


def _fill(line: Line, command: Command, words: list[str]) -> bool:
    """Give the arguments their words; return False where they do not fit."""
    for one in command.arguments:
        if one.many:
            line.given[one.name], words = tuple(words), []
            if one.required and not line.given[one.name]:
                return False
        elif words:
            try:
                line.given[one.name] = one.convert(words.pop(0))
            except ValueError:
                return False
        elif one.required:
            return False
    return not words
