"""Opening search.db, and the object that holds its parts together."""

from __future__ import annotations

import errno
import os

from ...core.errors import LoreError, NoStore, StoreBusy, StoreError, StoreReadOnly
from ...system.projects import project_of
from ...system.store_files import LOG, identity_of, note_closed, note_open
from .bounds import set_bounds
from .driver import apsw
from .edges import SqliteEdges
from .faults import GraphFaults, Translated, Whatever, lacks_room, meaning
from .fulltext import SqliteFullText
from .nodes import SqliteNodes
from .reads import SqliteReads
from .schema_check import refuse_foreign
from .tables import SqliteMeta, SqliteRatings, SqliteRelations, SqliteTypes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any

    from .anchors import SqliteAnchors
    from .candidates import SqliteCandidates
    from .check import SqliteChecks
    from .code import SqliteCodeAnswers, SqliteCodeFiles
    from .contents import SqliteContents
    from .documents import SqliteDocuments
    from .facts import SqliteFacts
    from .history import SqliteHistory
    from .impressions import SqliteImpressions
    from .kept import KeptReads
    from .positional_edges import SqlitePlaced
    from .review import SqliteReview
    from .staged_vectors import SqliteStagedVectors
    from .statistics import SqliteStatistics
    from .vectors import SqliteVectors
    from .whole_text import SqliteCommits, SqliteWholeFiles
    from .write_queue import Turn

FILE = "search.db"
SCHEMA_VERSION = 5
_MOST_MAPPED = 1 << 29
"""Bytes of a file that is read by mapping it."""

_OFF, _FULL = 0, 2
"""Of ``PRAGMA synchronous``."""

_PAGES_OF_LOG = 1000
"""From so many on a commit brings the write-ahead log into the file; SQLite's own figure."""

APPLICATION_ID = 0x6C6F7265  # "lore", so that file(1) and other tools can tell


