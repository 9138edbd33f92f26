"""lore graph duplicates."""

from __future__ import annotations

from ..declaration import Command, Option
from . import OUTPUT, QUIET

COMMAND = Command(
    "graph duplicates",
    "[options]",
    "groups of records that say the same",
    """\
Groups of records that say nearly the same, the closest first; in a group the
oldest first, each with its largest cosine to another one. Needs no edges.""",
    Option(
        "--min X",
        "the least cosine, 0 to 1; 0.95 unless set",
        low=0,
        high=1,
        default=0.95,
        into="least",
    ),
    Option(
        "--type TYPE,…",
        "compare these types; as for similar unless set",
        kind="types",
        many=True,
        into="types",
    ),
    OUTPUT,
    examples=("lore graph duplicates --jq '.[].records[1:][].id'",),
    also=(QUIET,),
    settings=("busy_timeout",),
    run="similar:duplicates_command",
)
