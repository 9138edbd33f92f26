"""lore promote."""

from __future__ import annotations

from ...core.vocabulary import LEARNING_TYPES
from ..declaration import Argument, Command, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET

COMMAND = Command(
    "promote",
    "[options] [ID…]",
    "accept or discard candidates",
    """\
On a terminal, without an ID, shows one open candidate after the other, the best first, with its
quotes and what is known already, and asks: y promotes it, n refuses it for good, e edits it in
$VISUAL or $EDITOR and promotes it, m merges it into a known record, s leaves it for later, q
ends, ? tells. What you say y to is confirmed.

With ids these candidates become records, all of them or none; a lone - reads ids from stdin.
They are staged, unless --confirm says that a person found them right: then, three reads by
people ('lore show', 'lore context') or 'lore confirm' confirm them. A record leads to the
sessions and commits that it was learned from, with quotes, and is anchored to its files. 'lore
undo' takes it back.""",
    Option(
        "--as TYPE",
        "the type of the records",
        into="type",
        choices=(*LEARNING_TYPES, "note", "goal"),
    ),
    Option("--title TITLE", "the title of the record; of one candidate alone"),
    Option("--body TEXT", "its text; of one candidate alone"),
    Option("--into ID", "no new record: they are evidence for this one", kind="ids"),
    Option("--confirm", "a person has found them right"),
    Option("--refuse", "never show these candidates again, whatever is captured later"),
    Option("--skip", "leave these candidates until a new session says the same"),
    OUTPUT,
    QUIET,
    Option(
        "--embedder NAME", "what makes the vectors; none: no vectors for these", setting="embedder"
    ),
    BUSY_TIMEOUT,
    examples=(
        "lore promote",
        "lore promote candidate-1a2b3c4d --as lesson --confirm",
        "lore promote --refuse candidate-1a2b3c4d candidate-5e6f7a8b",
    ),
    arguments=(Argument("[ID…]", "ids"),),
    run="candidates:promote",
)
