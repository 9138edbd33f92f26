"""The help of lore, of commands (from their declarations) and of programs; completion of lines.

The help is printed even with a broken config or without a store.
"""

from __future__ import annotations

import os
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from shutil import get_terminal_size
from textwrap import TextWrapper

from .. import cli
from ..core.errors import LoreError, UsageError, nearest
from ..core.settings import SETTINGS, Settings
from ..core.text import printable
from ..core.vocabulary import STATUSES, TYPES
from ..system import config
from ..system.plugins import BEGINNING, command_files
from ..system.programs import own_files
from ..terminal import FORMS, note, write
from .command import SHARED, Command, Group, read

_WIDTH = 90
_MOST_HEAD = 1 << 16
"""Maximum number of bytes of a program that are read for help."""
_SHARED = f"Also: {'|'.join(f'--{form.name}' for form in FORMS)}|--jq EXPR, -q."

_OVERVIEW = """\
lore: a shell-first knowledge graph

Usage: lore COMMAND [ARGUMENT…]

To start with
  init    make a store for this folder
  add     store a decision, a lesson, a note
  index   add the files and symbols of a repository
  search  find records by words, meaning and links
  show    show a record with its links

All commands
{commands}
Examples
  lore add decision "Use tokens" --file src/auth.py
  lore search "signed tokens" --expand
  lore show 91c2

Output is text on a terminal and JSON in a pipe. Options
--json, --jsonl, --text, --ids and --jq EXPR choose a form;
-q omits notes. Settings are options too: see 'lore config'.
'lore help --all' describes all commands, 'lore COMMAND
--help' explains one.
"""


def show_help(words: list[str]) -> None:
    """Print the help of ``lore help WORD…``; raise UsageError for an unknown command."""
    words = cli.unaliased(words)
    if not words:
        rows = [(title, " ".join(some.values())) for title, some in cli.SECTIONS.items()]
        rows.append(("Scripts, your own", " ".join(programs())))
        wrapper = TextWrapper(60, initial_indent="  ", subsequent_indent="    ")
        listed = [wrapper.fill(f"{title}: {', '.join(some.split())}") for title, some in rows]
        write(_OVERVIEW.format(commands="\n".join([*listed, ""])))
    elif words[0] == "--names":
        own = [name for name in programs() if name not in cli.SCRIPTS]
        write("".join(f"{name}\n" for name in (*cli.names(), *own)))
    elif words[0] == "--all":
        lines = {name: summary(name) for name in cli.names()}
        for name, file in programs().items():
            lines[name] = comment_of(file).partition("Summary: ")[2].partition("\n")[0]
        write("".join(f"  {name:<14}  {text}\n" for name, text in lines.items() if text))
    elif words[0] in cli.MODULES:
        write(help_of(" ".join(words[:2])))
    else:
        text = comment_of(file_of(words[0]))
        if not text:
            raise LoreError(f"lore-{words[0]} has no help: try 'lore {words[0]} --help'")
        write(text)


def summary(name: str) -> str:
    """Return the first sentence of a command's help; empty without its part of lore."""
    try:
        text = cli.commands_of(name.split()[0])[name].text
    except LoreError:
        return ""
    return " ".join(text.partition("\n\n")[0].split()).rstrip(".")


def help_of(name: str) -> str:
    """Return the help of a command, or of a verb: ``graph path``."""
    from click import HelpFormatter

    word = name.split()[0]
    commands = cli.commands_of(word)
    one = commands.get(name) or commands[word]
    if isinstance(one, Group):
        title, usage = "Commands", f"{word} VERB [options]"
        rows = [(verb, summary(f"{word} {verb}")) for verb in cli.verbs_of(word)]
    else:
        title, usage = "Options", one.usage
        rows = [(each.spelled, each.help) for each in one.shown_options]
    page = HelpFormatter(width=min(_WIDTH, get_terminal_size((_WIDTH, 0)).columns))
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


# --- programs: lore's scripts and the user's own commands


