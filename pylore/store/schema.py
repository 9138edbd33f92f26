"""Making the tables of a new store, and its search indexes anew."""

from __future__ import annotations

from pathlib import Path

import apsw

from ..errors import StoreError
from ..vocabulary import RELATIONS, TYPES
from .fulltext import FullText
from .tables import Meta


def create_schema(connection: apsw.Connection, fulltext: str) -> None:
    """All tables of an empty database; the caller holds a transaction."""
    for _ in connection.execute(Path(__file__).with_name("schema.sql").read_text()):
        pass
    connection.executemany("INSERT INTO types VALUES (?, ?)", TYPES.items())
    connection.executemany(
        "INSERT INTO relations(name, weight, backward_weight, description) VALUES (?, ?, ?, ?)",
        ((name, *row) for name, row in RELATIONS.items()),
    )
    engine = choose_engine(fulltext)
    Meta(connection).set("fulltext", engine)
    FullText(connection).create(engine)


def choose_engine(wanted: str) -> str:
    """``fts5`` or ``fts4``: what was asked for, or the best that this SQLite has.

    Raises:
        StoreError: the linked SQLite has not got it.
    """
    has = {name for name in ("FTS5", "FTS4", "FTS3") if f"ENABLE_{name}" in apsw.compile_options}
    available = {"fts5": "FTS5" in has, "fts4": bool(has & {"FTS4", "FTS3"})}
    engine = wanted if wanted != "auto" else "fts5" if available["fts5"] else "fts4"
    if not available[engine]:
        raise StoreError(f"this SQLite has no {engine}: set fulltext to another engine")
    return engine
