"""Reading what searches read, so that the system has it in memory before the first one asks."""

from __future__ import annotations

from ...core.errors import StoreError
from .driver import apsw
from .fulltext import TABLES

INDEXES = (
    "sqlite_schema", "meta", "types", "relations", "counts", "common_words", "passages",
    "sqlite_autoindex_nodes_1", "sketches", "clusters", "members", "edges_out", "edges_in",
    "ratings", "fact_passages", "nodes_hidden", "anchors",
    *(f"{table}_{part}" for table in TABLES.values()
      for part in ("config", "data", "idx", "docsize", "segdir", "segments", "stat")),
)  # fmt: skip
"""What a search goes through, whatever it finds."""

ROWS = ("nodes", "passages_vec", *(f"{table}_content" for table in TABLES.values()))
"""Where it reads the rows of what it has found, here and there."""

MOST_OF_ROWS = 1 << 28
"""Bytes of these: of a store with more, most would make room for nothing that a search asks for."""


def read_ahead(connection: apsw.Connection) -> int:
    """Read the pages of these tables and indexes; return how many bytes they have.

    Raises:
        StoreError: this SQLite cannot tell them apart.
    """
    size = sum(_read(connection, name) for name in INDEXES)
    rows = 0
    for name in ROWS:
        rows += _size_at_most(connection, name, MOST_OF_ROWS - rows)
    return size + rows


def _read(connection: apsw.Connection, name: str) -> int:
    """Read all pages of one; nothing where there is none of this name."""
    try:
        found: int | None = connection.execute(
            "SELECT sum(pgsize) FROM dbstat('main', 1) WHERE name = ?", (name,)
        ).get
    except apsw.SQLError as error:
        raise StoreError(f"this SQLite lacks dbstat ({error}): run 'make setup'") from None
    return found or 0


def _size_at_most(connection: apsw.Connection, name: str, most: int) -> int:
    """Return the same of the first pages of one, as many as ``most`` bytes are."""
    read = 0
    if most > 0:
        for (size,) in connection.execute(
            "SELECT pgsize FROM dbstat('main', 0) WHERE name = ?", (name,)
        ):
            read += size
            if read >= most:
                break
    return read
