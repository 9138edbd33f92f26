"""lore candidates."""

from __future__ import annotations

from ..declaration import Command, Option
from . import BUSY_TIMEOUT, OUTPUT, QUIET

COMMAND = Command(
    "candidates",
    "[options]",
    "what was said in sessions and may be worth knowing, the best first",
    """\
Looks through the events of this project's sessions ('lore capture' brings them), and lists what
nobody has decided yet, each with what speaks for it: a signal, its weight, a quote. 'lore
promote' decides. No search finds a candidate, and no export has one. What a record says
already is no candidate: what was said once more is evidence for that record.""",
    Option("--since AGE", "look at what happened since: 7d, 2w, a date, a time"),
    Option(
        "--project DIR", "look at the sessions of the project in this folder; all: of every one"
    ),
    Option(
        "--all", "list what was skipped, refused, promoted and known already too", into="everything"
    ),
    Option("-n, --limit N", "how many; all unless set", whole=True, low=1, high=1_000_000_000),
    Option("--kept", "list what was found before, and look at no events"),
    Option(
        "--titles",
        "let your own model (llm_command) title what is new, and merge what is\n"
        "the same; a quote of its that no event has is dropped",
    ),
    Option("--llm-command CMD", "the program and its arguments", setting="llm_command"),
    OUTPUT,
    QUIET,
    Option(
        "--embedder NAME",
        "what compares them with records; none: by their words alone",
        setting="embedder",
    ),
    BUSY_TIMEOUT,
    examples=("lore candidates --since 7d", "lore candidates --kept --ids"),
    settings=("promote_auto",),
    run="candidates:candidates",
)
