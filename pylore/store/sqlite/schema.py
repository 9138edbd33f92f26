"""Making the tables of a new store."""

from __future__ import annotations

from ...core.vocabulary import RELATIONS, TYPES
from .driver import apsw
from .foreign import SCHEMA_FILES, schema_texts
from .fulltext import SqliteFullText


def create_schema(connection: apsw.Connection, fulltext: str) -> None:
    """All tables of an empty database; the caller holds a transaction."""
    for text in schema_texts(SCHEMA_FILES[-1:]):
        for _ in connection.execute(text):
            pass
    connection.executemany("INSERT INTO types VALUES (?, ?)", TYPES.items())
    connection.executemany(
        "INSERT INTO relations(name, weight, backward_weight, description) VALUES (?, ?, ?, ?)",
        ((name, *row) for name, row in RELATIONS.items()),
    )
    SqliteFullText(connection).renew(fulltext)
