"""lore fact."""

from __future__ import annotations

from ...core.vocabulary import SOURCES, STATUSES
from ..declaration import Argument, Command, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET, SCOPES

COMMAND = Command(
    "fact",
    "[options] SUBJECT PREDICATE OBJECT",
    "state a fact: one thing, what it does, another thing",
    """\
Subject and object are names or ids; a name becomes an entity. The predicate
becomes a relation, declared where it is new, with a warning where a known one
is spelled nearly the same. An object that is a value, not a thing (a number, or
more than four words), becomes a concept, so that it can be found too.

Where a predicate has one value at a time, a confirmed fact supersedes the former one,
which 'lore show --history' still has. A staged one stands beside it until it is
confirmed, by 'lore confirm' or, where nothing speaks against it, by being read
promote_after times.""",
    Option("--confidence X", "how sure, 0 to 1; 1 unless set", low=0, high=1, default=1.0),
    Option("--literal", "the object is a value, however it looks"),
    Option(
        "--source SOURCE",
        "user_edit, file, system or conversation;\nuser_edit unless set",
        choices=SOURCES,
        default="user_edit",
    ),
    Option(
        "--status STATUS",
        "staged, confirmed, superseded or retracted. Unless set, what a\n"
        "conversation says is staged, and the rest confirmed",
        choices=STATUSES,
    ),
    Option("--confirm", "the same as --status confirmed", constant="confirmed", into="status"),
    Option("--single", "the subject has one such value at a time, now and later"),
    Option(
        "--single-valued NAME,…", "predicates of which that is always so", setting="single_valued"
    ),
    SCOPES,
    OUTPUT,
    QUIET,
    Option(
        "--embedder NAME", "what makes the vectors; none: no vectors for these", setting="embedder"
    ),
    BUSY_TIMEOUT,
    examples=(
        'lore fact "billing service" uses postgresql --confidence 0.9',
        "lore fact jacq lives_in oslo --source conversation",
    ),
    arguments=(
        Argument("SUBJECT", "subject", "ids"),
        Argument("PREDICATE", "predicate", "relations"),
        Argument("OBJECT", "object", "ids"),
    ),
    quick="writing:fact",
)
