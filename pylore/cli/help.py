"""``lore help``, ``commands`` and ``version``, printed from the declarations.

They come before anything else: no config and no store can keep a person from the help.
"""

from __future__ import annotations

from textwrap import wrap

from .. import __version__
from ..core.errors import LoreError, UsageError
from ..core.text import printable
from ..terminal.output import write
from .declaration import Command, find, verbs_of
from .own_commands import command_names, own_commands, path_of, unknown
from .reference import FIRST, GROUPS, every_command
from .reference.help import show_help

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_NAMES_WIDTH = 51


def help_command(argv: Sequence[str], command: Command) -> None:
    """``lore help``."""
    words = [word for word in argv if word and word != "--all"]
    for word in words:
        if word.startswith("-"):
            raise UsageError(f"help takes no '{word}': see 'lore help help'")
    if words:
        _help_of(words, everything="--all" in argv)
    else:
        write(_every_command() if "--all" in argv else _first_commands())


def commands_command(argv: Sequence[str], command: Command) -> None:
    """``lore commands``."""
    _require_none(argv, command)
    write("".join(f"{name}\n" for name in command_names()))


def version_command(argv: Sequence[str], command: Command) -> None:
    """``lore version``."""
    _require_none(argv, command)
    write(f"lore {__version__}\n")


def _require_none(argv: Sequence[str], command: Command) -> None:
    if argv:
        raise UsageError(f"{command.name} takes no '{argv[0]}': see 'lore help {command.name}'")


def _help_of(words: Sequence[str], *, everything: bool) -> None:
    command = every_command().get(words[0]) if find(words[0]) else None
    verbs = verbs_of(command) if command else []
    if len(words) > 1 + bool(verbs):
        raise UsageError(f"help takes one command, not '{words[-1]}' too: see 'lore help help'")
    if command is not None:
        show_help(command, [*words[1:], *(["--all"] if everything else [])])
        return
    path = path_of(words[0])
    if not path:
        raise unknown(words[0])
    write(_comment_of(words[0], path))


def _comment_of(name: str, path: str) -> str:
    """Return the comment at the head of a script of the user's own."""
    with open(path, "rb") as file:
        if file.read(2) != b"#!":
            raise LoreError(f"{path} is a program: try 'lore {name} --help'")
        file.readline()
        text = ""
        while (line := file.readline().decode(errors="replace")).startswith("#"):
            if not line.startswith("# shellcheck "):
                text += line[1:].removeprefix(" ")
    return printable(text)


def _every_command() -> str:
    return (
        "lore: a shell-first knowledge graph\n\nUsage: lore COMMAND [arguments]\n"
        + "".join(f"\n{title}\n{_lines(rows)}" for title, rows in _groups() if rows)
        + "\n'lore COMMAND --help' says more of one command.\n"
    )


def _first_commands() -> str:
    commands = every_command()
    first = [(name, commands[name].summary) for name in FIRST]
    return (
        "lore: a shell-first knowledge graph\n\nUsage: lore COMMAND [arguments]\n\n"
        f"To start with\n{_lines(first)}\nAll commands\n"
        + "".join(_names(title, [name for name, _ in rows]) for title, rows in _groups())
        + "\nExamples:\n"
        '  lore add decision "Sessions are signed tokens" --file src/auth.py\n'
        '  lore search "signed tokens" --expand\n  lore show 91c2\n'
        "\n'lore help --all' has a line for each command, 'lore COMMAND --help' says more of one.\n"
    )


def _groups() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return name and summary of all commands by group; those that no group names come late."""
    summaries = {name: one.summary for name, one in every_command().items() if " " not in name}
    grouped = {name for _, names in GROUPS for name in names}
    groups = [*GROUPS, ("More", [name for name in summaries if name not in grouped])]
    own = [(plugin.name, printable(plugin.summary)) for plugin in own_commands()]
    return [
        *((title, [(name, summaries[name]) for name in names]) for title, names in groups),
        ("Your own", own),
    ]


def _lines(rows: Iterable[tuple[str, str]]) -> str:
    return "".join(f"  {name:<15} {summary}\n" for name, summary in rows)


def _names(title: str, names: Sequence[str]) -> str:
    """Return a group's names in lines that fit a screen; nothing without a name."""
    lines = wrap(" ".join(names), _NAMES_WIDTH, break_on_hyphens=False, break_long_words=False)
    return "".join(f"  {title if line is lines[0] else '':<26}{line}\n" for line in lines)
