"""lore list."""

from __future__ import annotations

from ..declaration import NO_PAGER, Command, Option
from . import ONELINE, OUTPUT, QUIET, SCOPES

COMMAND = Command(
    "list",
    "[options]",
    "the records there are, the last changed first",
    """\
Records are what people and agents wrote. What an index brought (files, symbols, commits)
and runs are listed where their types are asked for.""",
    Option(
        "--type TYPE,…",
        "only these types",
        kind="types",
        many=True,
        into="types",
    ),
    Option("--all", "all types", into="all_types"),
    Option(
        "--tag TAG,…, --tags TAG,…",
        "only records with all these tags",
        kind="tags",
        many=True,
        into="tags",
    ),
    Option(
        "--status STATUS,…",
        "only these: staged, confirmed, superseded, retracted",
        kind="statuses",
        many=True,
        into="statuses",
    ),
    Option("--file GLOB,…", "only records of these files", kind="files", many=True, into="files"),
    Option(
        "--since DATE|AGE", "only what changed since (2026-01-31, 12h, 7d, 2w, 3m, 1y)", default=""
    ),
    Option("--until DATE|AGE", "only what has not changed after", default=""),
    Option("-n, --limit N", "the most of them; all unless set", whole=True, low=1),
    Option("--oldest", "the first changed first"),
    Option("--forgotten", "what was forgotten, in place of what stands"),
    SCOPES,
    ONELINE,
    OUTPUT,
    NO_PAGER,
    QUIET,
    examples=(
        "lore list --type decision --since 7d",
        "lore list --tag auth --ids | xargs lore show",
    ),
    run="records:list_records",
)
