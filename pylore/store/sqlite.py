"""Opening search.db, and the object that holds its parts together."""

from __future__ import annotations

import os

import apsw

from ..errors import StoreError
from .edges import Edges
from .faults import Translated
from .fulltext import FullText
from .nodes import Nodes
from .tables import Meta, Relations, Types, Words
from .vectors import Vectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from .shape import Shape

FILE = "search.db"
SCHEMA_VERSION = 1
APPLICATION_ID = 0x6C6F7265  # "lore", so that file(1) and other tools can tell


class Store:
    """One open search.db. Use it from one thread; close it, or use it in a ``with``."""

    def __init__(self, connection: apsw.Connection, path: str) -> None:
        self.connection = connection
        self.path = path
        self.faults = Translated(path)
        self.meta = Meta(connection)
        self.types = Types(connection)
        self.relations = Relations(connection)
        self.words = Words(connection)
        self.nodes = Nodes(connection)
        self.edges = Edges(connection)
        self.fulltext = FullText(connection)
        self.vectors = Vectors(connection)

    @property
    def shape(self) -> Shape:
        """Counts over the whole graph; made here, since no search asks for it."""
        from .shape import Shape

        return Shape(self.connection)

    @property
    def writable(self) -> bool:
        """Whether this process may write to the file."""
        return not self.connection.readonly("main")

    def transaction(self) -> Transaction:
        """A ``with`` block that commits as a whole or changes nothing."""
        return Transaction(self.connection)

    def compact(self) -> None:
        """Puts each table's pages side by side: a search reads them an eighth faster.

        Worth its time after a large import. It changes nothing that can be seen, so
        a store that is busy, or a disk without room for a copy, is left as it is.
        """
        try:
            self.connection.execute("VACUUM")
        except (apsw.BusyError, apsw.FullError):
            return

    def close(self) -> None:
        """Lets go of the file; a second call does nothing."""
        self.connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Transaction:
    """BEGIN IMMEDIATE … COMMIT: waits for other writers once, at the start.

    One within another is a part of it: the outermost commits or changes nothing.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._inner = False

    def __enter__(self) -> None:
        self._inner = self._connection.in_transaction
        if not self._inner:
            self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if self._inner:
            return
        if kind is None:
            try:
                self._connection.execute("COMMIT")
                return
            except apsw.Error:
                self._rollback()
                raise
        self._rollback()

    def _rollback(self) -> None:
        if self._connection.in_transaction:  # a full disk has rolled back already
            self._connection.execute("ROLLBACK")


def open_store(folder: str, *, busy_timeout: float = 10.0) -> Store:
    """The store in ``folder``.

    Raises:
        StoreError: there is none, it is not a database, or of another version.
    """
    path = os.path.join(folder, FILE)
    if not os.path.exists(path):
        raise StoreError(f"no store in {folder}: run 'lore init'")
    with Translated(path):
        connection = _connect(path, busy_timeout)
        version = connection.pragma("user_version")
    if version != SCHEMA_VERSION:
        connection.close()
        newer = isinstance(version, int) and version > SCHEMA_VERSION
        mend = "use a newer lore" if newer else "import your last export into a new store"
        raise StoreError(
            f"{path}: schema version {version}, this lore reads {SCHEMA_VERSION}: {mend}"
        )
    return Store(connection, path)


def create_store(folder: str, *, fulltext: str = "auto", busy_timeout: float = 10.0) -> Store:
    """The store in ``folder``, made if it is not there; ``fulltext`` names its engine.

    Two processes may call this at once: the second one finds the first one's work.
    """
    from .schema import create_schema

    path = os.path.join(folder, FILE)
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder}: {error.strerror}: choose another with LORE_DIR") from None
    with Translated(path):
        connection = _connect(path, busy_timeout, create=True)
        connection.pragma("journal_mode", "wal")
        with Transaction(connection):
            if connection.pragma("user_version") == 0:
                if connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").get:
                    raise StoreError(f"{path}: belongs to another program: choose another folder")
                create_schema(connection, fulltext)
                connection.pragma("application_id", APPLICATION_ID)
                connection.pragma("user_version", SCHEMA_VERSION)
        connection.close()
    return open_store(folder, busy_timeout=busy_timeout)


def _connect(path: str, busy_timeout: float, *, create: bool = False) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
    name = path
    if not create and not (os.access(path, os.W_OK) and os.access(os.path.dirname(path), os.W_OK)):
        name, flags = _read_only_name(path), apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(name, flags=flags)
    for prepare in (_wait, _distrust_schema, _check_relations, _map_file, _sync_at_checkpoints):
        prepare(connection, busy_timeout)
    return connection


def _read_only_name(path: str) -> str:
    """A URI for a file in a folder we may not write to.

    WAL needs a shared-memory file beside the store. Where nobody can make one,
    nobody writes either, and SQLite may take the file as immutable.
    """
    from urllib.parse import quote

    wal = path + "-wal"
    live = os.path.exists(wal) and os.path.getsize(wal) > 0
    return f"file:{quote(path)}?" + ("mode=ro" if live else "immutable=1")


def _wait(connection: apsw.Connection, busy_timeout: float) -> None:
    connection.set_busy_timeout(int(busy_timeout * 1000))


def _distrust_schema(connection: apsw.Connection, _: float) -> None:
    # A search.db can come with a clone: nothing in its schema may do harm.
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)


def _check_relations(connection: apsw.Connection, _: float) -> None:
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_FKEY, 1)


def _map_file(connection: apsw.Connection, _: float) -> None:
    connection.pragma("mmap_size", 1 << 30)


def _sync_at_checkpoints(connection: apsw.Connection, _: float) -> None:
    connection.pragma("synchronous", 1)  # NORMAL: with WAL, a power cut loses no consistency
