"""lore restore."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET

COMMAND = Command(
    "restore",
    "[options] ID…",
    "bring forgotten records back, with the links that went with them",
    """\
A lone - reads ids from stdin; 'lore list --forgotten' has them.""",
    OUTPUT,
    QUIET,
    Option(
        "--embedder NAME", "what makes the vectors; none: no vectors for these", setting="embedder"
    ),
    BUSY_TIMEOUT,
    arguments=(Argument("ID…", "ids", "forgotten"),),
    run="records:restore",
)
