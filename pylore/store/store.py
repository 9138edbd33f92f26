"""The open store, with parts and transactions."""

from __future__ import annotations

import os

from ..core.errors import LoreError, StoreBusy, StoreError, StoreFull
from ..core.ids import COMMON, is_own, named_id, own
from ..core.model import Anchor, Edge, Node
from ..core.text import composed
from ..core.vocabulary import dotted, file_id
from ..system.files import LOG, identity_of, project_of
from .connection import TO_WIPE, BusyHandler, GraphFaults, Meta, Translated, apsw, changes_seen
from .edges import Edges
from .nodes import Nodes, Ratings, Relations, Types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ..core.model import EdgeKey
    from ..core.stamps import Thing
    from . import changes as _changes
    from . import check as _check
    from . import curation as _curation
    from . import facts as _facts
    from . import files as _files
    from . import fulltext as _fulltext
    from . import vectors as _vectors
    from . import whole_text as _whole_text


_SHORT_LOG = 1 << 18
"""Maximum bytes of a log that a reader leaves beside the store, as a checkpoint syncs twice."""

_NAMED = 3
"""Maximum ids in a message about ambiguity."""

_PATIENCE = 1.0
"""Seconds that ``wipe`` waits for readers."""


class Store:
    """An open search.db. Use it from one thread; close it, or use it in a ``with``.

    Write in a ``transaction``. Times are UTC, ISO 8601; a node or an edge is live while
    ``invalidated_at`` is None. Within ``faults``, a driver's errors and damaged values become
    ``StoreError``; within ``graph_faults``, a missing or damaged graph ``GraphUnavailable``.
    ``project`` is the folder that the paths of its records are relative to.
    """

    # Parts that most commands do not use: ``__getattr__`` loads the class that is named here.
    anchors: _files.Anchors
    candidates: _curation.StoredCandidates
    changes: _changes.ChangeLog
    checks: _check.Checks
    code: _files.CodeFiles
    commits: _whole_text.Commits
    documents: _files.Documents
    facts: _facts.FactPassages
    fulltext: _fulltext.FullText
    impressions: _curation.Impressions
    positional_edges: _facts.PositionalEdges
    remotes: _changes.Remotes
    review: _curation.Review
    statistics: _check.Statistics
    vectors: _vectors.Vectors
    whole_files: _whole_text.WholeFiles

    _has_committed = False

    def __init__(self, connection: apsw.Connection, path: str, busy_timeout: float = 30.0) -> None:
        self.connection = connection
        self.path = path
        self.busy_timeout = busy_timeout
        self._place = os.path.realpath(path) if connection.filename else ""
        self._log = identity_of(self._place + LOG) if self._place else None
        self.project = project_of(os.path.dirname(os.path.abspath(path)))
        self.faults = Translated(path, connection)
        self.graph_faults = GraphFaults()
        self.meta = Meta(connection)
        self.types = Types(connection)
        self.relations = Relations(connection)
        self.ratings = Ratings(connection)
        self.nodes = Nodes(connection)
        self.edges = Edges(connection)
        self.scope = ""

    def __getattr__(self, name: str) -> Any:
        module, _, kind = Store.__annotations__.get(name, "").partition(".")
        if not kind:
            raise AttributeError(name)
        loaded = __import__(f"{__package__}.{module[1:]}", fromlist=[kind])
        setattr(self, name, getattr(loaded, kind)(self.connection))
        return self.__dict__[name]

    @property
    def writable(self) -> bool:
        """Return True if this process may write to the file."""
        return not (self.connection.pragma("query_only") or self.connection.readonly("main"))

    def changes_seen(self) -> tuple[object, int]:
        """Return a value that changes with commits of other processes and own writes."""
        return changes_seen(self.connection)

    @property
    def in_transaction(self) -> bool:
        """Return True within a ``transaction`` or ``snapshot``."""
        return self.connection.in_transaction

    def thing(self, key: str) -> Thing | None:
        """Return the record, link or anchor with a key of the change log, or None."""
        from .changes import row_of_thing

        return self.held([row_of_thing(key)]).get(key)

    def held(self, rows: Sequence[Thing]) -> dict[str, Thing]:
        """Return the stored state of these records, links and anchors, by key of the change log."""
        from .changes import thing_of

        nodes = self.nodes.get_many([row.id for row in rows if isinstance(row, Node)])
        edges = self.edges.get_many([row.key for row in rows if isinstance(row, Edge)])
        anchors = [self.anchors.get(row.key) for row in rows if isinstance(row, Anchor)]
        found: list[Thing] = [*nodes.values(), *edges.values(), *filter(None, anchors)]
        return {thing_of(row): row for row in found}

    def put(self, row: Thing) -> str:
        """Write a record, link or anchor; return ``added``, ``updated`` or ``unchanged``."""
        if isinstance(row, Node):
            return self.nodes.put(row)
        return self.edges.put(row) if isinstance(row, Edge) else self.anchors.put(row)

    def settle(self, rows: Sequence[Thing]) -> None:
        """Write things with the stamps they have, without a change log."""
        self.nodes.settle([row for row in rows if isinstance(row, Node)])
        self.edges.settle([row for row in rows if isinstance(row, Edge)])
        self.anchors.settle([row for row in rows if isinstance(row, Anchor)])

    # --- ids

    def resolve_id(self, id: str) -> str:
        """Return the id of the symbol that ``FILE::Class::method`` names, with or without
        ``symbol-``, or in place of an unknown id the scope's own, or the id with composed or
        decomposed accents; other ids unchanged."""
        forms = [id]
        if not id.isascii():
            from unicodedata import normalize

            forms += [normalize(form, id) for form in ("NFC", "NFD")]
        names = (name for one in forms for name in (one, own(one, self.scope), dotted(one)))
        return next((name for name in names if self.nodes.get(name) is not None), id)

    def complete_id(self, text: str) -> str:
        """Return the id that ``resolve_id`` finds, that begins or ends so, or that has this title,
        or of an entity of this name; else the text unchanged. The beginning may follow the type:
        ``1a2b`` for ``decision-1a2b3c4d``. Raise LoreError if several match equally well."""
        id = self.resolve_id(text)
        if not id or self.nodes.get(id) is not None:
            return id
        found = self.nodes.meant(id, _NAMED + 1) or self.nodes.meant(composed(id), _NAMED + 1)
        if not found:
            named = named_id("entity", id)
            return id if self.nodes.get(named) is None else named
        if len(found) < 2:
            return found[0]
        names = ", ".join(found[:_NAMED]) + (", …" if len(found) > _NAMED else "")
        raise LoreError(f"'{id}' may be several records ({names}): give the full id")

    def thing_id(self, name: str) -> str:
        """Return the id of the entity or concept with this id or name; empty if unknown."""
        names = (name, named_id("entity", name.strip()), named_id("concept", name.strip()))
        return next(filter(self.nodes.get, map(self.resolve_id, names)), "")

    def file_ids(self, path: str) -> list[str]:
        """Return the possible ids of a file's node: the common id, and the scope's."""
        return [*dict.fromkeys((file_id(path), own(file_id(path), self.scope)))]

    def file_node_id(self, path: str) -> str:
        """Return the id of a file's node: the common id if it exists, or the scope's."""
        first, *others = self.file_ids(path) if self.scope else [file_id(path)]
        return others[0] if others and self.nodes.get(first) is None else first

    def resolve_edge(self, key: EdgeKey) -> EdgeKey:
        """Return an edge's key; the scope's own relation of that name comes first."""
        scoped = (*key[:2], own(key[2], self.scope))
        return scoped if self.scope and self.edges.get(*scoped) is not None else key

    # --- scopes

    def keep_to(self, scope: str) -> None:
        """Show common rows and those of a scope, and let only the scope's rows be changed. Other
        rows (``core.ids``) are missing from all answers; writing them raises LoreError, at the
        latest when the transaction ends. Reads and confirmations count. An empty scope shows
        everything."""
        if scope != self.scope:
            from .scoped import keep_to

            keep_to(self.connection, scope)
            self.scope = scope

    def whole(self, node: str = "") -> Whole:
        """Return a ``with`` block that sees and changes everything, in any scope; show no data read
        in it. Raise LoreError if ``node``, whose invisible links and anchors end or return with it,
        is of a different scope."""
        if node and not is_own(node, self.scope):
            raise LoreError(COMMON)
        return Whole(self)

    # --- transactions

    def transaction(self, command: str = "") -> Transaction:
        """Return a ``with`` block that commits as a whole or changes nothing. ``command`` is a name
        for the history and undo. Raise StoreBusy if another writer did not end in time, StoreError
        for any other error of SQLite."""
        return Transaction(self, command)

    def aside(self, patience: float = 0.0) -> Transaction:
        """Return a ``transaction`` that a power cut may undo: it waits ``patience`` seconds for
        another writer, and not for the disk."""
        return Transaction(self, patience=patience)

    def require_log(self) -> None:
        """Note a commit; raise StoreError if this connection's log was removed or replaced, so that
        nobody sees the commit, and it is lost when this process ends."""
        self._has_committed = True
        if self._log and identity_of(self._place + LOG) != self._log:
            why = "was removed while the store was open, and this write may be lost"
            hint = "close all programs that use the store, run 'lore doctor', and retry"
            raise StoreError(f"{self.path}{LOG}: {why}: {hint}")

    def snapshot(self) -> Snapshot:
        """Return a ``with`` block of queries that see the same state of the store."""
        return Snapshot(self)

    def compact(self) -> bool:
        """Put the pages of each table side by side, for faster searches after a large import.
        Return False if the store is busy or the disk lacks room for a copy."""
        try:
            self.connection.execute("VACUUM")
            checkpoint = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            return not checkpoint[0][0]
        except (apsw.BusyError, apsw.FullError):
            return False

    def wipe(self) -> bool:
        """Remove purged texts from free pages and full-text indexes. Return False if some may be
        left, because another process uses the store or the disk lacks room for a copy."""
        if self.meta.get(TO_WIPE) is None:
            return True
        self.connection.set_busy_handler(BusyHandler(min(self.busy_timeout, _PATIENCE)))
        try:
            with self.whole():
                with self.transaction():
                    self.fulltext.drop_removed()
                if not self.compact():
                    return False
                with self.transaction():
                    self.meta.set(TO_WIPE, None)
        except (StoreBusy, StoreFull):
            return False
        finally:
            self.connection.set_busy_handler(BusyHandler(self.busy_timeout))
        return True

    def close(self) -> None:
        """Close the file; checkpoint the log unless it is short and this process only read."""
        if self._place and not self._has_committed:
            log = self._place + LOG
            keep = os.path.exists(log) and 0 < os.path.getsize(log) <= _SHORT_LOG
            self.connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, int(keep))
        self.connection.close()
        self._place = ""

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        try:
            self.faults.__exit__(kind, error, _)
        finally:
            self.close()


