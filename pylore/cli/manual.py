"""The manual: a page for each command, as ``man`` reads it, made of the help that click prints."""

from __future__ import annotations

import os
import re

from . import registry
from .help import help_of, summary

_GLYPHS = str.maketrans(
    {"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"}
)
_FILES = """\
.SH FILES
.TP
.I .lore/knowledge.jsonl
records and links that a project shares
.TP
.I .lore/.config
settings of a project
.TP
.I ~/.config/lore/config
settings of a user; \\fBlore config\\fR lists them all
.SH EXIT STATUS
0: done. 1: it failed as commands do. 2: wrong usage or config. 3: a bug.
"""


def write_pages(folder: str) -> None:
    """Write a page for lore and one for each command with its verbs into a folder."""
    os.makedirs(folder, exist_ok=True)
    for name, text in pages().items():
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write(text)


def pages() -> dict[str, str]:
    """Return the pages by the names of their files."""
    names = registry.names()
    listed = "".join(f".TP\n\\fBlore\\-{name}\\fR(1)\n{escaped(summary(name))}\n"
                     for name in names)  # fmt: skip
    synopsis = ".SH SYNOPSIS\n\\fBlore\\fR COMMAND [ARGUMENT...]\n.SH COMMANDS\n"
    found = {"lore.1": _page("lore", "a shell-first knowledge graph", synopsis + listed + _FILES)}
    for name in names:
        verbs = [one for one in registry.commands_of(name) if one.startswith(f"{name} ")]
        body = "".join(f".SH {one.upper()}\n.nf\n{escaped(help_of(one))}.fi\n"
                       for one in (name, *verbs))  # fmt: skip
        body += ".SH SEE ALSO\n\\fBlore\\fR(1)\n"
        found[f"lore-{name}.1"] = _page(f"lore-{name}", summary(name), body)
    return found


def escaped(text: str) -> str:
    r"""Return text as roff prints it: nothing in it is a request or an escape.

    >>> escaped("a-b \\n")
    'a\\-b \\en'
    >>> escaped(".TH\n'x …")
    '\\&.TH\n\\(aqx \\[u2026]'
    """
    text = re.sub(r"^(?=\.)", r"\\&", text.translate(_GLYPHS), flags=re.MULTILINE)
    return "".join(one if one.isascii() else f"\\[u{ord(one):04X}]" for one in text)


def _page(name: str, summary: str, body: str) -> str:
    return (
        '.\\" Generated from the help of the commands.\n'
        f'.TH "{escaped(name.upper())}" "1" "" "lore" "lore"\n'
        f".SH NAME\n{escaped(name)} \\- {escaped(summary)}\n{body}"
    )
