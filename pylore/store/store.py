"""The object that holds the parts of an open search.db together, and its transactions."""

from __future__ import annotations

import os

from ..core.errors import LoreError, StoreBusy, StoreError
from ..system.files import LOG, identity_of
from ..system.projects import project_of
from .connection import TO_WIPE, BusyHandler, apsw, changes_seen
from .edges import Edges
from .faults import LOCKED, GraphFaults, Translated, meaning
from .nodes import Meta, Nodes, Ratings, Relations, Types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any

    from ..core.stamps import Thing
    from .anchors import Anchors, Documents
    from .changes import ChangeLog
    from .check import Checks
    from .code import CodeFiles
    from .curation import Impressions, Review, StoredCandidates
    from .facts import FactPassages, PositionalEdges
    from .fulltext import FullText
    from .remotes import Remotes
    from .statistics import Statistics
    from .vectors import Vectors
    from .whole_text import Commits, WholeFiles


_OFF, _FULL = 0, 2
"""Of ``PRAGMA synchronous``."""

_PAGES_OF_LOG = 1000
"""From so many on a commit brings the write-ahead log into the file; SQLite's own figure."""

_SHORT_LOG = 1 << 18
"""Bytes of a log that a reader leaves beside the store: a checkpoint waits for the disk twice, and
the next process reads this much in 0.1 ms."""


_PARTS = {
    "anchors": ("anchors", "Anchors"),
    "candidates": ("curation", "StoredCandidates"),
    "changes": ("changes", "ChangeLog"),
    "code": ("code", "CodeFiles"),
    "documents": ("anchors", "Documents"),
    "facts": ("facts", "FactPassages"),
    "fulltext": ("fulltext", "FullText"),
    "impressions": ("curation", "Impressions"),
    "positional_edges": ("facts", "PositionalEdges"),
    "remotes": ("remotes", "Remotes"),
    "review": ("curation", "Review"),
    "statistics": ("statistics", "Statistics"),
}
"""Parts of a store that most commands do not use, to their module and class."""


