"""lore hub audit."""

from __future__ import annotations

from ..declaration import Command, Option
from . import COUNTS_OUTPUT, QUIET
from .hub_grant import ON

COMMAND = Command(
    "hub audit",
    "[options]",
    "",
    """\
Who changed what at the hub, the oldest first: time of the server, role, address and program,
what was done (add, edit, confirm, forget, restore, link, unlink, purge, anchor, declare,
grant, revoke), to what. No texts: what is deleted for good does not stay here. Nobody can
change it, and curators read it, but for scopes that are not theirs.""",
    Option("--since DATE|AGE", "only from then on (2026-01-31, 12h, 7d, 2w, 3m, 1y)", default=""),
    ON,
    COUNTS_OUTPUT,
    QUIET,
    examples=("lore hub audit --since 1d --jq 'select(.action == \"purge\")'",),
    run="hub_rights:audit",
)