class Whole:
    """A ``with`` block without the views of a scope."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._scope = store.scope

    def __enter__(self) -> None:
        self._store.keep_to("")

    def __exit__(self, *_: object) -> None:
        self._store.keep_to(self._scope)


class Transaction:
    """BEGIN IMMEDIATE … COMMIT: waits for writers at the start, and calls ``before`` and ``after``
    around the commit. A nested one joins the outer."""

    _begin = "BEGIN IMMEDIATE"

    def __init__(
        self,
        store: Store,
        command: str = "",
        patience: float | None = None,
        before: Callable[[], object] = lambda: None,
        after: Callable[[], object] = lambda: None,
    ) -> None:
        self._store = store
        self._connection = store.connection
        self._command = command
        self._patience = patience
        self._before, self._after = before, after
        self._inner = False
        self._faults = store.faults

    def __enter__(self) -> None:
        self._inner = self._connection.in_transaction
        if self._inner:
            return
        try:
            with self._faults:
                if self._patience is not None:
                    # Checkpoints sync; a commit is lost only with the write-ahead log.
                    self._wait(self._patience, "normal")
                self._connection.execute(self._begin)
                if self._command:
                    self._store.meta.set("command", f" {self._command}")
        except BaseException:
            self._end()
            raise

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        try:
            with self._faults:
                if kind is None and not self._inner:
                    self._before()
                    self._connection.execute("DELETE FROM main.meta WHERE key = 'command'")
                    self._connection.execute("COMMIT")
                    if self._patience is None:
                        self._store.require_log()
        finally:
            self._end()
        self._faults.__exit__(kind, error, _)
        if kind is None and not self._inner:
            with self._faults:
                self._after()

    def _end(self) -> None:
        if self._inner:
            return
        if self._connection.in_transaction:  # a full disk has ended it
            self._connection.execute("ROLLBACK")
        if self._patience is not None:
            self._wait(self._store.busy_timeout, "full")

    def _wait(self, seconds: float, sync: str) -> None:
        self._connection.set_busy_handler(BusyHandler(seconds))
        self._connection.pragma("synchronous", sync)


class Snapshot(Transaction):
    """BEGIN … ROLLBACK around queries; COMMIT would repeat the error of a damaged page."""

    _begin = "BEGIN"

    def __exit__(self, *_: object) -> None:
        self._end()
