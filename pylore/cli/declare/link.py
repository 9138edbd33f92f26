"""lore link."""

from __future__ import annotations

from ...core.vocabulary import SOURCES, STATUSES
from ..declaration import Argument, Command, Option
from . import OUTPUT, QUIET

COMMAND = Command(
    "link",
    "[options] A RELATION B",
    "link two records",
    """\
A and B are ids; the link leads from A to B. A link that was taken away
stands again; the same link twice is one link. 'lore graph relations' has the
relations, 'lore unlink' takes a link away.""",
    Option("--weight X", "how strong, 0 to 1; 1 unless set", low=0, high=1, default=1.0),
    Option(
        "--status STATUS",
        "staged, confirmed, superseded or retracted",
        choices=STATUSES,
        default="confirmed",
    ),
    Option(
        "--source SOURCE",
        "user_edit, file, system or conversation",
        choices=SOURCES,
        default="user_edit",
    ),
    Option("--new-relation", "declare the relation, if it is a new one"),
    OUTPUT,
    examples=("lore link lesson-1a2b3c4d learned_from failure-5e6f7a8b",),
    arguments=(
        Argument("A", "from_id", "ids"),
        Argument("RELATION", "relation", "relations"),
        Argument("B", "to_id", "ids"),
    ),
    also=(QUIET,),
    settings=("busy_timeout",),
    run="records:link",
)
