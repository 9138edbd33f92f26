"""What a search.db that came from elsewhere may hold beside lore's own schema."""

from __future__ import annotations

import os

from .driver import apsw

SCHEMA_FILES = ("schema.sql", "schema-2.sql")
"""What each version of the schema adds, version 1 first."""


def schema_text(after: int = 0) -> str:
    """The statements that bring a store of version ``after`` to the newest one."""
    folder = os.path.dirname(__file__)
    texts = []
    for name in SCHEMA_FILES[after:]:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            texts.append(file.read())
    return "".join(texts)


def foreign_triggers(connection: apsw.Connection) -> list[str]:
    """The names of the triggers that are not, letter by letter, those of the schema."""
    rows = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
    found = {str(name): str(sql) for name, sql in rows}
    if not found:
        return []
    schema = schema_text()
    return sorted(name for name, sql in found.items() if f"\n{sql};\n" not in schema)


def foreign_views(connection: apsw.Connection) -> list[str]:
    """The names of the views: lore has none, and reads none."""
    rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name")
    return [name for (name,) in rows]
