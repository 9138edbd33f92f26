"""Open and create search.db, with the settings of each connection."""

from __future__ import annotations

import errno
import os

from ..core.errors import NoStore, StoreError
from ..system.files import STORE, make_private_file, make_private_folder
from .connection import BusyHandler, apsw, set_bounds
from .faults import Translated, lacks_room
from .schema import create_schema, require_own_schema
from .store import Store

FILE = STORE
SCHEMA_VERSION = 1
_MOST_MAPPED = 1 << 29
"""Maximum bytes of a file that is memory-mapped."""

APPLICATION_ID = 0x6C6F7265  # "lore", so that file(1) and other tools can tell


def open_store(folder: str, *, busy_timeout: float = 30.0) -> Store:
    """Return the store in ``folder``; raise StoreError without one of this version."""
    path = os.path.join(folder, FILE)
    if not os.path.isfile(path):
        raise _no_store(folder, path)
    with Translated(path):
        try:
            connection = _connect(path, busy_timeout)
            version = connection.pragma("user_version")
        except apsw.IOError as error:
            if not lacks_room(error):
                raise
            connection = _connect(path, busy_timeout, read_only=True)
            version = connection.pragma("user_version")
        if version != SCHEMA_VERSION:
            connection.close()
            raise _other_version(path, version)
        require_own_schema(connection, path)
    return Store(connection, path, busy_timeout)


def open_to_replace(path: str, busy_timeout: float) -> apsw.Connection:
    """Return a connection to a store of any version that is to be replaced. Raise StoreError if it
    cannot be written or is foreign, apsw's NotADBError or CorruptError if it is damaged."""
    if not _may_write(path):
        raise StoreError(
            f"{path}: cannot be written: check the permissions of it and of its folder"
        )
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


def _no_store(folder: str, path: str) -> StoreError:
    if os.path.exists(folder) and not os.path.isdir(folder):
        return StoreError(f"{folder}: is a file, not a folder: move it away, or set LORE_DIR")
    if os.path.exists(path):
        return StoreError(f"{path}: is not a plain file: move it away, then run 'lore init'")
    if os.path.isdir(folder) and not os.access(folder, os.X_OK):
        return StoreError(f"{folder}: cannot be entered: check its permissions")
    return NoStore(f"no store in {folder}: run 'lore init'")


def _other_version(path: str, version: object) -> StoreError:
    if version == 0 and os.path.getsize(path) == 0:
        return StoreError(
            f"{path}: is empty: 'lore init' makes a store of it, then import your last export"
        )
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
        if os.path.exists(folder):
            raise _no_store(folder, path) from None
        # EEXIST: a file in place of a folder above it, or a broken link.
        why = os.strerror(errno.ENOTDIR if error.errno == errno.EEXIST else error.errno or 0)
        raise StoreError(f"{folder}: {why}: choose a different folder with LORE_DIR") from None
    if os.path.exists(path) and not os.path.isfile(path):
        raise _no_store(folder, path)
    with Translated(path):
        if os.path.exists(path):  # a connection that writes would change another program's file
            looking = reading_copy(path, alone=False)
            try:
                looking.set_busy_handler(BusyHandler(busy_timeout))
                _require_own(looking, path)
            finally:
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


def scratch_store() -> Store:
    """Return an empty store in memory."""
    with Translated(":memory:"):
        connection = apsw.Connection(":memory:")
        create_schema(connection, "auto")
    return Store(connection, ":memory:")


def _connect(
    path: str, busy_timeout: float, *, create: bool = False, read_only: bool = False
) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
    name = path
    if read_only or not (create or _may_write(path)):
        # WAL needs a shared-memory file. Where no process can create the file, no process writes
        # either, and SQLite may take the file as immutable.
        live = os.path.exists(path + "-wal") and os.path.getsize(path + "-wal") > 0
        name, flags = _read_only(path, alone=not live), _READ_ONLY
    connection = apsw.Connection(name, flags=flags)
    connection.set_busy_handler(BusyHandler(busy_timeout))
    _distrust_schema(connection)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_FKEY, 1)
    # FTS5 binds hundreds of values a search; do not plan a statement again for each.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    # With each mapped page the system maps 15 more: of a file with a million vectors a search maps
    # 97 MB and reads 16, in the same time.
    if not os.path.exists(path) or os.path.getsize(path) <= _MOST_MAPPED:
        connection.pragma("mmap_size", _MOST_MAPPED)
    # In WAL mode less than this keeps a store whole, and loses the last commits in a power cut.
    connection.pragma("synchronous", "full")
    set_bounds(connection, path)
    return connection


def reading_copy(path: str, *, alone: bool = True) -> apsw.Connection:
    """Return a read-only connection. ``alone``: the database has no log; no file is created."""
    connection = apsw.Connection(_read_only(path, alone=alone), flags=_READ_ONLY)
    _distrust_schema(connection)
    return connection


_READ_ONLY = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI


def _read_only(path: str, *, alone: bool) -> str:
    from urllib.parse import quote

    return f"file:{quote(path)}?" + ("immutable=1" if alone else "mode=ro")


def _may_write(path: str) -> bool:
    return os.access(path, os.W_OK) and os.access(os.path.dirname(path), os.W_OK)


def _distrust_schema(connection: apsw.Connection) -> None:
    # LORE_DIR may name a stranger's search.db, whose schema must do no harm.
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)  # scopes use temporary ones


def copy_store(store: Store, folder: str) -> Store:
    """Return a copy of the store in an empty folder."""
    path = os.path.join(folder, FILE)
    make_private_file(path)
    store.connection.execute("VACUUM INTO ?", (path,))
    copy = open_store(folder)
    copy.keep_to(store.scope)
    return copy