class SqliteStore:
    """One open search.db. Use it from one thread; close it, or use it in a ``with``."""

    expect = walked = None
    _takes_writes = True

    def __init__(self, connection: apsw.Connection, path: str) -> None:
        self.connection = connection
        self.path = path
        self._place = os.path.realpath(path) if connection.filename else ""
        self._log = identity_of(self._place + LOG) if self._place else None
        note_open(self._place)
        self.project = project_of(os.path.dirname(os.path.abspath(path)))
        self.faults = Translated(path, connection)
        self.graph_faults = GraphFaults()
        self.meta = SqliteMeta(connection)
        self.types = SqliteTypes(connection)
        self.relations = SqliteRelations(connection)
        self.ratings = SqliteRatings(connection)
        self._reads = SqliteReads(connection)
        self.nodes = SqliteNodes(connection, self._reads)
        self.edges = SqliteEdges(connection, self._reads)
        self.fulltext = SqliteFullText(connection)
        self._vectors: SqliteVectors | None = None
        self._kept: KeptReads | None = None
        self.scope = ""

    @property
    def vectors(self) -> SqliteVectors:
        """Vectors of passages; made when they are first asked for: ``show`` never does."""
        if self._vectors is None:
            from .vectors import SqliteVectors

            self._vectors = SqliteVectors(self.connection)
            self._vectors.scoped = bool(self.scope)
        return self._vectors

    @property
    def statistics(self) -> SqliteStatistics:
        """Counts over the whole graph; made here, since no search asks for it."""
        from .statistics import SqliteStatistics

        return SqliteStatistics(self.connection, scoped=bool(self.scope))

    @property
    def anchors(self) -> SqliteAnchors:
        """What ties nodes to code; a search asks ``nodes`` for the verdicts alone."""
        from .anchors import SqliteAnchors

        return SqliteAnchors(self.connection)

    @property
    def code(self) -> SqliteCodeFiles:
        """What ``lore index`` has read; made here, since no search asks for it."""
        from .code import SqliteCodeFiles

        return SqliteCodeFiles(self.connection)

    @property
    def whole_files(self) -> SqliteWholeFiles:
        """Full text over whole files; made here: a search asks where code is asked for."""
        from .whole_text import SqliteWholeFiles

        return SqliteWholeFiles(self.connection, self.fulltext)

    @property
    def commits(self) -> SqliteCommits:
        """Commits of the history; made here, as ``whole_files`` is."""
        from .whole_text import SqliteCommits

        return SqliteCommits(self.connection, self.fulltext)

    @property
    def code_answers(self) -> SqliteCodeAnswers:
        """What it keeps of their names; made here, as ``code`` is."""
        from .code import SqliteCodeAnswers

        return SqliteCodeAnswers(self.connection)

    @property
    def candidates(self) -> SqliteCandidates:
        """What may be worth knowing; made here, since no search asks for it."""
        from .candidates import SqliteCandidates

        return SqliteCandidates(self.connection)

    @property
    def documents(self) -> SqliteDocuments:
        """The files that documents were made from; made here, since most searches find none."""
        from .documents import SqliteDocuments

        return SqliteDocuments(self.connection)

    @property
    def impressions(self) -> SqliteImpressions:
        """What runs were shown; made here, since most searches belong to none."""
        from .impressions import SqliteImpressions

        return SqliteImpressions(self.connection)

    @property
    def review(self) -> SqliteReview:
        """Accesses and what is staged; made here, since no search asks for it."""
        from .review import SqliteReview

        return SqliteReview(self.connection, self._reads)

    @property
    def facts(self) -> SqliteFacts:
        """Which passages state facts; made here: a search asks where it has found things."""
        from .facts import SqliteFacts

        return SqliteFacts(self.connection, self._reads)

    @property
    def placed(self) -> SqlitePlaced:
        """Which edges stand in which passages; made here: only a walk asks."""
        from .positional_edges import SqlitePlaced

        return SqlitePlaced(self.connection)

    @property
    def staged_vectors(self) -> SqliteStagedVectors:
        """Vectors of another embedder while they are made; made here, as ``shape`` is."""
        from .staged_vectors import SqliteStagedVectors

        return SqliteStagedVectors(self.connection, self.meta, self.vectors)

    @property
    def writable(self) -> bool:
        """Whether this process may write to the file."""
        return self._takes_writes and not self.connection.readonly("main")

    def refuse_writes(self) -> None:
        """Make every write from now on fail: what this store holds is kept nowhere."""
        self.connection.pragma("query_only", 1)
        self._takes_writes = False

    def data_version(self) -> object:
        """What changes when another process has written since this was last asked."""
        return self.connection.pragma("data_version")

    @property
    def in_transaction(self) -> bool:
        """Whether a ``transaction`` or a ``snapshot`` of this store is under way."""
        return self.connection.in_transaction

    @property
    def history(self) -> SqliteHistory:
        """States that were left; made here, since no search asks for it."""
        from .history import SqliteHistory

        return SqliteHistory(self.connection)

    @property
    def contents(self) -> SqliteContents:
        """What it says, for comparing it; made here, since no search asks for it."""
        from .contents import SqliteContents

        return SqliteContents(self.connection)

    def keep_to(self, scope: str) -> None:
        """From now on this sees what is common or of this scope, and changes what is of it.

        Without a scope it sees and changes everything.
        """
        if scope != self.scope:
            self.see(scope)
            if self._kept is not None:
                self.keep()

    def whole(self, own: str = "") -> Whole:
        """A ``with`` block of a transaction that sees and changes everything, whatever the scope.

        ``own`` is the id of the node that it is about.

        Raises:
            LoreError: that is not the scope's own.
        """
        if self.scope and own:
            from ...core.scopes import COMMON, is_own

            if not is_own(own, self.scope):
                raise LoreError(COMMON)
        return Whole(self)

    def see(self, scope: str) -> None:
        """Puts another view before the tables."""
        from .scoped import keep_to

        keep_to(self.connection, scope)
        self.scope = scope
        self.fulltext.scoped = bool(scope)
        if self._vectors is not None:
            self._vectors.scoped = bool(scope)

    def transaction(self, command: str = "") -> Transaction:
        """A ``with`` block that commits as a whole or changes nothing.

        ``command`` is what the history calls it; without one it cannot be undone as a whole.
        """
        return Transaction(self.connection, self.path, command, self.require_log)

    def aside(self, patience: float = 0.0) -> Aside:
        """A transaction for what may be lost: it waits ``patience`` seconds for another writer.

        Its commit does not wait for the disk: a power cut may take it back.
        """
        return Aside(self.connection, self.path, patience)

    def require_log(self) -> None:
        """Goes on where the log beside the store is the one that this connection writes to.

        Raises:
            StoreError: it was put away or replaced since the store was opened: nobody else sees
                what was committed, and it is gone when this process ends.
        """
        if self._log and identity_of(self._place + LOG) != self._log:
            raise StoreError(
                f"{self.path}{LOG}: was taken away while the store was open, and what was written "
                "now may be lost: end what has the store open, run 'lore doctor', and do it again"
            )

    def snapshot(self) -> Snapshot:
        """A ``with`` block whose queries all see the store as it is when the first one runs."""
        return Snapshot(self.connection, self._kept)

    def keep(self) -> None:
        """Keeps what snapshots read in memory, as long as nobody writes."""
        from .kept import KeptReads

        self._kept = KeptReads(self.connection)
        self.nodes.kept = self.fulltext.kept = self.vectors.kept = self._kept

    @property
    def kept(self) -> dict[str, Any] | None:
        """A place for what holds as long as the store does not change; None: there is none now."""
        return self._kept.place if self._kept else None

    @property
    def checks(self) -> SqliteChecks:
        """What ``lore doctor`` asks of the file; made here, since nothing else asks."""
        from .check import SqliteChecks

        return SqliteChecks(self.connection, self.path)

    def read_ahead(self) -> int:
        """Reads what searches read, into the system's memory; how many bytes that are."""
        from .read_ahead import read_ahead

        return read_ahead(self.connection)

    def compact(self) -> None:
        """Puts near vectors, and each table's pages, side by side: a search reads them faster.

        Worth its time after a large import. It changes nothing that can be seen, so
        a store that is busy, or a disk without room for a copy, is left as it is.
        """
        try:
            with self.transaction():
                self.vectors.arrange()
        except (StoreBusy, apsw.FullError):
            return
        compact(self.connection)

    def copied_to(self, folder: str) -> SqliteStore:
        """A copy of the store, in a folder that has none."""
        from ...system.private_files import make_private_file

        path = os.path.join(folder, FILE)
        make_private_file(path)
        self.connection.execute("VACUUM INTO ?", (path,))
        copy = open_store(folder)
        copy.keep_to(self.scope)
        return copy

    def interrupt(self) -> None:
        """Ends what the connection is doing, which then fails; another thread may call it."""
        self.connection.interrupt()

    def close(self) -> None:
        """Lets go of the file; a second call does nothing."""
        self.connection.close()
        note_closed(self._place)
        self._place = ""

    def __enter__(self) -> SqliteStore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        try:
            self.faults.__exit__(kind, error, at)
        finally:
            self.close()


