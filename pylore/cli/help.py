"""``lore help`` and ``commands``, printed from the declarations.

They come before anything else: no config and no store can keep a person from the help.
"""

from __future__ import annotations

from textwrap import wrap

from ..core.errors import LoreError, UsageError
from ..core.text import printable
from ..system.plugin_files import summary_of
from ..terminal.output import write
from .declaration import (
    Heading,
    OldCommand,
    Option,
    Row,
    VerbList,
    every_command,
    find,
    verbs_of,
)
from .own_commands import command_names, own_commands, path_of, toolkit, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


FIRST = ("init", "add", "index", "search", "show")
"""The commands to start with: ``lore help`` begins with them."""

GROUPS = (
    ("Find", ("search", "related", "context", "ask", "show", "list", "browse", "graph")),
    ("Write", ("add", "edit", "link", "fact", "confirm", "forget", "undo")),
    ("From sessions", ("capture",)),
    ("Code", ("index", "anchor", "verify")),
    ("For agents and git", ("run", "mcp", "hook")),
    ("Bring in and take out", ("import", "export", "sync")),
    ("The store", ("init", "store", "config", "doctor")),
    ("Quality, and lore itself", ("eval", "help", "commands", "version", "completion")),
)  # fmt: skip
"""The order in which ``lore help`` lists commands; one that no group names comes last."""


_TEXT_FROM, _TEXT_FROM_IF_WIDE = 21, 25
"""The column, without the indentation, at which what an option does begins."""
_GAP = 3
"""What stands at least between the two."""


def help_of(command: OldCommand) -> str:
    """Return the text that ``lore COMMAND --help`` prints, those of its verbs included.

    >>> from .declaration import find
    >>> help_of(find("version"))
    'Usage: lore version\\nSummary: which lore this is\\n'
    """
    head = f"Usage: {_called(command)}\nSummary: {command.summary}\n"
    blocks = [*_blocks(command, "  "), *_examples(command.examples)]
    blocks += [_verb(verb) for verb in verbs_of(command)]
    return "\n".join([head, *blocks])


def show_help(command: OldCommand, words: Sequence[str]) -> None:
    """Print the help of a command, or of the verb that ``words`` begins with."""
    verb = find(f"{command.name}-{words[0]}") if words else None
    if verb is not None:
        write(verb_help(verb))
    elif "--all" not in words and any(isinstance(part, VerbList) for part in command.parts):
        write(overview(command))
    else:
        write(help_of(command))


def overview(command: OldCommand) -> str:
    """Return the same without the help of the verbs, where the text lists them."""
    head = f"Usage: {_called(command)}\nSummary: {command.summary}\n"
    more = (f"'lore {command.name} VERB --help' says more of one, "
            f"'lore help {command.name} --all' of each.\n")  # fmt: skip
    return "\n".join([head, *_blocks(command, "  "), *_examples(command.examples), more])


def verb_help(verb: OldCommand) -> str:
    """Return the text that ``lore COMMAND VERB --help`` prints."""
    return f"Usage: {_called(verb)}\n" + "\n".join(_verb_blocks(verb))


def spelled(part: Option | Row) -> str:
    """Return how the options of a line of help are written.

    >>> spelled(Row("", Option("--json"), Option("--jq EXPR")))
    '--json, --jq EXPR'
    """
    options = part.options if isinstance(part, Row) else (part,)
    return ", ".join(option.spelled for option in options)


def _called(command: OldCommand) -> str:
    return f"lore {command.name} {command.usage}".rstrip()


def _blocks(command: OldCommand, indent: str) -> Iterator[str]:
    """Paragraphs and groups of options, each with an end to its last line."""
    group: list[str] = []
    for part in command.parts:
        if isinstance(part, Option | Row):
            group.append(_option(part, indent))
            continue
        if group and not isinstance(part, VerbList):
            yield "".join(group)
            group = []
        if isinstance(part, Heading):
            group = [f"{part.text}:\n"]
        elif isinstance(part, VerbList):
            yield "".join(f"  {verb:<22} {what}\n" for verb, what in _verb_rows(command))
        else:
            yield f"{part.strip(chr(10))}\n"
    if group:
        yield "".join(group)


def _option(part: Option | Row, indent: str) -> str:
    left = spelled(part)
    first, *others = part.help.split("\n")
    column = _TEXT_FROM if len(left) + _GAP <= _TEXT_FROM else _TEXT_FROM_IF_WIDE
    column = max(column, len(left) + _GAP)
    lines = [f"{indent}{left:<{column}}{first}"]
    lines += [f"{indent}{'':<{_TEXT_FROM}}{line}" for line in others]
    return "\n".join(lines) + "\n"


def _verb_rows(command: OldCommand) -> Iterator[tuple[str, str]]:
    for verb in verbs_of(command):
        name = verb.name.partition(" ")[2]
        yield f"{name} {verb.brief}".rstrip(), verb.summary


def _examples(examples: Sequence[str]) -> Iterator[str]:
    if examples:
        head = "Example:" if len(examples) == 1 else "Examples:"
        yield "\n".join([head, *(f"  {line}" for line in examples)]) + "\n"


def _verb(verb: OldCommand) -> str:
    """Return its part of the help, which begins with the command line that it shows."""
    lines = "\n".join(_verb_blocks(verb)).split("\n")
    return f"{_called(verb)}\n" + "\n".join(f"  {line}".rstrip() for line in lines)


def _verb_blocks(verb: OldCommand) -> list[str]:
    return [*_blocks(verb, ""), *(f"Example: {line}\n" for line in verb.examples)]


_NAMES_WIDTH = 51


def help_command(argv: Sequence[str], command: OldCommand) -> None:
    """``lore help``."""
    words = [word for word in argv if word and word != "--all"]
    for word in words:
        if word.startswith("-"):
            raise UsageError(f"help takes no '{word}': see 'lore help help'")
    if words:
        _help_of(words, everything="--all" in argv)
    else:
        write(_every_command() if "--all" in argv else _first_commands())


def commands(**_: object) -> None:
    """``lore commands``."""
    write("".join(f"{name}\n" for name in command_names()))


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
    own = [(name, printable(summary_of(file))) for name, file in own_commands().items()]
    return [
        *((title, [(name, summaries[name]) for name in names]) for title, names in groups),
        ("Scripts", [(name, summary_of(file)) for name, file in toolkit().items()]),
        ("Your own", own),
    ]


def _lines(rows: Iterable[tuple[str, str]]) -> str:
    return "".join(f"  {name:<15} {summary}\n" for name, summary in rows)


def _names(title: str, names: Sequence[str]) -> str:
    """Return a group's names in lines that fit a screen; nothing without a name."""
    lines = wrap(" ".join(names), _NAMES_WIDTH, break_on_hyphens=False, break_long_words=False)
    return "".join(f"  {title if line is lines[0] else '':<26}{line}\n" for line in lines)
