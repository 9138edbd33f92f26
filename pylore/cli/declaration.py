"""What a command takes, as data: the one place that parsing, help, completion and manual read.

A command is declared in ``pylore/cli/declare``, in the module of its family or one of its name.
Its help, what completion offers, its page of the manual and ``docs/commands.md`` come from there.
This module is on the path of every search.
"""

from __future__ import annotations

from ..core.settings import SETTINGS
from ..system.parts import part as module_of_part
from . import command, registry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Literal

    Kind = Literal[
        "", "commands", "files", "forgotten", "ids", "languages", "relations", "remotes", "runs",
        "settings", "sources", "statuses", "tags", "types", "verbs",
    ]  # fmt: skip
    Function = Callable[..., Any]


class Option:
    """One option: how it is spelled, what its value is, what it does.

    ``spelled`` is what the help shows: ``--title TITLE``, ``-n, --limit N``, ``--tag TAG,…``.
    A value in brackets may be left out; one that ends in ``,…`` is a list.
    """

    __slots__ = (
        "choices", "constant", "default", "help", "high", "into", "kind", "low", "many", "names",
        "setting", "spelled", "value", "whole",
    )  # fmt: skip

    def __init__(
        self,
        spelled: str,
        help: str = "",
        *,
        kind: Kind = "",
        choices: tuple[str, ...] = (),
        whole: bool = False,
        low: float | None = None,
        high: float | None = None,
        many: bool = False,
        default: object = None,
        into: str = "",
        constant: str = "",
        setting: str = "",
    ) -> None:
        self.spelled = spelled
        self.help = help
        self.kind = kind
        """What completion offers for the value, where it is not one of ``choices``."""
        self.choices = choices
        """The values that there are. Of a list, the command says what is not one of them."""
        self.whole = whole
        self.low = low
        self.high = high
        """The range of a number; None: it has no end there."""
        self.many = many
        """Whether it may be given several times, each of which counts."""
        self.default = default
        """Its parameter where it is not given."""
        self.into = into
        """The parameter of the command's function, where it is not called as the option is."""
        self.constant = constant
        """What a switch stands for: the value of ``into``, or of the setting."""
        self.setting = setting
        """The setting that it sets, in place of a parameter."""
        parts = spelled.split(", ")
        self.names = tuple([part.partition(" ")[0] for part in parts])
        self.value = parts[-1].partition(" ")[2]

    def read(self, text: str) -> str | float:
        """Return the value that a text stands for.

        Raises:
            ValueError: it is none; the message says what to give.
        """
        if self.choices and not self.value.endswith(",…"):
            if text not in self.choices:
                raise ValueError(f"give one of {', '.join(self.choices)}")
            return text
        low, high = self.low, self.high
        if low is None and high is None:
            return text
        try:
            number = int(text) if self.whole else float(text)
            if (low is None or low <= number) and (high is None or number <= high):
                return number
        except ValueError:
            pass
        least = "" if low is None else f" from {low:g}"
        most = "" if high is None else f" to {high:g}"
        raise ValueError(f"give a {'whole ' if self.whole else ''}number{least}{most}")

    @property
    def parameter(self) -> str:
        """The parameter of the command's function, where it sets no setting."""
        return self.into or next(name for name in self.names if name[:2] == "--")[2:].replace(
            "-", "_"
        )


ALL_SCOPES = Option(
    "--all-scopes", "everybody's facts, whatever scope is set", setting="scope", constant="*"
)
"""Every command takes it, as every command takes ``--scope``."""


NO_PAGER = Option(
    "--no-pager", "long output as it is, on a terminal too", setting="paging", constant="0"
)
"""Every command takes it; the help of those whose output may be long says so."""

EXPAND = Option("--expand", "the same as --graph-depth 2", setting="graph_depth", constant="2")
NO_DIVERSIFY = Option(
    "--no-diversify", "keep similar results where their scores put them: mmr_lambda 1",
    setting="mmr_lambda", constant="1",
)  # fmt: skip
QUIET = Option("-q, --quiet", "no notes on stderr", setting="quiet", constant="1")
_ONLY_NAMED = ("on",)
"""Settings that are options of the commands alone whose declarations name them."""
_OF_SEARCHES = (EXPAND, NO_DIVERSIFY, QUIET)
"""Further options of a command that has all settings as options."""


