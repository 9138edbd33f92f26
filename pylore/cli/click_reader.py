"""OldCommand lines that are not plain, read by click, and what is wrong with them.

A click command is made of the declaration (``pylore/cli/declare``); what it finds are the
parameters that ``reader.read_plainly`` finds in a plain line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ..core.errors import UsageError, nearest
from ..core.settings import BY_NAME, setting_of_option
from ..system.parts import require_part
from .declaration import module_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .declaration import Argument, OldCommand, Option

_SETTING = "setting_"
"""The beginning of the names of parameters that are settings."""


def read_with_click(words: Sequence[str], command: OldCommand) -> dict[str, Any]:
    """Return the parameters that the words give, as ``reader.read_plainly`` does.

    Raises:
        UsageError: click refuses the words.
    """
    ours = click.Command(command.name, params=[*_parameters(command)], add_help_option=False)
    try:
        context = ours.make_context(command.name, [*words], allow_extra_args=True)
    except click.ClickException as error:
        raise UsageError(f"{_wrong(error, command)}: {_see(command)}") from None
    for word in context.args:
        raise UsageError(f"{command.name} takes no '{word}': {_see(command)}")
    settings: dict[str, str] = {}
    found: dict[str, Any] = {"settings": settings}
    for parameter in ours.params:
        name = str(parameter.name)
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if name.startswith(_SETTING):
            if given:
                settings[name.removeprefix(_SETTING)] = context.params[name]
        elif given or isinstance(parameter, click.Argument):
            found[name] = context.params[name]
    return found


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


def _see(command: OldCommand) -> str:
    return f"see 'lore {command.name} --help'"


def _wrong(error: click.ClickException, command: OldCommand) -> str:
    if isinstance(error, click.NoSuchOption):
        name = error.option_name
        if setting_of_option(name):
            return f"{command.name} takes no {name}"
        known = [one for option in command.options() for one in option.names]
        for setting in command.own_settings():
            known += [f"--{BY_NAME[setting].option}", *_ALSO_SPELLED.get(setting, ())]
        return f"unknown option '{name}'{nearest(name, known)}"
    if isinstance(error, click.BadOptionUsage):
        takes = any(error.option_name in one.opts and not getattr(one, "is_flag", False)
                    for one in _parameters(command))  # fmt: skip
        return f"{error.option_name} {'needs a' if takes else 'takes no'} value"
    if isinstance(error, click.MissingParameter) and error.param is not None:
        return f"{command.name} needs {error.param.human_readable_name}"
    return " ".join(error.format_message().split()).rstrip(".")


_ALSO_SPELLED = {"limit": ["-n"], "graph_depth": ["--depth"], "graph_edges": ["--edge-types"]}
"""Further names of settings as options: see docs/how-to/coming-from.md."""


def _parameters(command: OldCommand) -> Iterator[click.Parameter]:
    """Yield the options and arguments of a command, as click has them."""
    for option in command.options():
        if not (option.setting and option.value):
            yield _option(option)
    for name in sorted(command.own_settings()):
        own = dict.fromkeys((f"--{BY_NAME[name].option}", f"--{name.replace('_', '-')}"))
        yield click.Option([*_ALSO_SPELLED.get(name, ()), *own, _SETTING + name])
    yield from _arguments(command.arguments)


def _option(option: Option) -> click.Option:
    given: dict[str, Any] = {"multiple": option.many}
    into = _SETTING + option.setting if option.setting else option.parameter
    if option.constant:
        given["flag_value"] = option.constant
    elif not option.value:
        given["is_flag"] = True
    elif option.value.startswith("["):
        given.update(is_flag=False, flag_value="")
    else:
        given["type"] = _Value(option)
    if option.default is not None:
        given["default"] = option.default
    return click.Option([*option.names, into], **given)


class _Value(click.ParamType[Any]):
    """The values of an option, as its declaration has them."""

    name = "value"

    def __init__(self, option: Option) -> None:
        self._option = option

    def convert(self, value: Any, param: object, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value  # the default
        try:
            return self._option.read(value)
        except ValueError as error:
            raise UsageError(f"{self._option.names[-1]} is '{value}': {error}") from None


def _arguments(declared: tuple[Argument, ...]) -> Iterator[click.Argument]:
    """Yield the arguments; those that go into one parameter are one list."""
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
