"""A command's help, made of its declaration."""

from __future__ import annotations

from ...terminal.output import write
from ..declaration import Command, Heading, Option, Row, VerbList, find, verbs_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_TEXT_FROM, _TEXT_FROM_IF_WIDE = 21, 25
"""The column, without the indentation, at which what an option does begins."""
_GAP = 3
"""What stands at least between the two."""


def help_of(command: Command) -> str:
    """The text that ``lore COMMAND --help`` prints, those of its verbs included.

    >>> from ..declaration import find
    >>> help_of(find("version"))
    'Usage: lore version\\nSummary: which lore this is\\n'
    """
    head = f"Usage: {_called(command)}\nSummary: {command.summary}\n"
    blocks = [*_blocks(command, "  "), *_examples(command.examples)]
    blocks += [_verb(verb) for verb in verbs_of(command)]
    return "\n".join([head, *blocks])


def show_help(command: Command, words: Sequence[str]) -> None:
    """Print the help of a command, or of the verb that ``words`` begins with."""
    verb = find(f"{command.name}-{words[0]}") if words else None
    if verb is not None:
        write(verb_help(verb))
    elif "--all" not in words and any(isinstance(part, VerbList) for part in command.parts):
        write(overview(command))
    else:
        write(help_of(command))


def overview(command: Command) -> str:
    """Return the same without the help of the verbs, where the text lists them."""
    head = f"Usage: {_called(command)}\nSummary: {command.summary}\n"
    more = (f"'lore {command.name} VERB --help' says more of one, "
            f"'lore help {command.name} --all' of each.\n")  # fmt: skip
    return "\n".join([head, *_blocks(command, "  "), *_examples(command.examples), more])


def verb_help(verb: Command) -> str:
    """Return the text that ``lore COMMAND VERB --help`` prints."""
    return f"Usage: {_called(verb)}\n" + "\n".join(_verb_blocks(verb))


def spelled(part: Option | Row) -> str:
    """How the options of a line of help are written.

    >>> spelled(Row("", Option("--json"), Option("--jq EXPR")))
    '--json, --jq EXPR'
    """
    options = part.options if isinstance(part, Row) else (part,)
    return ", ".join(option.spelled for option in options)


def _called(command: Command) -> str:
    return f"lore {command.name} {command.usage}".rstrip()


def _blocks(command: Command, indent: str) -> Iterator[str]:
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


def _verb_rows(command: Command) -> Iterator[tuple[str, str]]:
    for verb in verbs_of(command):
        name = verb.name.partition(" ")[2]
        yield f"{name} {verb.brief}".rstrip(), verb.summary


def _examples(examples: Sequence[str]) -> Iterator[str]:
    if examples:
        head = "Example:" if len(examples) == 1 else "Examples:"
        yield "\n".join([head, *(f"  {line}" for line in examples)]) + "\n"


def _verb(verb: Command) -> str:
    """Return its part of the help, which begins with the command line that it shows."""
    lines = "\n".join(_verb_blocks(verb)).split("\n")
    return f"{_called(verb)}\n" + "\n".join(f"  {line}".rstrip() for line in lines)


def _verb_blocks(verb: Command) -> list[str]:
    return [*_blocks(verb, ""), *(f"Example: {line}\n" for line in verb.examples)]
