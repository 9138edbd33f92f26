"""The help of lore as a whole: ``lore``, ``lore help`` and ``lore help COMMAND``.

Neither a broken config nor a missing store keeps a person from it.
"""

from __future__ import annotations

from ..core.errors import DONE, LoreError, UsageError
from ..core.text import printable
from ..terminal.output import write
from . import registry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_OVERVIEW = """\
lore: a shell-first knowledge graph

Usage: lore COMMAND [ARGUMENT…]

To start with
  init            make a store for this folder
  add             keep a record: a decision, a lesson, a note, …
  index           read a repository: its files and symbols become part of the graph
  search          find records by their words, their meaning and their links
  show            show a record whole

All commands
{commands}
Examples
  lore add decision "Sessions are signed tokens" --file src/auth.py
  lore search "signed tokens" --expand
  lore show 91c2

Every command prints text on a terminal and JSON in a pipe; --json, --jsonl, --text, --ids and
--jq EXPR choose, -q prints no notes. Every setting is an option, too: see 'lore config'.
'lore help --all' has a line for each command, 'lore COMMAND --help' says more of one.
"""


def show_help(words: Sequence[str]) -> int:
    """Print the help that ``lore help WORD…`` asks for; return the exit code.

    Raises:
        UsageError: there is no such command.
    """
    if not words:
        write(_OVERVIEW.format(commands="".join(_section(*row) for row in _sections())))
    elif list(words) == ["--names"]:
        from .own_commands import own_commands

        write("".join(f"{name}\n" for name in (*registry.names(), *own_commands())))
    elif list(words) == ["--all"]:
        _list_all()
    elif words[0][:1] == "-":
        raise UsageError(f"help takes no '{words[0]}': see 'lore help'")
    else:
        _show_script(words[0])
    return DONE


def _sections() -> list[tuple[str, str]]:
    from .own_commands import own_commands

    own = " ".join(own_commands())
    return [*registry.SECTIONS, ("Scripts", " ".join(registry.SCRIPTS)),
            *([("Your own", own)] if own else [])]  # fmt: skip


def _section(title: str, names: str) -> str:
    return f"  {title:<22}{names.replace(' ', ', ')}\n"


def _list_all() -> None:
    """Print a line for each command, script and program of the user."""
    from ..system.plugin_files import summary_of
    from .click_app import summary_of_command
    from .own_commands import own_commands, script_file

    parts = ["lore: a shell-first knowledge graph\n\nUsage: lore COMMAND [ARGUMENT…]\n"]
    for title, names in registry.SECTIONS:
        rows = [(name, summary_of_command(name)) for name in names.split()]
        parts.append(_rows(title, [(name, text) for name, text in rows if text]))
    scripts = [(name, summary_of(script_file(name))) for name in registry.SCRIPTS]
    own = [(name, printable(summary_of(file))) for name, file in own_commands().items()]
    parts.append(_rows("Scripts", scripts))
    parts += [_rows("Your own", own)] if own else []
    write("\n".join(parts))


def _rows(title: str, rows: Sequence[tuple[str, str]]) -> str:
    return f"{title}\n" + "".join(f"  {name:<14}  {text}\n" for name, text in rows)


def _show_script(name: str) -> None:
    """Print the comment at the head of a script: of lore's or of the user's own."""
    from .own_commands import path_of, unknown

    path = path_of(name)
    if not path:
        raise unknown(name)
    with open(path, "rb") as file:
        if file.read(2) != b"#!":
            raise LoreError(f"{path} is a program: try 'lore {name} --help'")
        file.readline()
        text = ""
        while (line := file.readline().decode(errors="replace")).startswith("#"):
            if not line.startswith("# shellcheck "):
                text += line[1:].removeprefix(" ")
    write(printable(text))
