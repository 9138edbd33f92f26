"""The commands as one click application: help, completion, and lines that are not plain.

A module is loaded for its own commands alone. Everything comes from the declarations
(``command``).
"""

from __future__ import annotations

import itertools
import os
from typing import Any

import click
from click.shell_completion import CompletionItem, ShellComplete

from ..core.errors import LoreError, UsageError, nearest
from ..core.settings import OTHER_OPTIONS, SETTINGS, Setting
from ..terminal.output import FORMS
from . import registry
from .command import SHARED, Command, Group, Line, Parameter

WIDTH = 90
_NAMES: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": WIDTH}
_SHARED_HELP = f"Also: {'|'.join(f'--{form.name}' for form in FORMS)}|--jq EXPR, -q."


class _QuietHelp(click.Command):
    """A command whose help does not list -h."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return -h and --help, which no help needs to list."""
        found = super().get_help_option(ctx)
        if found is not None:
            found.hidden = True
        return found


class Verb(_QuietHelp):
    """A command or verb as click has it."""

    def __init__(self, declared: Command, name: str) -> None:
        super().__init__(
            name, params=_parameters(declared), help=declared.text, epilog=_SHARED_HELP,
            short_help=_summary(declared.text), hidden=declared.hidden, context_settings=_NAMES,
        )  # fmt: skip
        self.declared = declared

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the usage as it is declared."""
        formatter.write(f"Usage: lore {self.declared.usage}\n")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the options, the shared ones too."""
        shared = [name for one in SHARED for name in one.names]
        found = [CompletionItem(name) for name in shared if name.startswith(incomplete)]
        return [*super().shell_complete(ctx, incomplete), *(found if incomplete else [])]

    def invoke(self, ctx: click.Context) -> Line:
        """Return the line: ``main`` runs the command."""
        line = Line()
        for one in (*SHARED, *self.declared.parameters):
            value = ctx.params[one.name]
            if one in SHARED:
                line.shared[one.name] = value
            elif one.is_list and one.names:
                listed = tuple(word for words in value for word in words)
                line.given[one.name] = listed if value else one.default
            else:
                line.given[one.name] = value
        for setting in SETTINGS:
            value = ctx.params.get(f"setting_{setting.name}")
            value = ctx.params.get(f"also_{setting.name}") if value is None else value
            if value is not None:
                line.settings[setting.name] = value
        return line


