"""The schema of a hub: a file a version, each carried out once, in one transaction.

Who comes second waits.
"""

from __future__ import annotations

import os

from ...core.errors import StoreError
from ...core.settings import Settings
from .grammar import grammar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .connection import Hub

FOLDER = os.path.join(os.path.dirname(__file__), "migrations")

_ALONE = """
DO $$ BEGIN
  IF to_regnamespace('lore') IS NULL THEN
    CREATE SCHEMA lore;
  END IF;
EXCEPTION WHEN duplicate_schema OR unique_violation THEN NULL;
END $$;
DO $$ BEGIN
  IF to_regclass('lore.meta') IS NOT NULL THEN
    LOCK TABLE lore.meta IN SHARE ROW EXCLUSIVE MODE;
  END IF;
END $$
"""
"""Makes the schema, or waits for whoever makes it, and for whoever changes it. An advisory lock
would be anybody's to hold."""

_SECONDS = 3600
"""What a migration may take: it may have all lines to write anew."""

_VERSION = """
SELECT to_regclass('lore.meta') IS NOT NULL
"""
_SET = """
INSERT INTO lore.meta VALUES ('version', %s) ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""
_OWNER = "SELECT pg_get_userbyid(nspowner) = current_user FROM pg_namespace WHERE nspname = 'lore'"
_PATH = "SET LOCAL search_path = lore, pg_temp;\n"
"""What is not qualified is PostgreSQL's own: public may be anybody's to write to."""


def migrations() -> list[tuple[int, str]]:
    """(version, file), version 1 first."""
    names = sorted(name for name in os.listdir(FOLDER) if name.endswith(".sql"))
    return [(int(name.partition("_")[0]), os.path.join(FOLDER, name)) for name in names]


def newest() -> int:
    """The version that this lore knows."""
    return migrations()[-1][0]


def version_of(hub: Hub) -> int:
    """The version of the hub's schema; 0: there is none."""
    if not hub.ask(_VERSION)[0][0]:
        return 0
    rows = hub.ask("SELECT value FROM lore.meta WHERE name = 'version'")
    return int(rows[0][0]) if rows else 0


def require_version(hub: Hub, version: int | None) -> None:
    """Goes on where the schema is that of this lore.

    Raises:
        StoreError: it is not.
    """
    here = newest()
    if version is None:
        raise StoreError(f"{hub.name}: has no hub in it: 'lore hub init URL' makes one")
    if version > here:
        raise StoreError(f"{hub.name}: is of schema version {version}, this lore knows {here}: "
                         "bring lore up to date")  # fmt: skip
    if version < here:
        raise StoreError(f"{hub.name}: is of schema version {version}, this lore has {here}: "
                         "whoever keeps the hub brings it there by 'lore hub init'")  # fmt: skip


def migrate(hub: Hub, max_text: int = 0) -> list[int]:
    """Bring the schema to the newest version, and return the versions that were made.

    Texts of records may have ``max_text`` bytes there; 0: what the setting is by default.

    Raises:
        StoreError: it is newer than this lore knows, or the role may not make it.
    """
    before = version_of(hub)
    if before > newest():
        require_version(hub, before)
    made = []
    for version, path in migrations():
        if version <= before:
            continue
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if _carried_out(hub, version, text):
            made.append(version)
    hub.ask(grammar(max_text or Settings().max_text))
    hub.ask("SELECT lore.hello()", seconds=_SECONDS)  # which has all to do in a restored dump
    return made


def _carried_out(hub: Hub, version: int, text: str) -> bool:
    """Whether the file of this version was carried out now, and not by somebody else before."""
    with hub.transaction():
        _make_schema(hub)
        if version_of(hub) >= version:
            return False
        hub.ask(_PATH + text, seconds=_SECONDS)
        hub.ask(_SET, [str(version)])
    return True


def _make_schema(hub: Hub) -> None:
    """Make the schema where there is none, and let nobody else change it before this transaction
    ends. Who owns it could change what is made in it.

    Raises:
        StoreError: it is somebody else's.
    """
    hub.ask(_ALONE, seconds=_SECONDS)
    if not hub.ask(_OWNER)[0][0]:
        raise StoreError(f"{hub.name}: the schema 'lore' of this database is somebody else's: "
                         "connect as whoever made it, or take another database")  # fmt: skip
