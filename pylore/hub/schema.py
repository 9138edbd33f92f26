"""Create the schema of a hub, and check the version."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..core.errors import StoreError
from ..core.json import record_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .connection import Hub

VERSION = "2"
FILES = ("log.sql", "search.sql", "rights.sql")

_OWNER = "SELECT pg_get_userbyid(nspowner) = current_user FROM pg_namespace WHERE nspname = 'lore'"
_HELLO = (
    "SELECT set_config('statement_timeout', '2min', false)"
    " WHERE current_setting('statement_timeout') = '0'; SELECT lore.hello(%s, %s)"
)
# Any role may write to public, so it is not in the path. The files refer to each other.
_BEGIN = """
SET LOCAL statement_timeout = 0; CREATE SCHEMA lore;
SET LOCAL search_path = lore, pg_temp; SET LOCAL check_function_bodies = off;
"""
_META = "INSERT INTO lore.meta VALUES ('version', '{}'), ('longest', '{}')"


def hello(hub: Hub, mark: Sequence[Any] = (0, None)) -> dict[str, Any]:
    """Return the state of a hub (``lore.hello``); ``holds``: it has the line of a mark.

    Raises:
        StoreError: no hub, or a different version.
    """
    state: dict[str, Any] = hub.ask(_HELLO, mark)[0][0]
    if state["version"] != VERSION:
        raise StoreError(
            f"{hub.name}: schema version {state['version']}, this lore has {VERSION}: "
            "update lore, or make a new hub"
        )
    return state


def make_schema(hub: Hub, max_text: int) -> bool:
    """Create the schema; return False if it exists. ``max_text`` limits texts of records, in bytes.

    Raises:
        StoreError: a different version or owner.
    """
    owned = hub.ask(_OWNER)
    if owned == [(False,)]:
        raise StoreError(
            f"{hub.name}: the schema 'lore' has a different owner: connect as that "
            "role, or use a different database"
        )
    longest = record_line(max_text)
    if owned:
        hello(hub)
        hub.ask("UPDATE lore.meta SET value = %s WHERE name = 'longest'", [str(longest)])
        return False
    parts = [_BEGIN]
    for name in FILES:
        with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
            parts.append(file.read())
    hub.ask(";\n".join([*parts, _META.format(VERSION, longest)]))
    return True