class Verbs(_QuietHelp, click.Group):
    """A command that has verbs."""

    def __init__(self, declared: Group) -> None:
        super().__init__(
            declared.name, help=declared.text, short_help=_summary(declared.text),
            context_settings=_NAMES,
        )  # fmt: skip
        self._declared = declared

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the usage as those of commands are written."""
        verb = f"[VERB, or {self._declared.default}]" if self._declared.default else "VERB"
        formatter.write(f"Usage: lore {self._declared.name} {verb} [options]\n")

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order of their declarations."""
        prefix = f"{self._declared.name} "
        found = registry.commands_of(self._declared.name)
        return [name.removeprefix(prefix) for name in found if name.startswith(prefix)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a verb by its name."""
        one = registry.commands_of(self._declared.name).get(f"{self._declared.name} {cmd_name}")
        return Verb(one, cmd_name) if isinstance(one, Command) else None


class App(click.Group):
    """All commands by name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of the help, then the user's own."""
        from .own_commands import command_names

        return command_names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name; None for the user's own and for unknown ones."""
        cmd_name = cmd_name if registry.module_of(cmd_name) else ""
        one = registry.commands_of(cmd_name).get(cmd_name)
        if isinstance(one, Command):
            return Verb(one, cmd_name)
        return Verbs(one) if one is not None else None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands, those of the user too, and the options."""
        words = [*self.list_commands(ctx), "--help", "--version"]
        return [CompletionItem(word) for word in words if word.startswith(incomplete)]


class Value(click.ParamType[Any]):
    """A value as its declaration converts it."""

    name = "value"

    def __init__(self, declared: Parameter) -> None:
        self.declared = declared

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value of a text; a default stays as it is."""
        if not isinstance(value, str):
            return value
        try:
            return self.declared.convert(value)
        except ValueError as error:
            names = self.declared.names or (self.declared.value,)
            raise UsageError(f"{names[-1]} is '{value}': {error}") from None

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the words that may stand here; of a list, behind what is there already."""
        from .kinds import words_of

        before = incomplete[: incomplete.rfind(",") + 1] if self.declared.is_list else ""
        words = self.declared.choices or words_of(self.declared.complete)
        found = [before + word for word in words]
        return [CompletionItem(word) for word in found if word.startswith(incomplete)]


class SettingValue(click.ParamType[str]):
    """A setting's value, which is converted with all other settings."""

    name = "value"

    def __init__(self, setting: Setting) -> None:
        self._setting = setting

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the words that the setting may be."""
        from .kinds import words_of_setting

        is_list = self._setting.kind in ("names", "words")
        before = incomplete[: incomplete.rfind(",") + 1] if is_list else ""
        found = [before + word for word in words_of_setting(self._setting)]
        return [CompletionItem(word) for word in found if word.startswith(incomplete)]


APP = App("lore", help="A shell-first knowledge graph.", context_settings=_NAMES)


def read(words: list[str]) -> Line | None:
    """Return what a line gives; None where click has printed help.

    Raises:
        UsageError: the line is wrong.
    """
    try:
        found = APP.main(words, prog_name="lore", standalone_mode=False)
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "lore"
        message = " ".join(error.format_message().split()).rstrip(".")
        if isinstance(error, click.NoSuchCommand):
            known = _known_commands(error.ctx)
            near = nearest(error.command_name, known)
            message = f"no such command '{error.command_name}'{near}"
        if isinstance(error, click.NoSuchOption):
            near = nearest(error.option_name, list(error.possibilities or ()))
            message = f"no such option '{error.option_name}'{near}"
        if isinstance(error, click.MissingParameter) and isinstance(error.param, click.Argument):
            message = f"{path.removeprefix('lore ')} needs {_needed(error.param)}"
        message = message[:1].lower() + message[1:]
        raise UsageError(f"{message}: see '{path} --help'") from None
    return found if isinstance(found, Line) else None


def _needed(argument: click.Argument) -> str:
    """Return the name of an argument, and the words that it may be if they are few."""
    choices = argument.type.declared.choices if isinstance(argument.type, Value) else ()
    return f"{argument.metavar}, one of {', '.join(choices)}" if choices else f"{argument.metavar}"


def _known_commands(ctx: click.Context | None) -> list[str]:
    return ctx.command.list_commands(ctx) if ctx and isinstance(ctx.command, click.Group) else []


def help_of(name: str) -> str:
    """Return the help of a command, or of a verb: ``graph path``."""
    context = click.Context(APP, info_name="lore", terminal_width=WIDTH)
    command: click.Command = APP
    for word in name.split():
        assert isinstance(command, click.Group)
        found = command.get_command(context, word)
        if found is None:
            raise UsageError(f"unknown command '{word}'{nearest(word, registry.names())}")
        command, context = (
            found,
            click.Context(found, info_name=word, parent=context, terminal_width=WIDTH, **_NAMES),
        )
    return command.get_help(context) + "\n"


def summary_of_command(name: str) -> str:
    """Return the first sentence of a command's help; empty if its part was left out."""
    try:
        return _summary(registry.commands_of(name)[name].text)
    except LoreError:
        return ""


def offered(words: list[str]) -> list[str]:
    """Return the words that may stand in place of the last one, after the others."""
    *before, current = words
    before = registry.unaliased(before[before[:1] == ["help"] :])
    for option, value in itertools.pairwise(before):
        if option == "--scope":
            os.environ["LORE_SCOPE"] = value
    option, equals, _ = current.partition("=")
    prefix = option + equals if equals and option[:1] == "-" else ""
    found = ShellComplete(APP, {}, "lore", "").get_completions(before, current)
    return [prefix + one.value for one in found]


def _parameters(declared: Command) -> list[click.Parameter]:
    found: list[click.Parameter] = [_option(one) for one in declared.options]
    taken = {name for one in (*declared.options, *SHARED) for name in one.names}
    for setting in filter(lambda one: declared.takes_setting(one.name), SETTINGS):
        short = ["-n"] if setting.name == "limit" else []
        also = [f"--{setting.name.replace('_', '-')}"]
        also += [name for name, of in OTHER_OPTIONS.items() if of == setting.name]
        for names, into, hidden in (
            ([*short, f"--{setting.option}"], "setting", setting.name not in declared.settings),
            (also, "also", True),
        ):
            free = [name for name in names if name not in taken]
            taken.update(free)
            if free:
                found.append(click.Option(
                    [*free, f"{into}_{setting.name}"], help=setting.help.partition(";")[0],
                    metavar="VALUE",
                    type=SettingValue(setting), hidden=hidden,
                ))  # fmt: skip
    found += [_option(one) for one in SHARED]
    for one in declared.arguments:
        default = {} if one.required or one.many else {"default": None if one.many else one.default}
        found.append(click.Argument(
            [one.name], nargs=-1 if one.many else 1, metavar=one.spelled, type=Value(one),
            required=one.required, **default,
        ))  # fmt: skip
    return found


def _option(one: Parameter) -> click.Option:
    given: dict[str, Any] = {"help": one.help, "hidden": one.hidden}
    if not one.value:
        given |= {"is_flag": True}
    else:
        given |= {"type": Value(one), "metavar": one.value, "multiple": one.many,
                  "default": None if one.many else one.default}  # fmt: skip
        if one.value[0] == "[":
            given |= {"is_flag": False, "flag_value": ""}
    return click.Option([*one.names, one.name], **given)


def _summary(text: str) -> str:
    """Return the first sentence of a docstring."""
    return " ".join(text.partition("\n\n")[0].split()).rstrip(".")
