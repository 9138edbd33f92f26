"""lore graph analyze-imports."""

from __future__ import annotations

from ..declaration import Command, Option
from . import COUNTS_OUTPUT, IDS, QUIET

COMMAND = Command(
    "graph analyze-imports",
    "[options]",
    "link files that import each other",
    """\
Reads files as 'lore index' does, and says how many imports lead to files.""",
    Option(
        "--path FOLDER",
        "only what has changed in this folder; all unless set",
        kind="files",
        default="",
    ),
    Option("--index-max-file BYTES", "the largest file that is read", setting="index_max_file"),
    Option("--embedder NAME", "static, or none: no vectors for new nodes", setting="embedder"),
    COUNTS_OUTPUT,
    examples=("lore graph analyze-imports --path src/",),
    also=(
        QUIET,
        IDS,
    ),
    settings=("busy_timeout",),
    run="anchors:imports_command",
)