class Whole:
    """No view before the tables, until it ends; nothing where there is none."""

    __slots__ = ("_scope", "_store")

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self._scope = store.scope

    def __enter__(self) -> None:
        if self._scope:
            self._store.see("")

    def __exit__(self, *_: object) -> None:
        # A transaction that fails takes its views back too, and what was before is this.
        if self._scope:
            self._store.see(self._scope)


class Snapshot:
    """BEGIN … COMMIT around queries alone: what another process commits stays unseen."""

    __slots__ = ("_connection", "_kept")

    def __init__(self, connection: apsw.Connection, kept: KeptReads | None = None) -> None:
        self._connection = connection
        self._kept = kept

    def __enter__(self) -> None:
        self._connection.execute("BEGIN")
        if self._kept is not None:
            self._kept.begin()

    def __exit__(self, *_: object) -> None:
        if self._kept is not None:
            self._kept.end()
        if self._connection.in_transaction:
            self._connection.execute("COMMIT")


class Transaction:
    """BEGIN IMMEDIATE … COMMIT: waits for other writers once, at the start, and in turn.

    When it is done, what it wrote is on the disk, and ``committed`` has been called. One within
    another is a part of it: the outermost commits or changes nothing.

    Raises:
        StoreError: another writer did not end within ``busy_timeout``; or the store has
            triggers that are not lore's. They are switched off until this has been
            looked at, so none has run.
    """

    def __init__(
        self, connection: apsw.Connection, path: str, command: str = "",
        committed: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        self._connection = connection
        self._path = path
        self._command = command
        self._committed = committed
        self._inner = False
        self._turn: Turn | None = None
        self._reads = SqliteReads(connection)
        self._all_taken = False

    def __enter__(self) -> None:
        self._inner = self._connection.in_transaction
        if self._inner:
            return
        try:
            self._begin()
            self._look()
            self._count_reads()
            if self._command:
                self._begin_command()
        except BaseException:
            self._rollback()
            self._leave()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if self._inner:
            return
        try:
            if kind is None:
                if self._command:
                    self._end_command()
                self._connection.execute("COMMIT")
                self._committed()
                if self._all_taken:
                    self._reads.forget_taken()
        finally:
            self._rollback()
            self._leave()

    def _count_reads(self) -> None:
        """What was read before has been read before what is written now."""
        self._all_taken = self._reads.take()

    def _begin(self) -> None:
        from . import write_queue as queue

        if not self._connection.filename:  # in memory: nobody else writes to it
            self._connection.execute("BEGIN IMMEDIATE")
            return
        wait = int(self._connection.pragma("busy_timeout"))
        self._turn = queue.Turn(self._path)
        if not self._turn.wait(wait / 1000):
            raise StoreBusy(f"{self._path}: is locked by {self._turn.whose()}: "
                            "try again, or raise busy_timeout")  # fmt: skip
        # Whoever writes without a turn, as another program may, is waited for as well.
        soon = min(wait, int(1000 * queue.NOTICE))
        self._connection.set_busy_timeout(soon)
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except apsw.BusyError:
            if wait <= soon:
                raise
            queue.tell("waiting for another program, which writes to the store")
            self._connection.set_busy_timeout(wait - soon)
            self._connection.execute("BEGIN IMMEDIATE")
        finally:
            self._connection.set_busy_timeout(wait)

    def _look(self) -> None:
        from .schema_check import foreign_triggers

        foreign = foreign_triggers(self._connection)
        if foreign:
            raise StoreError(
                f"{self._path}: has triggers that are not lore's ({', '.join(foreign)}): "
                "drop them, or import an export into a new store"
            )
        if not self._connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, -1):
            self._connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 1)

    def _begin_command(self) -> None:
        self._connection.execute(
            "INSERT INTO main.commands(name, at) VALUES (?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))",
            (self._command,),
        )
        self._connection.execute(
            "INSERT OR REPLACE INTO meta VALUES ('command', last_insert_rowid())"
        )

    def _end_command(self) -> None:
        """One that has changed nothing is none; of a purge nothing is left to tell by."""
        self._connection.execute(
            "DELETE FROM main.commands WHERE id = (SELECT value FROM meta WHERE key = 'command')"
            " AND name <> 'purge'"
            " AND NOT EXISTS (SELECT 1 FROM additions WHERE command = commands.id)"
            " AND NOT EXISTS (SELECT 1 FROM anchors_left WHERE command = commands.id)"
            " AND NOT EXISTS (SELECT 1 FROM node_history WHERE command = commands.id)"
            " AND NOT EXISTS (SELECT 1 FROM edge_history WHERE command = commands.id)"
        )
        self._connection.execute("DELETE FROM meta WHERE key = 'command'")

    def _leave(self) -> None:
        if self._turn is not None:
            self._turn.leave()
            self._turn = None

    def _rollback(self) -> None:
        """Ends what has not been committed; a full disk has done so already."""
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")


