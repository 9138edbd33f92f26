"""For tests that look into the file of a store, past what any store promises."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from pylore.core.vocabulary import RELATIONS
from pylore.core.vocabulary import TYPES as TYPES_OF_NODES
from pylore.store.sqlite import foreign
from pylore.store.sqlite.fulltext import COLUMNS, TABLES, creating
from pylore.store.sqlite.store import APPLICATION_ID, SqliteStore

if TYPE_CHECKING:
    from pylore.store import Store


def connection_of(store: Store) -> apsw.Connection:
    """The connection of a store that is one of SQLite's."""
    assert isinstance(store, SqliteStore)
    return store.connection


def store_of_version(version: int, folder: Path) -> apsw.Connection:
    """An empty store as lore made it when its schema was of this version."""
    connection = apsw.Connection(str(folder / "search.db"))
    own = Path(foreign.__file__).parent
    whole = version >= foreign.FIRST_WHOLE
    for name in foreign.SCHEMA_FILES[version - 1 if whole else 0 : version]:
        connection.execute((own / name).read_text())
    columns = ", ".join(COLUMNS)
    for create in creating("fts5") if whole else ():
        connection.execute(create)
    for table in TABLES.values() if 1 < version < foreign.FIRST_WHOLE else ():
        connection.execute(foreign.FORMER_CREATE.format(table=table, columns=columns))
    if version == 1:
        connection.execute(f"CREATE VIRTUAL TABLE passages_fts USING fts5({columns})")
    connection.executemany("INSERT INTO types VALUES (?, ?)", TYPES_OF_NODES.items())
    connection.executemany(
        "INSERT INTO relations(name, weight, backward_weight, description) VALUES (?, ?, ?, ?)",
        ((name, *row) for name, row in RELATIONS.items()),
    )
    connection.execute("INSERT INTO meta VALUES ('fulltext', 'fts5')")
    connection.pragma("application_id", APPLICATION_ID)
    connection.pragma("user_version", version)
    return connection