class Row:
    """Options that share a line of help."""

    __slots__ = ("help", "options")

    def __init__(self, help: str, *options: Option) -> None:
        self.help = help
        self.options = options


class Heading:
    """What stands above a group of options."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class VerbList:
    """Where the help lists the verbs, each with its arguments and what it does."""

    __slots__ = ()


class Argument:
    """What a command takes beside options: ``ID``, ``[FILE]`` (may be left out), ``TEXT…``."""

    __slots__ = ("choices", "into", "kind", "spelled")

    def __init__(
        self,
        spelled: str,
        into: str = "",
        kind: Kind = "",
        *,
        choices: tuple[str, ...] = (),
    ) -> None:
        self.spelled = spelled
        self.into = into
        """The parameter of the command's function."""
        self.kind = kind
        self.choices = choices
        """Words that completion offers."""

    @property
    def name(self) -> str:
        """How a message calls it."""
        return self.spelled.strip("[]…")

    @property
    def many(self) -> bool:
        """Whether it takes all words that are left."""
        return "…" in self.spelled

    @property
    def required(self) -> bool:
        """Whether a command line without it is wrong, whatever else it has."""
        return not self.many and not self.spelled.startswith("[")


class OldCommand:
    """One command, or one verb of ``graph`` or ``run``.

    ``parts`` is its help from above to below: paragraphs, headings, options, rows.
    """

    __slots__ = (
        "also", "arguments", "brief", "examples", "name", "parts", "raw", "run", "settings",
        "summary", "usage", "verbs",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        usage: str,
        summary: str,
        *parts: str | Heading | Option | Row | VerbList,
        examples: tuple[str, ...] = (),
        arguments: tuple[Argument, ...] = (),
        also: tuple[Option, ...] = (),
        settings: tuple[str, ...] | None = (),
        run: str | Function = "",
        raw: str = "",
        brief: str = "",
        verbs: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        """As a person calls it: ``search``, ``graph path``."""
        self.usage = usage
        self.summary = summary
        self.parts = parts
        self.examples = examples
        self.arguments = arguments
        self.also = also
        """Options that are taken and that the help leaves out."""
        self.settings = settings
        """Settings that are options too, beside those of the help; None: all of them."""
        self.run = run
        """The function that has the options as parameters, or ``module:name`` below
        ``pylore/cli``; those below ``commands`` are not on the hot path."""
        self.raw = raw
        """In place of ``run``: what is given the words as they are, and the command."""
        self.brief = brief
        """The arguments of a verb, as the list of verbs has them."""
        self.verbs = verbs
        """The order in which verbs are listed; those that are not named come last."""

    def as_verb(
        self, name: str, summary: str, text: str, *, brief: str, examples: tuple[str, ...] = ()
    ) -> OldCommand:
        """Return the same command as a verb, told in other words."""
        options = [part for part in self.parts if type(part) is not str]
        return OldCommand(
            name, self.usage, summary, text, *options,
            examples=examples, arguments=self.arguments, also=self.also, settings=self.settings,
            run=self.run, raw=self.raw, brief=brief,
        )  # fmt: skip

    def listed(self) -> Iterator[Option]:
        """Yield the options that the help has."""
        for part in self.parts:
            if type(part) is Option:
                yield part
            elif type(part) is Row:
                yield from part.options

    def options(self) -> Iterator[Option]:
        """Yield all options, but for settings that the help leaves out."""
        listed = [*self.listed()]
        yield from listed
        yield from self.also
        names = {option.names for option in listed} | {option.names for option in self.also}
        everywhere = (ALL_SCOPES, NO_PAGER)
        for option in everywhere if self.settings is not None else (*_OF_SEARCHES, *everywhere):
            if option.names not in names:
                yield option

    def own_settings(self) -> set[str]:
        """Return the settings that are options of the command, each with a text."""
        named = {option.setting for option in self.options() if option.setting and option.value}
        if self.settings is None:
            return named | {one.name for one in SETTINGS if one.name not in _ONLY_NAMED}
        return named | {*self.settings, "scope"}


FAMILIES = {
    "cli.declare.find": "browse",
    "cli.declare.system": "version commands completion help",
}  # fmt: skip
"""Module below ``pylore`` to the commands that it declares; any other command has a module of its
name in ``declare``. A module that is missing is of a part that was left out."""


def find(word: str) -> OldCommand | None:
    """Return the declaration of a command by the engine's name of it; None if there is none.

    >>> find("graph-path").name
    'graph path'
    """
    if not word.replace("-", "").isalpha():
        return None
    group, _, verb = word.partition("-")
    if registry.module_of(group):
        named = {one.name: one for one in bridged()}
        return named.get(word) or named.get(f"{group} {verb}")
    for owner, name in ((word, word), (group, f"{group} {verb}")):
        for one in declared_by(owner):
            if one.name == name:
                return one
    return None


def verbs_of(group: OldCommand) -> list[OldCommand]:
    """Return the verbs of a command, in their order; those that it does not name come last."""
    if registry.module_of(group.name):
        named = {one.name: one for one in bridged()}
        return [named[f"{group.name} {verb}"] for verb in group.verbs]
    found = {
        one.name.partition(" ")[2]: one
        for one in declared_by(group.name)
        if one.name.startswith(f"{group.name} ")
    }
    return [found[verb] for verb in (*group.verbs, *sorted(found.keys() - {*group.verbs}))]


def every_command() -> dict[str, OldCommand]:
    """Return all that are declared, verbs too, by name, sorted."""
    import os

    folders = _loaded(f"{__package__}.declare").__path__
    files = {file for folder in folders for file in os.listdir(folder)}
    own = {f"cli.declare.{file[:-3]}" for file in files if file[0] != "_" and file.endswith(".py")}
    found = [one for module in sorted(own | {*FAMILIES}) for one in declared_in(module)]
    found += bridged()
    return {command.name: command for command in sorted(found, key=_by_name)}


def _by_name(command: OldCommand) -> str:
    return command.name


def declared_by(command: str) -> list[OldCommand]:
    """Return what the module of a command declares: its family, or the command and its verbs."""
    return declared_in(module_of(command))


def module_of(command: str) -> str:
    """Return the module, below ``pylore``, that declares a command."""
    for module, names in FAMILIES.items():
        if command in names.split():
            return module
    return f"cli.declare.{command.replace('-', '_')}"


def declared_in(module: str) -> list[OldCommand]:
    """Return the commands that a module below ``pylore`` declares; none where it is missing."""
    name = f"pylore.{module}"
    try:
        found = vars(_loaded(name)).values()
    except ModuleNotFoundError as error:
        if error.name not in (name, name.rpartition(".")[0]):
            raise
        return []
    return [one for one in found if type(one) is OldCommand]


def function(named: str | Function) -> Function:
    """Return the function that a declaration names."""
    if not isinstance(named, str):
        return named
    module, _, name = named.partition(":")
    found: Function = getattr(_loaded(f"{__package__}.{module}"), name)
    return found


def _loaded(module: str) -> Any:
    """Return what ``importlib.import_module`` gives, whose own import costs a search too much."""
    return __import__(module, fromlist=("__name__",))


def bridged() -> list[OldCommand]:
    """Return the commands of ``registry`` as ``declaration.Command``."""
    found = []
    for module, names in registry.FAMILIES.items():
        if module_of_part(*module.split(".")) is None:
            continue
        for one in registry.commands_of(names.split()[0]).values():
            if isinstance(one, command.Group):
                found.append(_group(one))
            elif not one.hidden:
                found.append(_command(one))
    return found


def _group(one: command.Group) -> OldCommand:
    return OldCommand(one.name, "", one.text.split("\n")[0].rstrip("."), verbs=_verbs(one.name))


def _command(one: command.Command) -> OldCommand:
    summary, _, text = one.text.partition("\n\n")
    summary = summary.rstrip(".")
    return OldCommand(
        one.name, one.usage.removeprefix(one.name).strip(), summary[0].lower() + summary[1:],
        text, *[_option(each) for each in one.options if not each.hidden],
        arguments=tuple(map(_argument, one.arguments)), settings=None,
    )  # fmt: skip


def _option(one: command.Parameter) -> Option:
    return Option(one.spelled, one.help, kind=one.complete, choices=tuple(one.choices))  # type: ignore[arg-type]


def _argument(one: command.Parameter) -> Argument:
    return Argument(one.spelled, one.name, one.complete, choices=tuple(one.choices))  # type: ignore[arg-type]


def _verbs(group: str) -> tuple[str, ...]:
    names = registry.commands_of(group)
    return tuple(name.partition(" ")[2] for name in names if name.startswith(f"{group} "))
