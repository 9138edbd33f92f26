"""The help of lore as a whole, and of its commands from their declarations.

Neither a broken config nor a missing store keeps a person from it.
"""

from __future__ import annotations

from ..core.errors import LoreError
from ..terminal.output import FORMS, write
from . import registry
from .command import Command, Group

_WIDTH = 90
_SHARED = f"Also: {'|'.join(f'--{form.name}' for form in FORMS)}|--jq EXPR, -q."

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


def show_help(words: list[str]) -> None:
    """Print the help that ``lore help WORD…`` asks for.

    Raises:
        UsageError: there is no such command.
    """
    from .own_commands import comment_of, file_of, own_commands, programs

    words = registry.unaliased(words)
    if not words:
        rows = [(title, " ".join(some.values())) for title, some in registry.SECTIONS.items()]
        rows.append(("Scripts, your own", " ".join(programs())))
        listed = [f"  {title:<22}{', '.join(names.split())}\n" for title, names in rows]
        write(_OVERVIEW.format(commands="".join(listed)))
    elif words[0] == "--names":
        write("".join(f"{name}\n" for name in (*registry.names(), *own_commands())))
    elif words[0] == "--all":
        lines = {name: summary(name) for name in registry.names()}
        for name, file in programs().items():
            lines[name] = comment_of(file).partition("Summary: ")[2].partition("\n")[0]
        write("".join(f"  {name:<14}  {text}\n" for name, text in lines.items() if text))
    elif registry.module_of(words[0]):
        write(help_of(" ".join(words[:2])))
    else:
        text = comment_of(file_of(words[0]))
        if not text:
            raise LoreError(f"lore-{words[0]} has no help: try 'lore {words[0]} --help'")
        write(text)


def summary(name: str) -> str:
    """Return the first sentence of a command's help; empty if its part was left out."""
    try:
        text = registry.commands_of(name.split()[0])[name].text
    except LoreError:
        return ""
    return " ".join(text.partition("\n\n")[0].split()).rstrip(".")


def help_of(name: str) -> str:
    """Return the help of a command, or of a verb: ``graph path``."""
    from click import HelpFormatter

    word = name.split()[0]
    commands = registry.commands_of(word)
    one = commands.get(name) or commands[word]
    if isinstance(one, Group):
        title, usage = "Commands", f"{word} VERB [options]"
        rows = [(verb, summary(f"{word} {verb}")) for verb in registry.verbs_of(word)]
    else:
        title, usage = "Options", one.usage
        rows = [(each.spelled, each.help) for each in one.shown_options]
    page = HelpFormatter(width=_WIDTH)
    page.write(f"Usage: lore {usage}\n\n")
    with page.indentation():
        page.write_text(one.text)
    if rows:
        with page.section(title):
            page.write_dl(rows)
    if isinstance(one, Command):
        page.write_paragraph()
        with page.indentation():
            page.write_text(_SHARED)
    return page.getvalue()
