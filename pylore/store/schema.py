"""Making the tables of a new store, and telling whether those of a file are lore's."""

from __future__ import annotations

import os

from ..core.errors import StoreError, first_of
from ..core.ids import sha256
from ..core.vocabulary import RELATIONS, TYPES
from .connection import apsw

SCHEMA = "schema.sql"

HASHES = {
    "fts5": "a79b239834910f630d90cbd3641e4d71895508a33b49e2e0e24b238b904fe9e6",
    "fts4": "e86e2f1f707bb2b772f6ebe07a07cfaae6683731353306d53c61fe4711c46234",
}
"""Full-text engine to ``schema_hash`` of a new store. A test prints the current ones."""

_MOST = 500
"""Rows of ``sqlite_schema`` that are hashed; lore's own are about 70."""

_LATER = ("files_fts", "commits_fts", "sqlite_")
"""Beginnings of the names of tables that a store gets when they are first needed."""


def schema_text(name: str) -> str:
    """Return the text of one file of the schema."""
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return file.read()


def create_schema(connection: apsw.Connection, fulltext: str) -> None:
    """Make all tables of an empty database; the caller holds a transaction."""
    from .fulltext import FullText
    from .vectors import Vectors

    for _ in connection.execute(schema_text(SCHEMA)):
        pass
    connection.executemany("INSERT INTO types(name, description) VALUES (?, ?)", TYPES.items())
    connection.executemany(
        "INSERT INTO relations(name, weight, backward_weight, description) VALUES (?, ?, ?, ?)",
        ((name, *row) for name, row in RELATIONS.items()),
    )
    FullText(connection).renew(fulltext)
    Vectors(connection).renew()


def statements(connection: apsw.Connection) -> dict[str, str]:
    """Return name to statement of each table, index, trigger and view of a database.

    Tables that a store gets later are left out: those of whole files and commits.
    """
    rows = connection.execute(
        f"SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL LIMIT {_MOST}"
    ).fetchall()
    return {
        str(name): str(sql)
        for kind, name, sql in rows
        if not (kind == "table" and str(name).startswith(_LATER))
    }


def schema_hash(connection: apsw.Connection) -> str:
    """Return the SHA-256 of the statements of a database, in order of their text."""
    texts = sorted(statements(connection).values())
    return sha256("\n".join(texts).encode()).hexdigest()


def require_own_schema(connection: apsw.Connection, path: str) -> None:
    """Check that nothing in the schema computes or acts but what lore has made.

    What is missing, or a plain table in its place, is for who reads it to report.

    Raises:
        StoreError: something does.
    """
    if schema_hash(connection) not in HASHES.values():
        wrong = [name for name, sql in other_statements(connection).items() if not _is_plain(sql)]
        if wrong:
            raise StoreError(f"{path}: its schema is not lore's ({first_of(wrong)}): "
                             "import an export that you trust into a new store")  # fmt: skip


def other_statements(connection: apsw.Connection) -> dict[str, str]:
    """Return the ``statements``, by name, that a new store has not, or has otherwise.

    Plain tables of other names do no harm, and are left out.
    """
    own = statements(empty_store(connection))
    return {
        name: sql
        for name, sql in sorted(statements(connection).items())
        if own.get(name) != sql and (name in own or not _is_plain(sql))
    }


def empty_store(connection: apsw.Connection) -> apsw.Connection:
    """Return an empty store in memory, with the engine of full text of this one."""
    empty = apsw.Connection(":memory:")
    try:
        engine = connection.execute("SELECT value FROM meta WHERE key = 'fulltext'").get
        create_schema(empty, "fts4" if engine == "fts4" else "fts5")
    except (apsw.Error, StoreError):
        empty = apsw.Connection(":memory:")
        create_schema(empty, "auto")
    return empty


def _is_plain(sql: str) -> bool:
    """Return whether it makes a table without any expression."""
    return sql.startswith("CREATE TABLE ") and sql.count("(") == 1 and sql.endswith(")")