class Aside(Transaction):
    """A transaction that waits for nobody, and not for the disk.

    The write-ahead log alone goes without a sync, which can lose a commit and no more; when
    it is brought into the file, that waits for the disk as ever.

    Raises:
        StoreBusy: another writer did not end in time.
        StoreError: whatever else goes wrong in it, so that who may lose it can go on.
    """

    def __init__(self, connection: apsw.Connection, path: str, patience: float) -> None:
        super().__init__(connection, path)
        self._patience = patience
        self._before = 0

    def _begin(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def _count_reads(self) -> None:
        """It is to be short: that is for others, or for ``review.catch_up``."""

    def __enter__(self) -> None:
        self._before = int(self._connection.pragma("busy_timeout"))
        self._connection.set_busy_timeout(int(self._patience * 1000))
        try:
            if not self._connection.in_transaction:
                self._connection.pragma("synchronous", _OFF)
                self._connection.wal_autocheckpoint(0)  # that would not be synced either
            super().__enter__()
        except BaseException as error:
            self._restore()
            if isinstance(error, apsw.Error):
                raise meaning(error, self._path) from error
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        try:
            super().__exit__(kind, error, _)
        except apsw.Error as failed:
            raise meaning(failed, self._path) from failed
        finally:
            self._restore()
        if isinstance(error, apsw.Error):
            raise meaning(error, self._path) from error

    def _restore(self) -> None:
        self._connection.set_busy_timeout(self._before)
        if not self._connection.in_transaction:
            self._connection.pragma("synchronous", _FULL)
            self._connection.wal_autocheckpoint(_PAGES_OF_LOG)


def open_store(folder: str, *, busy_timeout: float = 30.0) -> SqliteStore:
    """The store in ``folder``.

    Raises:
        StoreError: there is none, it is not a database, or of another version.
    """
    path = os.path.join(folder, FILE)
    if not os.path.isfile(path):
        raise _no_store(folder, path)
    with Translated(path):
        connection, version = _open_version(path, busy_timeout)
        if version != SCHEMA_VERSION:
            connection.close()
            raise _other_version(path, version)
        refuse_foreign(connection, path)
    return SqliteStore(connection, path)


def open_to_replace(path: str, busy_timeout: float) -> apsw.Connection:
    """A connection to a store all of which is to be replaced, whatever version it has.

    Raises:
        StoreError: it cannot be written, or is another program's database.
        apsw.NotADBError, apsw.CorruptError: SQLite cannot tell its pages.
    """
    if not _may_write(path):
        raise StoreReadOnly(f"{path}: cannot be written: check the permissions of it and of "
                            "its folder")  # fmt: skip
    connection = _connect(path, busy_timeout)
    try:
        if connection.pragma("application_id") != APPLICATION_ID and (
            connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").get is not None
        ):
            raise StoreError(f"{path}: belongs to another program: choose another folder")
        connection.pragma("journal_mode", "wal")
    except BaseException:
        connection.close()
        raise
    return connection


def _open_version(path: str, busy_timeout: float) -> tuple[apsw.Connection, object]:
    """A connection, and the schema's version. A disk without room is read as it is."""
    try:
        connection = _connect(path, busy_timeout)
        return connection, connection.pragma("user_version")
    except apsw.IOError as error:
        if not lacks_room(error):
            raise
    connection = _connect(path, busy_timeout, read_only=True)
    return connection, connection.pragma("user_version")


def compact(connection: apsw.Connection) -> None:
    """VACUUM, where the store is not busy and the disk has room."""
    try:
        connection.execute("VACUUM")
    except (apsw.BusyError, apsw.FullError):
        return


def _no_store(folder: str, path: str) -> StoreError:
    """Why there is no store: the first reason that holds."""
    if os.path.exists(folder) and not os.path.isdir(folder):
        return StoreError(f"{folder}: is a file, not a folder: move it away, or set LORE_DIR")
    if os.path.exists(path):
        return StoreError(f"{path}: is not a plain file: move it away, then run 'lore init'")
    if os.path.isdir(folder) and not os.access(folder, os.X_OK):
        return StoreError(f"{folder}: cannot be entered: check its permissions")
    return NoStore(f"no store in {folder}: run 'lore init'")


def _other_version(path: str, version: object) -> StoreError:
    if version == 0 and os.path.getsize(path) == 0:
        return StoreError(f"{path}: is empty: 'lore init' makes a store of it, "
                          "then import your last export")  # fmt: skip
    newer = isinstance(version, int) and version > SCHEMA_VERSION
    mend = "use a newer lore" if newer else "import your last export into a new store"
    return StoreError(f"{path}: schema version {version}, this lore reads {SCHEMA_VERSION}: {mend}")


def create_store(folder: str, *, fulltext: str = "auto", busy_timeout: float = 30.0) -> SqliteStore:
    """The store in ``folder``, made if it is not there; ``fulltext`` names its engine.

    Two processes may call this at once: the second one finds the first one's work.
    """
    from ...system.private_files import make_private_file, make_private_folder
    from .schema import create_schema

    path = os.path.join(folder, FILE)
    try:
        make_private_folder(folder)
    except OSError as error:
        if os.path.exists(folder):
            raise _no_store(folder, path) from None
        # A file in the place of a folder above it, or a link that leads nowhere, exists.
        why = os.strerror(errno.ENOTDIR if error.errno == errno.EEXIST else error.errno or 0)
        raise StoreError(f"{folder}: {why}: choose another with LORE_DIR") from None
    if os.path.exists(path) and not os.path.isfile(path):
        raise _no_store(folder, path)
    with Translated(path):
        _look_before_writing(path, busy_timeout)
        make_private_file(os.path.realpath(path))  # what SQLite puts beside it is as private
        connection = _connect(path, busy_timeout, create=True)
        connection.pragma("journal_mode", "wal")
        with Transaction(connection, path):
            if connection.pragma("user_version") == 0:
                if connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").get:
                    raise StoreError(f"{path}: belongs to another program: choose another folder")
                create_schema(connection, fulltext)
                connection.pragma("application_id", APPLICATION_ID)
                connection.pragma("user_version", SCHEMA_VERSION)
            elif connection.pragma("application_id") != APPLICATION_ID:
                raise StoreError(f"{path}: belongs to another program: choose another folder")
        connection.close()
    return open_store(folder, busy_timeout=busy_timeout)


def scratch_store(path: str = ":memory:") -> SqliteStore:
    """Make an empty store in memory, with every table of the schema; messages call it ``path``."""
    from .schema import create_schema

    with Whatever(path):
        connection = apsw.Connection(":memory:")
        create_schema(connection, "auto")
    return SqliteStore(connection, path)


def _look_before_writing(path: str, busy_timeout: float) -> None:
    """Goes on where there is no database yet, or one that may become a store.

    Writing to it turns another program's into one with a write-ahead log, before a
    transaction sees whose it is. SQLite alone looks: to read and close the file here would
    drop the locks of a store that this process has open.

    Raises:
        StoreError: it is another program's.
    """
    if not os.path.exists(path):
        return
    from urllib.parse import quote

    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(f"file:{quote(path)}?mode=ro", flags=flags)
    try:
        _wait(connection, busy_timeout)
        if connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").get is None:
            return
        if connection.pragma("application_id") != APPLICATION_ID:
            raise StoreError(f"{path}: belongs to another program: choose another folder")
    finally:
        connection.close()


def _connect(
    path: str, busy_timeout: float, *, create: bool = False, read_only: bool = False
) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
    name = path
    if read_only or not (create or _may_write(path)):
        name, flags = _read_only_name(path), apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(name, flags=flags)
    for prepare in (
        _wait, _distrust_schema, _check_relations, _keep_plans, _map_file, _sync_commits,
    ):  # fmt: skip
        prepare(connection, busy_timeout)
    set_bounds(connection, path)
    return connection


def reading_copy(path: str, *, alone: bool = True) -> apsw.Connection:
    """A connection to a file that is no store of ours; ``alone``: it has no log beside it,
    and nothing is put there."""
    from urllib.parse import quote

    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    name = f"file:{quote(path)}?" + ("immutable=1" if alone else "mode=ro")
    connection = apsw.Connection(name, flags=flags)
    _distrust_schema(connection, 0.0)
    return connection


def _may_write(path: str) -> bool:
    return os.access(path, os.W_OK) and os.access(os.path.dirname(path), os.W_OK)


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
    # A search.db may be somebody else's, by LORE_DIR: nothing in its schema may do harm.
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)  # until a Transaction has looked


def _check_relations(connection: apsw.Connection, _: float) -> None:
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_FKEY, 1)


def _keep_plans(connection: apsw.Connection, _: float) -> None:
    # A statement is not planned anew for each value bound: FTS5 binds hundreds a search.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)


def _map_file(connection: apsw.Connection, _: float) -> None:
    # Of a large file a search reads pages here and there, and with each one that is mapped the
    # system maps 15 more: at a million vectors 97 MB in place of 16, in the same time.
    path = connection.filename
    if not os.path.exists(path) or os.path.getsize(path) <= _MOST_MAPPED:
        connection.pragma("mmap_size", _MOST_MAPPED)


def _sync_commits(connection: apsw.Connection, _: float) -> None:
    # In WAL mode less than this keeps a store whole, and loses the last commits in a power cut.
    connection.pragma("synchronous", _FULL)
