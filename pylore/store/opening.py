"""Open and create search.db: the settings of each connection, and the schema."""

from __future__ import annotations

import errno
import os

from ..core.errors import NoStore, StoreError, first_of
from ..core.ids import sha256
from ..core.vocabulary import RELATIONS, TYPES
from ..system.files import STORE, make_private_file, make_private_folder
from .connection import BusyHandler, Translated, apsw, set_bounds
from .store import Store

FILE = STORE
SCHEMA_VERSION = 1
APPLICATION_ID = 0x6C6F7265  # "lore", so that file(1) and other tools can tell
_MOST_MAPPED = 1 << 29
"""Bytes from the beginning of a file that are memory-mapped."""


def open_store(folder: str, *, busy_timeout: float = 30.0) -> Store:
    """Return the store in ``folder``; raise StoreError without one of this version."""
    path = os.path.join(folder, FILE)
    if not os.path.isfile(path):
        raise _no_store(folder, path)
    with Translated(path):
        try:
            connection = _connect(path, busy_timeout)
            version = connection.pragma("user_version")
        except apsw.IOError:  # a full disk has no room for the shared memory of writers
            connection = _connect(path, busy_timeout, read_only=True)
            version = connection.pragma("user_version")
        if version != SCHEMA_VERSION:
            connection.close()
            raise _other_version(path, version)
        require_own_schema(connection, path)
    return Store(connection, path, busy_timeout)


def _no_store(folder: str, path: str) -> StoreError:
    if os.path.exists(path):
        return StoreError(f"{path}: is not a plain file: move it away, then run 'lore init'")
    if os.path.exists(folder) and not (os.path.isdir(folder) and os.access(folder, os.X_OK)):
        return StoreError(f"{folder}: is no folder that you may enter: check LORE_DIR")
    return NoStore(f"no store in {folder}: run 'lore init'")


def _other_version(path: str, version: object) -> StoreError:
    if version == 0 and os.path.getsize(path) == 0:
        hint = "'lore init' makes a store of it, then import your last export"
        return StoreError(f"{path}: is empty: {hint}")
    newer = isinstance(version, int) and version > SCHEMA_VERSION
    mend = "use a newer lore" if newer else "import your last export into a new store"
    return StoreError(f"{path}: schema version {version}, this lore reads {SCHEMA_VERSION}: {mend}")


def create_store(folder: str, *, fulltext: str = "auto", busy_timeout: float = 30.0) -> Store:
    """Return the store in ``folder``, created if it is missing; processes may do so
    concurrently."""
    path = os.path.join(folder, FILE)
    try:
        os.makedirs(os.path.dirname(os.path.abspath(folder)), exist_ok=True)
        make_private_folder(folder)
    except OSError as error:
        # EEXIST: a file in place of a folder, or a broken link.
        why = os.strerror(errno.ENOTDIR if error.errno == errno.EEXIST else error.errno or 0)
        raise StoreError(f"{folder}: {why}: choose a different folder with LORE_DIR") from None
    with Translated(path):
        if os.path.exists(path):  # a connection that writes would change another program's file
            if not os.path.isfile(path):
                raise _no_store(folder, path)
            looking = reading_copy(path, alone=False)
            looking.set_busy_handler(BusyHandler(busy_timeout))
            _require_own(looking, path)
            looking.close()
        make_private_file(os.path.realpath(path))  # SQLite's other files become private
        connection = _connect(path, busy_timeout, create=True)
        connection.pragma("journal_mode", "wal")
        with Store(connection, path) as store:
            if connection.pragma("user_version") == 0:
                with store.transaction():
                    _require_own(connection, path)
                    if connection.pragma("user_version") == 0:
                        create_schema(connection, fulltext)
                        connection.pragma("application_id", APPLICATION_ID)
                        connection.pragma("user_version", SCHEMA_VERSION)
    return open_store(folder, busy_timeout=busy_timeout)


def scratch_store(fulltext: str = "auto") -> Store:
    """Return an empty store in memory."""
    connection = apsw.Connection(":memory:")
    create_schema(connection, fulltext)
    return Store(connection, "/:memory:")  # a relative path would need the working folder


def copy_store(store: Store, folder: str) -> Store:
    """Return a copy of the store in an empty folder."""
    path = os.path.join(folder, FILE)
    make_private_file(path)
    store.connection.execute("VACUUM INTO ?", (path,))
    copy = open_store(folder)
    copy.keep_to(store.scope)
    return copy


