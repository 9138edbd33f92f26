"""lore hub revoke."""

from __future__ import annotations

from ..declaration import Argument, Command, Option
from . import OUTPUT, QUIET
from .hub_grant import ON

COMMAND = Command(
    "hub revoke",
    "[options] NAME",
    "",
    """\
Takes away from NAME its role at the hub and all scopes, or one scope alone. What NAME has
written stays, and so does what is in stores that have synced. Do it before DROP ROLE: another
role of that name would have the same scopes.""",
    Option("--scope S", "this scope alone", setting="scope"),
    ON,
    OUTPUT,
    QUIET,
    examples=("lore hub revoke ann --scope payments",),
    arguments=(Argument("NAME", "name"),),
    run="hub_rights:revoke",
)
