"""The manual: a page for each command, as ``man`` reads it (roff with the man macros)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .declaration import Heading, OldCommand, Option, Row, VerbList, every_command, verbs_of
from .help import GROUPS, spelled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_GLYPHS = str.maketrans(
    {"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"}
)
_TERM = re.compile(r"--?[a-zA-Z][a-z-]*")


def pages() -> dict[str, str]:
    """File name to text: a page for lore itself, and one for each command with its verbs."""
    found = {"lore.1": _page("lore", "a shell-first knowledge graph", _overview())}
    for name, command in every_command().items():
        if " " not in name:
            found[f"lore-{name}.1"] = _page(f"lore-{name}", command.summary, _body(command))
    return found


def write_pages(folder: str) -> None:
    """Write all pages into a folder, which is made."""
    import os

    os.makedirs(folder, exist_ok=True)
    for name, text in pages().items():
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write(text)


def escaped(text: str) -> str:
    r"""Text as roff prints it: nothing in it is a request or an escape, quotes stay straight.

    >>> escaped("a-b \\n")
    'a\\-b \\en'
    >>> escaped(".TH\n'x …")
    '\\&.TH\n\\(aqx \\[u2026]'
    """
    text = re.sub(r"^(?=\.)", r"\\&", text.translate(_GLYPHS), flags=re.MULTILINE)
    return "".join(one if one.isascii() else f"\\[u{ord(one):04X}]" for one in text)


def _page(name: str, summary: str, body: Iterator[str]) -> str:
    head = f'.TH "{escaped(name.upper())}" "1" "" "lore" "lore"\n'
    lines = (f".SH NAME\n{escaped(name)} \\- {escaped(summary)}\n", *body)
    return '.\\" Generated from the declarations of commands.\n' + head + "".join(lines)


def _overview() -> Iterator[str]:
    commands = every_command()
    listed = [name for _, names in GROUPS for name in names]
    others = tuple(name for name in commands if " " not in name and name not in listed)
    yield ".SH SYNOPSIS\n\\fBlore\\fR COMMAND [arguments]\n.SH COMMANDS\n"
    for title, names in (*GROUPS, *([("More", others)] if others else [])):
        yield f".SS {escaped(title)}\n"
        for name in names:
            yield f".TP\n\\fBlore\\-{escaped(name)}\\fR(1)\n{escaped(commands[name].summary)}\n"
    yield _files()


def _files() -> str:
    return (
        ".SH FILES\n.TP\n.I .lore/knowledge.jsonl\nwhat a project shares\n"
        ".TP\n.I .lore/.config\nsettings of a project\n"
        f".TP\n.I {escaped('~/.config/lore/config')}\nsettings of a user; "
        "\\fBlore config\\fR lists them all\n"
        ".SH EXIT STATUS\n0: done. 1: it failed as commands do. 2: wrong usage or config. "
        "3: a bug.\n"
    )


def _body(command: OldCommand) -> Iterator[str]:
    yield f".SH SYNOPSIS\n{_synopsis(command)}"
    yield from _parts(command, ".SH DESCRIPTION\n", ".SH OPTIONS\n", ".SS")
    yield from _examples(command.examples)
    verbs = verbs_of(command)
    if verbs:
        yield ".SH VERBS\n"
    for verb in verbs:
        yield f".SS {_synopsis(verb)}"
        yield from _parts(verb, "", "", ".B")
        yield from ("".join(_code([line])) for line in verb.examples)
    yield ".SH SEE ALSO\n\\fBlore\\fR(1)\n"


def _synopsis(command: OldCommand) -> str:
    usage = f" {escaped(command.usage)}" if command.usage else ""
    return f"\\fBlore {escaped(command.name)}\\fR{usage}\n"


def _parts(command: OldCommand, description: str, options: str, heading: str) -> Iterator[str]:
    """Yield the parts in their order; text that comes after the options has a section of its
    own."""
    section = ""
    for part in command.parts:
        wanted = description if isinstance(part, str | VerbList) else options
        if wanted != section:
            yield wanted if not (section and wanted == description) else ".SH NOTES\n"
            section = wanted
        if isinstance(part, str):
            yield from _paragraphs(part)
        elif isinstance(part, Heading):
            yield f"{heading} {escaped(part.text)}\n"
        elif isinstance(part, VerbList):
            for verb in verbs_of(command):
                name = f"{verb.name.partition(' ')[2]} {verb.brief}".rstrip()
                yield f".TP\n\\fB{escaped(name)}\\fR\n{escaped(verb.summary)}\n"
        else:
            yield _option(part)


def _paragraphs(text: str) -> Iterator[str]:
    """Paragraphs are filled; what is laid out in columns stays as it is."""
    for paragraph in text.strip("\n").split("\n\n"):
        if any("  " in line.strip() for line in paragraph.split("\n")):
            yield from _code(paragraph.split("\n"))
        else:
            yield ".PP\n" + escaped("\n".join(map(str.strip, paragraph.split("\n")))) + "\n"


def _option(part: Option | Row) -> str:
    marked = _TERM.sub(
        lambda found: f"\\fB{found[0]}\\fR", escaped(spelled(part)).replace(r"\-", "-")
    )
    return f".TP\n{marked.replace('-', chr(92) + '-')}\n{escaped(part.help)}\n"


def _code(lines: Sequence[str]) -> Iterator[str]:
    yield ".PP\n.nf\n" + "".join(f"{escaped(line)}\n" for line in lines) + ".fi\n"


def _examples(examples: Sequence[str]) -> Iterator[str]:
    if examples:
        yield ".SH EXAMPLES\n"
        yield from _code(examples)
