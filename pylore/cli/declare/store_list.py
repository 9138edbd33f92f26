"""lore store list."""

from __future__ import annotations

from ..declaration import Command, Option
from . import OUTPUT, QUIET

COMMAND = Command(
    "store list",
    "[options]",
    "",
    """\
Lists the projects that have a store: folder, state (present or gone), bytes, search.db.""",
    Option("--gone", "only those whose project is gone"),
    OUTPUT,
    QUIET,
    examples=("lore store list --gone --ids | xargs -I{} lore store remove {}",),
    run="stores:list_stores",
)
