"""Making the tables of a new store, and its search indexes anew."""

from __future__ import annotations

from ...core.vocabulary import COLLECTIONS, RELATIONS, TYPES
from .driver import apsw
from .foreign import schema_text
from .fulltext import COLUMNS, TABLES, SqliteFullText
from .staged_vectors import SqliteStagedVectors
from .tables import SqliteMeta, SqliteRatings
from .vectors import SqliteVectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


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
        _copy_vectors(connection)


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


def _copy_vectors(connection: apsw.Connection) -> None:
    """From the floats of versions 1 to 3 to bytes, also of those that are being made."""
    vectors = SqliteVectors(connection)
    meta = SqliteMeta(connection)
    if _rename(connection, "passages_vec"):
        dimension = int(meta.get("embedder_dimension") or 0)
        vectors.create(dimension)
        for rows in _floats(connection, dimension):
            vectors.add(rows)
        vectors.arrange()
    if _rename(connection, "passages_vec_next"):
        staged = SqliteStagedVectors(connection, meta, vectors)
        staged.begin(staged.embedder or "", staged.dimension)
        for rows in _floats(connection, staged.dimension):
            staged.add(rows)
    connection.execute("DROP TABLE IF EXISTS floats")


def _rename(connection: apsw.Connection, table: str) -> bool:
    """Makes this table ``floats``, if it is there."""
    there = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (table,)).get
    if there is None:
        return False
    connection.execute("DROP TABLE IF EXISTS floats")
    connection.execute(f"ALTER TABLE {table} RENAME TO floats")
    return True


def _floats(connection: apsw.Connection, dimension: int) -> Iterator[list[tuple[int, bytes]]]:
    """``(key, vector)`` rows, some thousand at a time, without those of another length."""
    rows = connection.execute(
        "SELECT key, embedding FROM floats"
        " WHERE typeof(embedding) = 'blob' AND length(embedding) = ? ORDER BY key",
        (4 * dimension,),
    )
    while part := [row for _, row in zip(range(4096), rows, strict=False)]:
        yield part


FIRST_WEIGHTS = {
    "anchored_to": 1.0, "calls": 0.7, "co_changes_with": 0.7, "contradicts": 0.8, "defines": 0.8,
    "depends_on": 0.6, "derived_from": 0.9, "implements": 1.0, "imports": 0.6, "inherits": 0.7,
    "instantiates": 0.7, "invalidated_by": 0.2, "learned_from": 0.9, "links_to": 0.7,
    "mentions": 0.6, "part_of": 0.6, "relates_to": 0.7, "similar_to": 0.6, "summarized_by": 0.4,
    "supersedes": 0.5, "used_in_run": 0.3,
}  # fmt: skip
"""The weights, the same in both directions, that stores of version 1 began with."""
