"""lore restore."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET

COMMAND = Command(
    "restore",
    "[options] ID… | A RELATION B",
    "bring forgotten records back, or records and links as they were before",
    """\
A forgotten record comes back with the links that went with it. With --at a record gets
a former state, as 'lore show --history' counts them. A RELATION B is a link: it stands again
as it last stood. A lone - reads ids from stdin; 'lore list --forgotten' has them.""",
    Option("--at N|TIME", "the state of this number, or of a time: 2026-01-31, 7d"),
    OUTPUT,
    QUIET,
    Option(
        "--embedder NAME", "what makes the vectors; none: no vectors for these", setting="embedder"
    ),
    BUSY_TIMEOUT,
    examples=(
        "lore restore decision-1a2b3c4d --at 2",
        "lore restore lesson-1a2b3c4d learned_from failure-5e6f7a8b",
    ),
    arguments=(Argument("ID…", "ids", "forgotten"),),
    run="records:restore",
)
