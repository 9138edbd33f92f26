"""lore graph similar."""

from __future__ import annotations

from ..declaration import Command, Option
from . import COUNTS_OUTPUT, IDS, QUIET

COMMAND = Command(
    "graph similar",
    "[options]",
    "link records that are alike, and keep that up to date",
    """\
Makes similar_to edges between records that are alike: those with a cosine of
at least --min, one being among the -k nearest of the other. The weight of
such an edge is the cosine. Run again, it changes only what differs, and takes
--min, -k and --type from the last time. From the first time on, a record that
is added, edited or restored gets its edges at once; after an import of more
than 25 records 'lore doctor' says that this is to be run again. Edges that you
made or took away yourself stay as they are.""",
    Option("--min X", "the least cosine, 0 to 1; 0.8 unless set", low=0, high=1, into="least"),
    Option(
        "-k, --nearest N",
        "how many of a record's nearest it is linked to; 5 unless set",
        whole=True,
        low=1,
        high=1_000,
    ),
    Option(
        "--type TYPE,…",
        "compare these types; all but entity, concept, file, symbol,\n"
        "commit, run and session unless set",
        kind="types",
        many=True,
        into="types",
    ),
    Option("--remove", "take these edges away, and make no more", into="taken_away"),
    COUNTS_OUTPUT,
    examples=("lore graph similar && lore related decision-1a2b3c4d --edges similar_to",),
    also=(
        QUIET,
        IDS,
    ),
    settings=("busy_timeout",),
    run="similar:similar_command",
)
