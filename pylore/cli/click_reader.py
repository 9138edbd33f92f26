"""What runs through click: every command that is not on the hot path.

One file a family of commands, imported when one of them is called. A command is a
function whose parameters are named by its declaration (``pylore/cli/declare``), from which
a click command is made here. Each gets its settings with a ``Session``, opens the store
itself, and prints through ``Output``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..core.errors import DONE, UsageError
from ..core.settings import SETTINGS
from ..system.parts import require_part
from .declaration import function, module_of
from .reader import own_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .declaration import Argument, Command, Option


def run(command: Command, words: list[str]) -> int:
    """Runs a command with these options and arguments; the exit code.

    Raises:
        LoreError: the command failed as commands do.
    """
    ours = built(command)
    try:
        with ours.make_context(command.name, words) as context:
            code = ours.invoke(context)
    except click.ClickException as error:
        message = " ".join(error.format_message().split()).rstrip(".")
        raise UsageError(f"{message}: see 'lore {command.name} --help'") from None
    return code if isinstance(code, int) else DONE


def built(command: Command) -> click.Command:
    """The command as click has it, its function loaded."""
    if command.quick:
        callback = function(command.quick, "pylore.cli")
    else:
        callback = function(command.run, "pylore.cli.commands")
    return click.Command(
        command.name, params=[*_parameters(command)], callback=callback, add_help_option=False
    )


def refuse(word: str) -> UsageError:
    """Return the error for a command that nobody declared.

    Raises:
        LoreError: it is of a part that was left out.
    """
    group = word.partition("-")[0]
    module = module_of(group)
    if not module.startswith("cli."):
        require_part(*module.split("."))
    if not word:
        return UsageError("a command is missing: see 'lore help'")
    kind = "option" if word.startswith("-") else "command"
    return UsageError(f"No such {kind} '{word}': see 'lore help'")


def _parameters(command: Command) -> Iterator[click.Parameter]:
    """The options and arguments of a command, as click has them."""
    for option in command.options():
        if not (option.setting and option.value):
            yield _option(option)
    settings = own_settings(command)
    for setting in SETTINGS:
        if setting.name in settings:
            short = ["-n"] if setting.name == "limit" else []
            yield click.Option([*short, f"--{setting.option}", f"setting_{setting.name}"])
    yield from _arguments(command.arguments)


def _option(option: Option) -> click.Option:
    given: dict[str, Any] = {"multiple": option.many}
    into = f"setting_{option.setting}" if option.setting else option.into
    if option.constant:
        given["flag_value"] = option.constant
    elif not option.value:
        given["is_flag"] = True
    elif option.value.startswith("["):
        given.update(is_flag=False, flag_value="")
    if option.default is not None:
        given["default"] = option.default
    return click.Option([*option.names, *([into] if into else [])], type=_type(option), **given)


def _type(option: Option) -> click.ParamType[Any] | None:
    if option.choices:
        return click.Choice(option.choices)
    if option.low is None and option.high is None:
        return None
    if option.whole:
        return click.IntRange(
            None if option.low is None else int(option.low),
            None if option.high is None else int(option.high),
        )
    return click.FloatRange(option.low, option.high)


def _arguments(declared: tuple[Argument, ...]) -> Iterator[click.Argument]:
    """Those that go into one parameter are one list."""
    parameters = [argument.into for argument in declared]
    for number, argument in enumerate(declared):
        if argument.into in parameters[:number]:
            continue
        if argument.many or parameters.count(argument.into) > 1:
            yield click.Argument([argument.into], nargs=-1)
        elif argument.required:
            yield click.Argument([argument.into], metavar=argument.name)
        else:
            yield click.Argument([argument.into], default="")
