"""What a search.db that came from elsewhere may hold beside lore's own schema."""

from __future__ import annotations

import os

import apsw

SCHEMA_FILE = os.path.join(os.path.dirname(__file__), "schema.sql")


def foreign_triggers(connection: apsw.Connection) -> list[str]:
    """The names of the triggers that are not, letter by letter, those of ``schema.sql``."""
    rows = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
    found = {str(name): str(sql) for name, sql in rows}
    if not found:
        return []
    with open(SCHEMA_FILE, encoding="utf-8") as file:
        schema = file.read()
    return sorted(name for name, sql in found.items() if f"\n{sql};\n" not in schema)


def foreign_views(connection: apsw.Connection) -> list[str]:
    """The names of the views: lore has none, and reads none."""
    rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name")
    return [name for (name,) in rows]
