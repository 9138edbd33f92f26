"""Prints lore.1, a page for ``man``: the help of all commands."""

from __future__ import annotations

import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
os.environ["COLUMNS"] = "90"  # on every terminal

from pylore import cli
from pylore.cli.help import help_of

_GLYPHS = str.maketrans(
    {"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"}
)
_HEAD = """\
.TH "LORE" "1" "" "lore" "lore"
.SH NAME
lore \\- a shell\\-first knowledge graph
.SH SYNOPSIS
\\fBlore\\fR COMMAND [ARGUMENT...]
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


def page() -> str:
    """Return the page as roff: a section for each command and verb."""
    return _HEAD + "".join(
        f".SH {escaped(name.upper())}\n.nf\n{escaped(help_of(name))}.fi\n"
        for command in cli.names()
        for name in cli.commands_of(command)
    )


def escaped(text: str) -> str:
    r"""Return text as roff prints it: nothing in it is a request or an escape.

    >>> escaped("a-b \\n")
    'a\\-b \\en'
    >>> escaped(".TH\n'x …")
    '\\&.TH\n\\(aqx \\[u2026]'
    """
    text = re.sub(r"^(?=\.)", r"\\&", text.translate(_GLYPHS), flags=re.MULTILINE)
    return "".join(one if one.isascii() else f"\\[u{ord(one):04X}]" for one in text)


if __name__ == "__main__":
    print(page(), end="")
