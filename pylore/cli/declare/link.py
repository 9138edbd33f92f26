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
stands again, with its weight and metadata where these are not given; the same link
twice is one link. 'lore graph relations' has the relations and the types that each leads
from and to, 'lore unlink' takes a link away. A link of other types is refused, with the
relations that fit; one that is made by --force says so in its metadata.""",
    Option("--weight X", "how strong, 0 to 1; 1 for a new link", low=0, high=1),
    Option(
        "--confidence X",
        "how sure, 0 to 1: kept in the metadata, and the weight of a new link without one",
        low=0,
        high=1,
    ),
    Option(
        "--meta KEY=VALUE",
        "sets a field of the metadata, to JSON or else to text; null takes it away",
        many=True,
    ),
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
    Option("--force", "link these two whatever types the relation joins"),
    Option("--new-relation", "declare the relation, if it is a new one"),
    OUTPUT,
    examples=(
        "lore link lesson-1a2b3c4d learned_from failure-5e6f7a8b",
        'lore link note-1a2b3c4d relates_to note-5e6f7a8b --weight 0.4 --meta by="a review"',
    ),
    arguments=(
        Argument("A", "from_id", "ids"),
        Argument("RELATION", "relation", "relations"),
        Argument("B", "to_id", "ids"),
    ),
    also=(QUIET,),
    settings=("busy_timeout",),
    quick="writing:link",
)
