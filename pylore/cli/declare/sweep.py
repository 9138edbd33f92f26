"""lore sweep."""

from __future__ import annotations

from ..declaration import Argument, Command, Option, Row
from . import BUSY_TIMEOUT, OUTPUT, QUIET

COMMAND = Command(
    "sweep",
    "[options]",
    "drop what a conversation said and nobody confirmed or needed",
    """\
That is every record and fact of the source conversation that is still staged, whose
confidence times recency is below sweep_below, and that was read fewer times than
sweep_accesses. Nothing of that is deleted: 'lore restore ID' brings a record back, 'lore
confirm SUBJECT PREDICATE OBJECT' a fact. Where history_days is set, states that records
and links left longer ago are forgotten for good.

With --telemetry it is about what was not let in instead. Of your log of events, files are
deleted whose last line is older than events_days, and the oldest ones where all together are
larger than events_mb; of this store, if there is one, the candidates that were found more than
candidates_days ago and that nobody has promoted or refused.""",
    Option("--dry-run", "only say what would be dropped"),
    Option("--telemetry", "events and candidates, in place of records"),
    Option(
        "--sweep-below X",
        "the least confidence times recency to stay (default: 0.2)",
        setting="sweep_below",
    ),
    Option(
        "--sweep-accesses N", "what was read so often stays (default: 5)", setting="sweep_accesses"
    ),
    Option(
        "--history-days N",
        "keep states that were left within so many days (default: 0, all)",
        setting="history_days",
    ),
    Option("--events-days N", "keep events for so many days (default: 14; 0: for ever)",
           setting="events_days"),
    Option("--events-mb N", "keep at most so many megabytes (default: 200; 0: no limit)",
           setting="events_mb"),
    Option("--candidates-days N", "keep candidates for so many days (default: 90; 0: for ever)",
           setting="candidates_days"),
    Row(
        "how things age",
        Option("--recency-grace DAYS", setting="recency_grace"),
        Option("--recency-half-life DAYS", setting="recency_half_life"),
    ),
    OUTPUT,
    QUIET,
    BUSY_TIMEOUT,
    arguments=(Argument("[WORD…]", "words"),),
    run="facts:sweep",
)  # fmt: skip