# --- connections


def open_to_replace(path: str, busy_timeout: float) -> apsw.Connection:
    """Return a connection to a store of any version that is to be replaced. Raise apsw.Error if it
    is damaged or cannot be written, StoreError if it is foreign."""
    connection = _connect(path, busy_timeout)
    try:
        _require_own(connection, path)
        connection.pragma("journal_mode", "wal")
    except BaseException:
        connection.close()
        raise
    return connection


def _require_own(connection: apsw.Connection, path: str) -> None:
    """Refuse a foreign database."""
    is_empty = connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").get is None
    if not is_empty and connection.pragma("application_id") != APPLICATION_ID:
        raise StoreError(f"{path}: belongs to a different program: choose a different folder")


def _connect(
    path: str, busy_timeout: float, *, create: bool = False, read_only: bool = False
) -> apsw.Connection:
    may_write = os.access(path, os.W_OK) and os.access(os.path.dirname(path), os.W_OK)
    if create or (may_write and not read_only):
        flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
        connection = apsw.Connection(path, flags=flags)
    else:
        # WAL needs a shared-memory file. Where no process can create the file, no process writes
        # either, and SQLite may take the file as immutable.
        live = os.path.exists(path + "-wal") and os.path.getsize(path + "-wal") > 0
        connection = reading_copy(path, alone=not live)
    _distrust_schema(connection)
    connection.set_busy_handler(BusyHandler(busy_timeout))
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_FKEY, 1)
    # FTS5 binds hundreds of values a search; do not plan a statement again for each.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.pragma("mmap_size", _MOST_MAPPED)
    # In WAL mode less than this keeps a store whole, and loses the last commits in a power cut.
    connection.pragma("synchronous", "full")
    set_bounds(connection, path)
    return connection


def reading_copy(path: str, *, alone: bool = True) -> apsw.Connection:
    """Return a read-only connection. ``alone``: the database has no log; no file is created."""
    from urllib.parse import quote

    name = f"file:{quote(path)}?" + ("immutable=1" if alone else "mode=ro")
    connection = apsw.Connection(name, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    _distrust_schema(connection)
    return connection


def _distrust_schema(connection: apsw.Connection) -> None:
    # LORE_DIR may name a stranger's search.db, whose schema must do no harm.
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)  # scopes use temporary ones


# --- the schema

HASHES = {
    "fts5": "693bcbdaa20ba21dc4d614843b761cad86dcf7b716e5306bc682148349148a79",
    "fts4": "96d8cd0db28d3e968076c0cf6ca6eca1362989f32686b1770f69b90ebfe030e8",
}
"""Full-text engine to ``schema_hash`` of a new store; a test prints the current hashes."""


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
    return dict(
        connection.execute(
            "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*'"
        )
    )


def schema_hash(connection: apsw.Connection) -> str:
    """Return the SHA-256 of the statements of a database."""
    return sha256("\n".join(sorted(statements(connection).values())).encode()).hexdigest()


def require_own_schema(connection: apsw.Connection, path: str) -> None:
    """Raise StoreError if a statement that computes or acts in the schema is not lore's. Missing or
    plain tables are left to the reader."""
    if schema_hash(connection) in HASHES.values():
        return
    wrong = [name for name, sql in other_statements(connection).items() if not _is_plain(sql)]
    if wrong:
        hint = "import an export that you trust into a new store"
        raise StoreError(f"{path}: its schema is not lore's ({first_of(wrong)}): {hint}")


def other_statements(connection: apsw.Connection) -> dict[str, str]:
    """Return the ``statements`` that differ from a new store's."""
    own = _own_statements(connection)
    return {name: sql for name, sql in statements(connection).items() if own.get(name) != sql}


def missing_statements(connection: apsw.Connection) -> list[str]:
    """Return the missing tables, indexes, views and triggers, without full text's own tables."""
    found = statements(connection)
    return [one for one in _own_statements(connection) if one not in found and "_fts_" not in one]


def _own_statements(connection: apsw.Connection) -> dict[str, str]:
    """Return the ``statements`` of a new store, with the full-text engine of ``connection``."""
    from .fulltext import engine_in

    try:
        engine = engine_in(connection)
    except apsw.Error:
        engine = "auto"
    return statements(scratch_store(engine).connection)


def _is_plain(sql: str) -> bool:
    """Return True for a table without expressions."""
    return sql.startswith("CREATE TABLE ") and sql.count("(") == 1
