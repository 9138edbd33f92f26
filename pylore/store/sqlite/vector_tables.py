"""The tables of vectors: what they are made with, and where in them a sketch stands.

A sketch's ``place`` is its cluster times 2**40 plus the passage's key, so that a cluster is
one stretch of the table. Cluster 0 has no centroid: where there are few vectors, all are in
it, and none has a row in ``members``.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .driver import apsw

BITS = 40
"""Of a place that are the key's."""

KEYS = (1 << BITS) - 1

VECTORS = (
    "CREATE TABLE {}(key INTEGER PRIMARY KEY, embedding BLOB NOT NULL CHECK (length(embedding) = ",
    "))",
)
"""Before and behind the number of bytes."""

OTHERS = (
    "CREATE TABLE sketches(place INTEGER PRIMARY KEY, sketch BLOB NOT NULL)",
    "CREATE TABLE clusters(cluster INTEGER PRIMARY KEY, centroid BLOB NOT NULL)",
    "CREATE TABLE members(key INTEGER PRIMARY KEY, first INTEGER NOT NULL,"
    " second INTEGER NOT NULL)",
)

TABLES = ("passages_vec", "sketches", "clusters", "members")
STAGED = "passages_vec_next"


def create_vectors(connection: apsw.Connection, table: str, dimension: int) -> None:
    """Make a table of quantised vectors."""
    before, behind = VECTORS
    connection.execute(f"{before.format(table)}{dimension:d}{behind}")


def create_tables(connection: apsw.Connection, dimension: int) -> None:
    """Make all tables of the vectors in use; those that were there are dropped."""
    drop_tables(connection)
    create_vectors(connection, "passages_vec", dimension)
    for create in OTHERS:
        connection.execute(create)


def drop_tables(connection: apsw.Connection) -> None:
    """Take the tables away."""
    for table in TABLES:
        connection.execute(f"DROP TABLE IF EXISTS {table}")
