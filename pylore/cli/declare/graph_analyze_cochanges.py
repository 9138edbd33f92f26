"""lore graph analyze-cochanges."""

from __future__ import annotations

from ..declaration import Command, Option
from . import COUNTS_OUTPUT, IDS, QUIET

COMMAND = Command(
    "graph analyze-cochanges",
    "[options]",
    "link files that change together",
    """\
Reads the history of the repository once and links files that change together
(co_changes_with). Renamed files count under today's names, merges not at all.
The weight grows with the commits that changed both, of which a commit of n
files is worth 1/(n - 1); "commits" and "correlation" (0 to 1) stand in the
edge's metadata. Run again, it writes only what is different; a link that was
made or taken away by hand stays so.""",
    Option("--since WHEN", "only commits since 2026-01-31, 90d or '3 months ago'", default=""),
    Option("--commits", "keep these commits as nodes too, linked to their files"),
    Option(
        "--cochange-max-files N",
        "a commit of more files says nothing; 30 unless set",
        setting="cochange_max_files",
    ),
    Option(
        "--cochange-partners N",
        "the most links of one file; 25 unless set",
        setting="cochange_partners",
    ),
    Option("--embedder NAME", "static, or none: no vectors for new nodes", setting="embedder"),
    COUNTS_OUTPUT,
    examples=("lore graph analyze-cochanges --since '1 year ago'",),
    also=(
        QUIET,
        IDS,
    ),
    settings=("busy_timeout",),
    run="anchors:cochanges_command",
)
