"""Making the tables of a new store, and its search indexes anew."""

from __future__ import annotations

from ...core.vocabulary import COLLECTIONS, RELATIONS, TYPES
from .driver import apsw
from .foreign import schema_text
from .fulltext import COLUMNS, TABLES, SqliteFullText
from .tables import SqliteMeta, SqliteRatings


def create_schema(connection: apsw.Connection, fulltext: str) -> None:
    """All tables of an empty database; the caller holds a transaction."""
    for _ in connection.execute(schema_text()):
        pass
    connection.executemany("INSERT INTO types VALUES (?, ?)", TYPES.items())
    connection.executemany(
        "INSERT INTO relations(name, weight, backward_weight, description) VALUES (?, ?, ?, ?)",
        ((name, *row) for name, row in RELATIONS.items()),
    )
    SqliteFullText(connection).renew(fulltext)


def upgrade_schema(connection: apsw.Connection, version: int) -> None:
    """Adds what versions after ``version`` have; the caller holds a transaction.

    Relations whose weights are still those that version 1 began with get today's.
    """
    for _ in connection.execute(schema_text(after=version)):
        pass
    connection.executemany("INSERT OR IGNORE INTO types VALUES (?, ?)", TYPES.items())
    if version < 2:
        _copy_passages(connection)
    for name, (weight, backward, description) in RELATIONS.items():
        old = FIRST_WEIGHTS.get(name, weight) if version < 2 else weight
        connection.execute(
            "INSERT INTO relations(name, weight, backward_weight, description)"
            " VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET weight = ?2, backward_weight = ?3"
            " WHERE weight = ?5 AND backward_weight IS ?5",
            (name, weight, backward, description, old),
        )
    if version < 2:
        SqliteRatings(connection).recount()
    if version < 4:
        for collection in TABLES:
            SqliteFullText(connection).count_words(collection)


def _copy_passages(connection: apsw.Connection) -> None:
    """From the one full-text table of version 1 to those of today."""
    engine = SqliteMeta(connection).get("fulltext") or "fts5"
    SqliteFullText(connection).create(engine)
    connection.executemany(
        "UPDATE passages SET collection = ? WHERE node_id IN (SELECT id FROM nodes WHERE type = ?)",
        ((collection, type) for type, collection in COLLECTIONS.items()),
    )
    columns = ", ".join(COLUMNS)
    for collection, table in TABLES.items():
        connection.execute(
            f"INSERT INTO {table}(rowid, {columns}) SELECT rowid, {columns} FROM passages_fts"
            " WHERE rowid IN (SELECT key FROM passages WHERE collection = ?)",
            (collection,),
        )
    connection.execute("DROP TABLE passages_fts")


FIRST_WEIGHTS = {
    "anchored_to": 1.0, "calls": 0.7, "co_changes_with": 0.7, "contradicts": 0.8, "defines": 0.8,
    "depends_on": 0.6, "derived_from": 0.9, "implements": 1.0, "imports": 0.6, "inherits": 0.7,
    "instantiates": 0.7, "invalidated_by": 0.2, "learned_from": 0.9, "links_to": 0.7,
    "mentions": 0.6, "part_of": 0.6, "relates_to": 0.7, "similar_to": 0.6, "summarized_by": 0.4,
    "supersedes": 0.5, "used_in_run": 0.3,
}  # fmt: skip
"""The weights, the same in both directions, that stores of version 1 began with."""
