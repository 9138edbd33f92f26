"""From the vectors of versions 1 to 3, which were floats with signs beside them, to today's."""

from __future__ import annotations

from .driver import apsw
from .staged_vectors import SqliteStagedVectors
from .tables import SqliteMeta
from .vectors import SqliteVectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def quantise_vectors(connection: apsw.Connection) -> None:
    """From floats to bytes, also of those that are being made; the caller holds a transaction."""
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
