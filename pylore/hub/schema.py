"""Make the schema of a hub, and check its version."""

from __future__ import annotations

import os

from ..core.errors import StoreError
from ..core.lines import record_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .connection import Hub

VERSION = 1
FILES = ("log.sql", "search.sql", "rights.sql")

_BEGIN = """
BEGIN;
DO $$ BEGIN
  CREATE SCHEMA IF NOT EXISTS lore;
EXCEPTION WHEN duplicate_schema OR unique_violation THEN NULL;
END $$;
DO $$ BEGIN
  IF to_regclass('lore.meta') IS NOT NULL THEN
    LOCK TABLE lore.meta IN SHARE ROW EXCLUSIVE MODE;
  END IF;
END $$
"""
"""Makes the schema, or waits for another client that does. Anybody can hold an advisory lock."""

_PATH = "SET LOCAL search_path = lore, pg_temp; SET LOCAL check_function_bodies = off;\n"
"""Unqualified names are PostgreSQL's own: others may write to public. The files name each other."""

_META = """
INSERT INTO lore.meta VALUES ('version', %s), ('longest', %s)
ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""
_OWNER = "SELECT pg_get_userbyid(nspowner) = current_user FROM pg_namespace WHERE nspname = 'lore'"
_SECONDS = 3600


def version_of(hub: Hub) -> int:
    """Return the version of the hub's schema; 0 without one."""
    if not hub.ask("SELECT to_regclass('lore.meta') IS NOT NULL")[0][0]:
        return 0
    rows = hub.ask("SELECT value FROM lore.meta WHERE name = 'version'")
    return int(rows[0][0]) if rows else 0


def require_version(hub: Hub, version: int | None) -> None:
    """Check the version of a hub.

    Raises:
        StoreError: it is not that of this lore.
    """
    if not version:
        raise StoreError(f"{hub.name}: has no hub in it: 'lore hub init URL' makes one")
    if version != VERSION:
        mend = "bring lore up to date" if version > VERSION else "make a new one by 'lore hub init'"
        raise StoreError(f"{hub.name}: is of schema version {version}, this lore has {VERSION}: "
                         f"{mend}")  # fmt: skip


def make_schema(hub: Hub, max_text: int) -> bool:
    """Make the schema where there is none; return True if it was made.

    Texts of records may have ``max_text`` bytes there.

    Raises:
        StoreError: it has another version, or somebody else owns the schema.
    """
    hub.ask(_BEGIN, seconds=_SECONDS)
    try:
        if not hub.ask(_OWNER)[0][0]:
            raise StoreError(f"{hub.name}: the schema 'lore' of this database is somebody else's: "
                             "connect as whoever made it, or take another database")  # fmt: skip
        version = version_of(hub)
        if version:
            require_version(hub, version)
        else:
            for name in FILES:
                path = os.path.join(os.path.dirname(__file__), name)
                with open(path, encoding="utf-8") as file:
                    hub.ask(_PATH + file.read(), seconds=_SECONDS)
        hub.ask(_META, [str(VERSION), str(record_line(max_text))])
    except BaseException:
        if not hub.connection.closed:
            hub.ask("ROLLBACK")
        raise
    hub.ask("COMMIT")
    hub.ask("SELECT lore.hello()", seconds=_SECONDS)  # a restored dump gets another generation
    return not version
