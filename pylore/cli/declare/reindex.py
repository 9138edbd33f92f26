"""lore reindex."""

from __future__ import annotations

from ..declaration import Command, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET

COMMAND = Command(
    "reindex",
    "[options]",
    "build the full-text and vector indexes anew",
    """\
Needed after a change of the full-text engine, and where 'lore doctor' says so. The
records stay as they are. For another embedder, 'lore embed --all' is enough.""",
    Option("--embedder NAME", "what makes the vectors; none: full text only", setting="embedder"),
    Option("--fulltext ENGINE", "auto, fts5 or fts4", setting="fulltext"),
    BUSY_TIMEOUT,
    OUTPUT,
    QUIET,
    run="system:reindex",
)
