"""What a command takes, as data: the one place that parsing, help, completion and manual read.

A command is declared in a file of its own, ``pylore/cli/declare/<name>.py``, as ``COMMAND``.
Its help, what completion offers, its page of the manual and ``docs/commands.md`` come from there.
This module is on the path of every search.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Literal

    Kind = Literal[
        "", "commands", "files", "forgotten", "ids", "relations", "remotes", "runs", "settings",
        "sources", "statuses", "tags", "types", "verbs",
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
        """The values that there are; hot commands say themselves what is not one of them."""
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


ALL_SCOPES = Option(
    "--all-scopes", "everybody's facts, whatever scope is set", setting="scope", constant="*"
)
"""Every command takes it, as every command takes ``--scope``."""


NO_PAGER = Option(
    "--no-pager", "long output as it is, on a terminal too", setting="paging", constant="0"
)
"""Every command takes it; the help of those whose output may be long says so."""


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


class Command:
    """One command, or one verb of ``graph`` or ``run``.

    ``parts`` is its help from above to below: paragraphs, headings, options, rows.
    """

    __slots__ = (
        "also", "arguments", "brief", "examples", "hot", "name", "parts", "quick", "run",
        "settings", "summary", "usage", "verbs",
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
        hot: str | Function = "",
        quick: str | Function = "",
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
        ``pylore/cli/commands``."""
        self.hot = hot
        """The function that is given the words and reads them with ``args.parse``, or
        ``module:name`` below ``pylore/cli``."""
        self.quick = quick
        """In place of ``run``, below ``pylore/cli``: where the words are plain
        (``plain_words``), it is called without click."""
        self.brief = brief
        """The arguments of a verb, as the list of verbs has them."""
        self.verbs = verbs
        """The order in which verbs are listed; those that are not named come last."""

    def as_verb(
        self, name: str, summary: str, text: str, *, brief: str, examples: tuple[str, ...] = ()
    ) -> Command:
        """The same command as a verb, told in other words."""
        options = [part for part in self.parts if type(part) is not str]
        return Command(
            name, self.usage, summary, text, *options,
            examples=examples, arguments=self.arguments, also=self.also, settings=self.settings,
            run=self.run, hot=self.hot, quick=self.quick, brief=brief,
        )  # fmt: skip

    def listed(self) -> Iterator[Option]:
        """The options that the help has."""
        for part in self.parts:
            if type(part) is Option:
                yield part
            elif type(part) is Row:
                yield from part.options

    def options(self) -> Iterator[Option]:
        """All options, but for settings that the help leaves out."""
        listed = [*self.listed()]
        yield from listed
        yield from self.also
        for option in (ALL_SCOPES, NO_PAGER):
            if option not in listed:
                yield option


PARTS = {
    "candidates": "capture", "capture": "capture", "event": "capture", "events": "capture",
    "hub": "hub", "promote": "capture", "remote": "hub",
}  # fmt: skip
"""Commands whose declaration and function lie in a part that can be left out."""


def find(word: str) -> Command | None:
    """The declaration of a command, by what the engine is called with; None: there is none.

    >>> find("graph-path").name
    'graph path'
    """
    if not word.replace("-", "").isalpha():
        return None
    group, _, verb = word.partition("-")
    for module, name in ((word.replace("-", "_"), word), (group, f"{group} {verb}")):
        for command in declared_in(module):
            if command.name == name:
                return command
    return None


def verbs_of(group: Command) -> list[Command]:
    """Return the verbs of a command, in their order; those that it does not name come last."""
    found = {
        one.name.partition(" ")[2]: one
        for one in declared_in(group.name.replace("-", "_"))
        if one.name.startswith(f"{group.name} ")
    }
    return [found[verb] for verb in (*group.verbs, *sorted(found.keys() - {*group.verbs}))]


def declared_in(module: str) -> list[Command]:
    """Return the commands that a module of ``declare`` or a part declares."""
    if module in PARTS:
        from ..system.parts import part

        commands = part(PARTS[module], "commands")
        return [one for one in vars(commands or object).values() if type(one) is Command]
    module = f"{__package__}.declare.{module}"
    try:
        found = vars(_loaded(module)).values()
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        return []
    return [one for one in found if type(one) is Command]


def function(named: str | Function, package: str) -> Function:
    """The function that a declaration names, in this package."""
    if not isinstance(named, str):
        return named
    module, _, name = named.partition(":")
    found: Function = getattr(_loaded(f"{package}.{module}"), name)
    return found


def _loaded(module: str) -> Any:
    """What ``importlib.import_module`` gives, whose own import costs a search too much."""
    return __import__(module, fromlist=("",))
