"""Create the tables of a new store, and compare those of a file with them."""

from __future__ import annotations

import os

from ..core.errors import StoreError, first_of
from ..core.ids import sha256
from ..core.vocabulary import RELATIONS, TYPES
from .connection import apsw

HASHES = {
    "fts5": "fad22bc3a848d8f4b1fc38e895b2c4becf2ec77d46c2898e0d55b827d797c9bf",
    "fts4": "122df1c6afc83d24a18b6808c44ddc8c0c6a5601a5171b45b835e4f428aa194d",
}
"""Full-text engine to ``schema_hash`` of a new store; a test prints the current hashes."""

_MOST = 500
"""Maximum rows of ``sqlite_schema`` that are read; lore's own are about 70."""


def create_schema(connection: apsw.Connection, fulltext: str) -> None:
    """Create all tables of an empty database; the caller holds a transaction."""
    from .fulltext import FullText
    from .vectors import Vectors

    with open(os.path.join(os.path.dirname(__file__), "schema.sql"), encoding="utf-8") as file:
        for _ in connection.execute(file.read()):
            pass
    connection.executemany("INSERT INTO types(name, description) VALUES (?, ?)", TYPES.items())
    connection.executemany(
        "INSERT INTO relations(name, weight, backward_weight, description) VALUES (?, ?, ?, ?)",
        ((name, *row) for name, row in RELATIONS.items()),
    )
    FullText(connection).renew(fulltext)
    Vectors(connection).renew()


def statements(connection: apsw.Connection) -> dict[str, str]:
    """Return name to statement of the tables, indexes, triggers and views of a database."""
    rows = connection.execute(
        "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"
        f" AND name NOT GLOB 'sqlite_*' LIMIT {_MOST}"
    )
    return {str(name): str(sql) for name, sql in rows}


def schema_hash(connection: apsw.Connection) -> str:
    """Return the SHA-256 of the statements of a database."""
    return sha256("\n".join(sorted(statements(connection).values())).encode()).hexdigest()


def require_own_schema(connection: apsw.Connection, path: str) -> None:
    """Raise StoreError if a statement that computes or acts in the schema is not lore's. Missing or
    plain tables are left to the reader."""
    if schema_hash(connection) not in HASHES.values():
        wrong = [name for name, sql in other_statements(connection).items() if not _is_plain(sql)]
        if wrong:
            raise StoreError(
                f"{path}: its schema is not lore's ({first_of(wrong)}): "
                "import an export that you trust into a new store"
            )


def other_statements(connection: apsw.Connection) -> dict[str, str]:
    """Return the ``statements`` that differ from a new store's, without plain tables."""
    own = statements(empty_store(connection))
    return {
        name: sql
        for name, sql in sorted(statements(connection).items())
        if own.get(name) != sql and (name in own or not _is_plain(sql))
    }


def empty_store(connection: apsw.Connection) -> apsw.Connection:
    """Return an empty store in memory, with the full-text engine of ``connection`` if possible."""
    try:
        engine = connection.execute("SELECT value FROM meta WHERE key = 'fulltext'").get
    except apsw.Error:
        engine = None
    for name in ("fts4" if engine == "fts4" else "fts5", "auto"):
        empty = apsw.Connection(":memory:")
        try:
            create_schema(empty, name)
            break
        except StoreError:
            pass
    return empty


def _is_plain(sql: str) -> bool:
    """Return True for a table without expressions."""
    return sql.startswith("CREATE TABLE ") and sql.count("(") == 1 and sql.endswith(")")