def programs() -> dict[str, str]:
    """Return the files of programs by name; print a note if the config is wrong."""
    own: dict[str, str] = {}
    try:
        config.load(os.environ)
        own = command_files(Settings.load({}).plugin_dir)
    except LoreError as error:
        note(str(error))
    scripts = {name: own_files(f"lib/{BEGINNING}{name}") for name in cli.SCRIPTS}
    known = {*cli.names(), *scripts}
    return {**scripts, **{name: file for name, file in own.items() if name not in known}}


def file_of(name: str) -> str:
    """Return the file of a program; raise UsageError for an unknown program."""
    files = programs()
    if name in files:
        return files[name]
    kind = "option" if name.startswith("-") else "command"
    known = ["--help", "--version", *cli.names(), *cli.ALIASES, *files]
    name = name[:60].encode(errors="replace").decode()  # it may not be UTF-8
    groups = [group for group in reversed(cli.names()) if summary(group)]
    verbs = {one: f"{group} {one}" for group in groups for one in cli.verbs_of(group)}
    hint = f" (did you mean '{verbs[name]}'?)" if name in verbs else nearest(name, known)
    raise UsageError(f"unknown {kind} '{name}'{hint}: see 'lore help'")


def comment_of(file: str) -> str:
    """Return the comment at the head of a program; empty without a comment."""
    with open(file, "rb") as opened:
        lines = opened.read(_MOST_HEAD).decode(errors="replace").splitlines()
    end = next((n for n, line in enumerate(lines) if line[:1] != "#"), len(lines))
    shown = [line for line in lines[:end] if not line.startswith(("#!", "# shellcheck "))]
    return printable("".join(f"{line[1:].removeprefix(' ')}\n" for line in shown))


# --- completion

_RELATIONS = "graph relations --ids"
WORDS = {
    "forgotten": "list --ids -n 5000 --all --forgotten",
    "graph_edges": _RELATIONS,
    "graph_exclude_edges": _RELATIONS,
    "ids": "list --ids -n 5000 --all",
    "near": ("@git", "@session"),
    "relations": _RELATIONS,
    "remotes": "hub list --ids",
    "run": "list --ids -n 5000 --type run",
    "settings": [setting.config_key for setting in SETTINGS],
    "statuses": STATUSES,
    "types": TYPES,
}
"""Kinds of words: themselves, or the command that lists them. A setting is a kind."""


def offered(words: list[str]) -> list[str]:
    """Return the words that complete the last word of a line."""
    *before, current = words
    before = cli.unaliased(before[before[:1] == ["help"] :])
    if not before:
        found = sorted((*cli.names(), *programs()))
    elif before[0] not in cli.MODULES:
        found = []
    elif len(before) == 1 and current[:1] != "-" and (verbs := cli.verbs_of(before[0])):
        found = verbs
    else:
        command, rest = cli.command_for(before)
        found = _of_command(command, rest, current) if isinstance(command, Command) else []
    return [word for word in found if word.startswith(current)]


def _of_command(command: Command, words: list[str], current: str) -> list[str]:
    """Return the words that complete an argument of a command."""
    before = ""
    if current[:1] == "-":
        name, equals, current = current.partition("=")
        if not equals:
            return [name for one in (*command.shown_options, *SHARED) for name in one.names]
        words, before = [name], f"{name}="
    option = command.option_of(words[-1]) if words else None
    found: list[str] = []
    for one in [option] if option and option.value else command.arguments:
        listed = WORDS.get(one.complete, ())
        head = before + (current[: current.rfind(",") + 1] if one.is_list else "")
        some = (*one.choices, *(_printed(listed) if isinstance(listed, str) else listed))
        found += [head + word for word in some]
    return [*dict.fromkeys(found)]


def _printed(line: str) -> list[str]:
    """Return the lines that a command of lore's prints; none where it fails."""
    from .session import Session

    with redirect_stderr(StringIO()), redirect_stdout(StringIO()) as printed:
        try:
            config.load(os.environ)
            command, words = cli.command_for(line.split())
            assert isinstance(command, Command)
            values, settings = read([*words, "--quiet"], command)
            command.run(Session(settings), **values)
        except LoreError:
            return []
    return printed.getvalue().splitlines()
