"""Commands as functions: the defaults of their parameters declare arguments and options.

Command lines, help, completion, the manual and the tools of the MCP server come of these
declarations; the options that several commands have are at the end. On the path of every search.
"""

from __future__ import annotations

from ..core.errors import UsageError, nearest
from ..core.settings import BY_NAME, OPTIONS, chosen, number
from ..core.vocabulary import SOURCES, STATUSES
from ..terminal import FORMS

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
        complete: the kind of words that completion offers: a key of ``help.WORDS``.
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
        self.spelled, self.help, self.complete = spelled, help, complete
        self.low, self.high, self.choices = low, high, choices
        words = spelled.split()
        self.names = names = [word.rstrip(",") for word in words if word[0] == "-"]
        self.value = value = "".join(words[len(names) :])
        self.is_list = value.endswith(",…")
        self.many = value.rstrip("]").endswith("…")
        """True if the value is a tuple: the option or argument may be given several times."""
        self.required = not names and spelled[0] != "["
        self.name = names[-1][2:].replace("-", "_") if names else ""
        """The parameter of the function."""
        usual = () if self.many else None if value else False
        self.default = usual if default is None else default

    def convert(self, text: str) -> Any:
        """Return the value of a text: a tuple of a list, a number within bounds. Raise ValueError,
        which names the valid values."""
        if self.is_list:
            from ..core.vocabulary import listed

            return tuple(chosen(one, self.choices or (one,)) for one in listed(text))
        if self.choices:
            return chosen(text, self.choices)
        if self.low is None:
            return text
        high = 1_000_000_000 if self.high is None else self.high
        return number(text, self.low, high, whole=isinstance(self.low, int))


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
        self.options = [one for one in self.parameters if one.names]
        self.arguments = [one for one in self.parameters if not one.names]
        return self

    @property
    def shown_options(self) -> list[Parameter]:
        """The options that the help lists, including settings."""
        return [*self.options, *map(_setting_option, self.settings)]

    @property
    def text(self) -> str:
        """The help, without the indentation of the docstring."""
        return (self.run.__doc__ or "").replace("\n    ", "\n").strip()

    def option_of(self, name: str) -> Parameter | None:
        """Return the option with this name, of the command or of a setting."""
        for one in (*SHARED, *self.options):
            if name in one.names:
                return one
        setting = OPTIONS.get(name)
        if setting is None or (setting == "on" and "on" not in self.settings):
            return None
        return _setting_option(setting)

    def wrong(self, message: str) -> UsageError:
        """Return the error of a line that this command does not take."""
        return UsageError(f"{message}: see 'lore {self.name} --help'")


command = Command


class Group:
    """A command that has verbs: ``graph``; ``default`` is the verb of a line without."""

    def __init__(self, name: str, text: str, default: str = "") -> None:
        self.name = name
        self.text = text
        self.default = default


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


def _setting_option(name: str) -> Parameter:
    """Return the option of a setting; the value is converted with all settings."""
    setting = BY_NAME[name]
    short = "-n, " if name == "limit" else ""
    value = "VALUE,…" if setting.kind in ("names", "words", "weights") else "VALUE"
    spelled = f"{short}--{setting.option} {value}"
    help = setting.help.partition(";")[0]
    found = Parameter(spelled, help, choices=setting.choices, complete=name)
    found.name = name
    return found


def read(words: Sequence[str], command: Command) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the values of parameters, and settings and shared options as text. Raise UsageError
    for an invalid line."""
    values: dict[str, Any] = {one.name: one.default for one in command.parameters}
    settings: dict[str, str] = {}
    arguments: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            arguments.extend(rest)
        elif word[:1] != "-" or not word.lstrip("-")[:1].isalpha():
            arguments.append(word)
        else:
            name, equals, text = word.partition("=")
            if name[1:2] != "-" and len(name) > 2:
                name, equals, text = word[:2], "=", word[2:]  # -n5
            one = command.option_of(name)
            if one is None:
                own = (*SHARED, *command.options)
                known = [*OPTIONS, *(name for each in own for name in each.names)]
                raise command.wrong(f"no such option '{name}'{nearest(name, known)}")
            if equals and not one.value:
                raise command.wrong(f"{name} takes no value")
            if one.value and not equals:
                given = next(rest, None)
                if given is None:
                    raise command.wrong(f"{name} needs {one.value}")
                text = given
            if one not in command.options:
                before = f"{settings[one.name]}," if one.many and one.name in settings else ""
                settings[one.name] = before + text if one.value else "1"
                continue
            shown = name if name[1] == "-" else one.names[-1]
            value: Any = _converted(one, text, shown) if one.value else True
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
            raise command.wrong(f"{command.name} needs {one.value}{choices}")
        if one.many:
            yield one.name, tuple(words)
            words = []
        elif words:
            yield one.name, _converted(one, words[0], one.value)
            words = words[1:]
    if words:
        raise command.wrong(f"unexpected argument '{words[0]}'")


def _converted(one: Parameter, text: str, name: str) -> Any:
    try:
        return one.convert(text)
    except ValueError as error:
        raise UsageError(f"{name} is '{text}': give {error}") from None


def exclusive(**given: Any) -> str:
    """Return the name of the given option, or an empty text; raise UsageError for two options."""
    named = [name for name, value in given.items() if value]
    names = [name if name.isupper() else f"--{name.replace('_', '-')}" for name in named]
    if len(names) > 1:
        raise UsageError(f"{names[0]} and {names[1]} exclude each other: give one")
    return names[0] if names else ""


def require_utf8(text: str, what: str) -> str:
    """Return ``text``; raise UsageError unless it is UTF-8, without half surrogates."""
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise UsageError(f"{what} '{text}' is not UTF-8: convert or rename it")
    return text


# --- options of several commands: parameters take them as defaults

WALK = ("graph_edges", "graph_exclude_edges")
"""Settings of every walk that the help lists."""

TYPES = option("--type TYPE,…", "only these types", complete="types")
STATUS_FILTER = option("--status STATUS,…", "only these statuses", complete="statuses")
TAG_FILTER = option("--tag, --tags TAG,…", "only with all these tags")
FILE_FILTER = option("--file GLOB,…", "only of these files", complete="files")
SINCE = option("--since DATE|AGE", "changed since (2026-01-31, 7d)", "")
EXCLUDE = option("--exclude ID,…", "neither return nor walk through these", complete="ids")
NEAR = option("--files GLOB,…", "files you work on; also @git, @session", complete="near")
ONLY_NEAR = option("--files GLOB,…", "only from these; also @git, @session", complete="near")
EXPLAIN = option("--explain, --verbose", "show the factors of each score")
EXPAND = option("--expand", "the same as --graph-depth 2")
TREE = option("--tree", "print a tree of how nodes were reached")
LIMIT = option("-n, --limit N", "maximum number of results", low=1)
SUPERSEDED = option("--with-superseded", "include superseded facts")

STATUS = option("--status STATUS", ", ".join(STATUSES), choices=STATUSES)
SOURCE = option("--source SOURCE", ", ".join(SOURCES), choices=SOURCES)
CONFIDENCE = option("--confidence X", "0 to 1", low=0.0, high=1.0)
CATEGORY = option("--category NAME", "category within the type")