class Store:
    """One open search.db. Use it from one thread; close it, or use it in a ``with``.

    A part is made when it is first used, so that a plain search never touches the graph. What a
    part returns is the caller's own: changing it changes nothing in the store. What writes is
    called in a ``transaction``. Times are UTC, ISO 8601; a node or an edge is live while
    ``invalidated_at`` is None. Errors are those of ``core.errors``: within ``faults`` a driver's
    errors and damaged values become ``StoreError``, within ``graph_faults`` a missing or damaged
    graph ``GraphUnavailable``. ``project`` is the folder that the paths of its records start from.
    """

    if TYPE_CHECKING:
        anchors: Anchors
        candidates: StoredCandidates
        changes: ChangeLog
        code: CodeFiles
        documents: Documents
        facts: FactPassages
        fulltext: FullText
        impressions: Impressions
        positional_edges: PositionalEdges
        remotes: Remotes
        review: Review
        statistics: Statistics

    _takes_writes = True

    def __init__(self, connection: apsw.Connection, path: str, busy_timeout: float = 30.0) -> None:
        self.connection = connection
        self.path = path
        self._busy_timeout = busy_timeout
        self._place = os.path.realpath(path) if connection.filename else ""
        self._log = identity_of(self._place + LOG) if self._place else None
        self._has_committed = False
        self.project = project_of(os.path.dirname(os.path.abspath(path)))
        self.faults = Translated(path, connection)
        self.graph_faults = GraphFaults()
        self.meta = Meta(connection)
        self.types = Types(connection)
        self.relations = Relations(connection)
        self.ratings = Ratings(connection)
        self.nodes = Nodes(connection)
        self.edges = Edges(connection)
        self._vectors: Vectors | None = None
        self.scope = ""

    def __getattr__(self, name: str) -> Any:
        """Return a part of ``_PARTS``, loaded when it is first used."""
        module, kind = _PARTS.get(name, ("", ""))
        if not module:
            raise AttributeError(name)
        part = getattr(__import__(f"{__package__}.{module}", fromlist=[kind]), kind)
        setattr(self, name, part(self.connection))
        return self.__dict__[name]

    @property
    def vectors(self) -> Vectors:
        """Return the vectors of passages."""
        if self._vectors is None:
            from .vectors import Vectors

            self._vectors = Vectors(self.connection)
            self._vectors.scoped = bool(self.scope)
        return self._vectors

    @property
    def whole_files(self) -> WholeFiles:
        """Return full text over whole files."""
        from .whole_text import WholeFiles

        return WholeFiles(self.connection, self.fulltext)

    @property
    def commits(self) -> Commits:
        """Return commits of the repository's history."""
        from .whole_text import Commits

        return Commits(self.connection, self.fulltext)

    @property
    def writable(self) -> bool:
        """Return whether this process may write to the file."""
        return self._takes_writes and not self.connection.readonly("main")

    def refuse_writes(self) -> None:
        """Make every write from now on fail: what this store holds is kept nowhere."""
        self.connection.pragma("query_only", 1)
        self._takes_writes = False

    def data_version(self) -> object:
        """Return what changes when another process has written since this was last asked."""
        return self.connection.pragma("data_version")

    @property
    def in_transaction(self) -> bool:
        """Return whether a ``transaction`` or a ``snapshot`` of this store is under way."""
        return self.connection.in_transaction

    def thing(self, key: str) -> Thing | None:
        """Return the record, link or anchor with a key of the change log; None if it is not
        here."""
        from ..core.model import Edge, Node
        from .changes import row_of_thing

        row = row_of_thing(key)
        if isinstance(row, Node):
            return self.nodes.get(row.id)
        return self.edges.get(*row.key) if isinstance(row, Edge) else self.anchors.get(row.key)

    def keep_to(self, scope: str) -> None:
        """Show what is common or of this scope, and let only what is of it be changed.

        What belongs to other scopes (``core.scopes``) is as if it were not there, in every answer,
        count and cap. To write what is not the scope's own is a LoreError when the transaction ends
        at the latest, and nothing is written; accesses are counted, and what is staged may be
        confirmed. Without a scope everything is seen and changed. Not within a transaction.
        """
        if scope != self.scope:
            self.see(scope)

    def whole(self, own: str = "") -> Whole:
        """Return a ``with`` block of a transaction that sees and changes everything, whatever the
        scope.

        ``own`` is the id of the scope's own node that it is about: for what hangs on that, and has
        to end or come back with it, though the scope does not see it. Nothing of it may be shown.
        Without a scope it does nothing.

        Raises:
            LoreError: that is not the scope's own.
        """
        if self.scope and own:
            from ..core.ids import COMMON, is_own

            if not is_own(own, self.scope):
                raise LoreError(COMMON)
        return Whole(self)

    def see(self, scope: str) -> None:
        """Put another view before the tables."""
        from .scoped import keep_to

        keep_to(self.connection, scope)
        self.scope = scope
        self.fulltext.scoped = bool(scope)
        if self._vectors is not None:
            self._vectors.scoped = bool(scope)

    def transaction(self, command: str = "") -> Transaction:
        """Return a ``with`` block that commits as a whole or changes nothing.

        ``command`` is what the history calls it; without one it cannot be undone as a whole. One
        within another is a part of it. When the outermost is done, what it wrote stays.

        Raises:
            StoreBusy: another writer did not end in time.
            StoreReadOnly: the store cannot be written.
        """
        return Transaction(self.connection, self.path, command, self._committed)

    def aside(self, patience: float = 0.0) -> Aside:
        """Return a transaction for what may be lost: it waits ``patience`` seconds for another
        writer.

        Its commit does not wait for the disk: a power cut may take it back.

        Raises:
            StoreBusy: another writer did not end in time.
            StoreError: any other failure in it, a driver's errors too.
        """
        return Aside(self.connection, self.path, patience, self._busy_timeout)

    def _committed(self) -> None:
        self._has_committed = True
        self.require_log()

    def require_log(self) -> None:
        """Go on where the log beside the store is the one that this connection writes to.

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
        """Return a ``with`` block whose queries all see the store as it is when the first one
        runs."""
        return Snapshot(self.connection)

    def changes_seen(self) -> tuple[object, int]:
        """Return what stays equal as long as this process sees the store as it is."""
        return changes_seen(self.connection)

    @property
    def checks(self) -> Checks:
        """Return the checks of ``lore doctor``."""
        from .check import Checks

        return Checks(self.connection, self.path)

    def compact(self) -> None:
        """Put each table's pages side by side: a search reads them faster.

        Worth its time after a large import. It changes nothing that can be seen, so
        a store that is busy, or a disk without room for a copy, is left as it is.
        """
        compact(self.connection)

    def wipe(self) -> bool:
        """Let nothing stay in the file of what was deleted for good: in SQLite it stays in free
        pages, and in the full text's until these are merged.

        Return whether nothing does: not while another process uses the store, or where the disk
        has no room for a copy.
        """
        if self.meta.get(TO_WIPE) is None:
            return True
        self.connection.set_busy_handler(BusyHandler(min(self._busy_timeout, _PATIENCE)))
        try:
            with self.whole():
                with self.transaction():
                    self.fulltext.drop_removed()
                if not compact(self.connection):
                    return False
                with self.transaction():
                    self.meta.set(TO_WIPE, None)
        except (StoreBusy, apsw.FullError):
            return False
        finally:
            self.connection.set_busy_handler(BusyHandler(self._busy_timeout))
        return True

    def close(self) -> None:
        """Let go of the file; a second call does nothing.

        The log goes into the file, unless it is short and this process only counted reads.
        """
        if self._place and not self._has_committed:
            keep = 0 < _size_of(self._place + LOG) <= _SHORT_LOG
            self.connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, int(keep))
        self.connection.close()
        self._place = ""

    def __enter__(self) -> Store:
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


def _size_of(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


class Whole:
    """No view before the tables, until it ends; nothing where there is none."""

    __slots__ = ("_scope", "_store")

    def __init__(self, store: Store) -> None:
        self._store = store
        self._scope = store.scope

    def __enter__(self) -> None:
        if self._scope:
            self._store.see("")

    def __exit__(self, *_: object) -> None:
        # A transaction that fails takes its views back too, and what was before is this.
        if self._scope:
            self._store.see(self._scope)


_PATIENCE = 1.0
"""Seconds for which ``wipe`` waits for who reads."""


class Snapshot:
    """BEGIN … ROLLBACK around queries alone: what another process commits stays unseen.

    After a damaged page was read, COMMIT would repeat its error. One within another, or within a
    transaction, is a part of it.
    """

    __slots__ = ("_connection", "_inner")

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._inner = False

    def __enter__(self) -> None:
        self._inner = self._connection.in_transaction
        if not self._inner:
            self._connection.execute("BEGIN")

    def __exit__(self, *_: object) -> None:
        if self._inner:
            return
        try:  # noqa: SIM105 (a search loads no contextlib)
            self._connection.execute("ROLLBACK")
        except apsw.Error:
            pass  # damage that was met has ended it


class Transaction:
    """BEGIN IMMEDIATE … COMMIT: waits for other writers once, at the start.

    When it is done, what it wrote is on the disk, and ``committed`` has been called. One within
    another is a part of it: the outermost commits or changes nothing.

    Raises:
        StoreBusy: another writer did not end within ``busy_timeout``.
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

    def __enter__(self) -> None:
        self._inner = self._connection.in_transaction
        if self._inner:
            return
        try:
            self._begin()
            if self._command:
                self._connection.execute(
                    "INSERT OR REPLACE INTO meta VALUES ('command', ?)", (f" {self._command}",)
                )
        except BaseException:
            self._rollback()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if self._inner:
            return
        try:
            if kind is None:
                self._connection.execute("DELETE FROM main.meta WHERE key = 'command'")
                self._connection.execute("COMMIT")
                self._committed()
        finally:
            self._rollback()

    def _begin(self) -> None:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except apsw.BusyError:
            raise StoreBusy(f"{self._path}: {LOCKED}") from None

    def _rollback(self) -> None:
        """End what has not been committed; a full disk has done so already."""
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

    def __init__(
        self, connection: apsw.Connection, path: str, patience: float, busy_timeout: float
    ) -> None:
        super().__init__(connection, path)
        self._patience = patience
        self._busy_timeout = busy_timeout
        self._pages = 0

    def __enter__(self) -> None:
        self._connection.set_busy_handler(BusyHandler(self._patience))
        try:
            if not self._connection.in_transaction:
                self._connection.pragma("synchronous", _OFF)
                # No checkpoint at the commit: that would not be synced either.
                self._connection.set_wal_hook(self._note_pages)
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
        self._connection.set_busy_handler(BusyHandler(self._busy_timeout))
        if not self._connection.in_transaction:
            self._connection.pragma("synchronous", _FULL)
            self._connection.wal_autocheckpoint(_PAGES_OF_LOG)
            if self._pages >= _PAGES_OF_LOG:
                self._connection.wal_checkpoint()

    def _note_pages(self, connection: apsw.Connection, name: str, pages: int) -> int:
        self._pages = pages
        return apsw.SQLITE_OK


def compact(connection: apsw.Connection) -> bool:
    """Run VACUUM and empty the write-ahead log, where the store is not busy and the disk has room;
    return whether that was done."""
    try:
        connection.execute("VACUUM")
        return not connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0][0]
    except (apsw.BusyError, apsw.FullError):
        return False
