"""How often things were read, as long as that waits beside the store to be written into it.

Whoever reads appends one line to a file beside search.db: it takes no lock of the store's, so
no reader makes a writer wait, and none is left uncounted since somebody writes. The next
transaction counts what waits into the rows, and what is asked for in between sees both.

It stays: to count in the store itself, a search would wait for its writers and for the disk.
"""

from __future__ import annotations

import os

from ...system.store_files import READS, READS_TAKEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .access_log import PendingReads
    from .driver import apsw

LONG = 1 << 16
"""Bytes of some thousand reads since the last command that wrote."""


class AccessJournal:
    """The reads of one store that are not in its rows yet."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        path = connection.filename
        self._waiting, self._taken = (path + READS, path + READS_TAKEN) if path else ("", "")
        self._known: tuple[object, PendingReads] | None = None

    def add(self, ids: Sequence[str], at: str) -> None:
        """Note one read of these nodes, to be counted in later; no failure is raised.

        Of a line of more than ``access_log.LONGEST`` bytes the last ids are not counted.
        """
        from . import access_log

        if not self._waiting or self._is_writing():
            counting = access_log.Counting(self._db)
            counting.add(access_log.Read(at, ids))
            counting.write()
        elif ids:
            access_log.append(self._waiting, ids, at)

    def pending(self, *, writing: bool = False) -> PendingReads | None:
        """Return what waits, as this connection sees the store; None where nothing does.

        Within a transaction that writes, only with ``writing``: what is read there to be put
        back must not hold what is going to be counted in later.
        """
        stamps = (_stamp(self._taken), _stamp(self._waiting))
        if stamps == (None, None) or not self._waiting:
            return None
        if not writing and self._is_writing():
            return None
        from . import access_log

        state = (stamps, access_log.done(self._db) if stamps[0] else "")
        if self._known is None or self._known[0] != state:
            texts = access_log.waiting_texts(self._db, self._taken, self._waiting)
            self._known = (state, access_log.PendingReads(texts))
        return self._known[1]

    def take(self) -> bool:
        """Count what waits into the rows, within the transaction of whoever calls.

        Whether all of the file that was taken is in them: ``forget_taken`` when that is
        committed.
        """
        if not self._waiting or (_stamp(self._taken), _stamp(self._waiting)) == (None, None):
            return False
        from . import access_log

        return access_log.take(self._db, self._waiting, self._taken)

    @property
    def is_long(self) -> bool:
        """Return whether so much waits that a reader, too, should count it in."""
        stamp = _stamp(self._waiting) if self._waiting else None
        return stamp is not None and stamp[1] > LONG

    def forget_taken(self) -> None:
        """Take the file away whose reads are all in the rows now."""
        try:
            os.unlink(self._taken)
        except OSError:
            return  # the store knows that it is done with

    def _is_writing(self) -> bool:
        return self._db.txn_state("main") == 2  # SQLITE_TXN_WRITE


def _stamp(path: str) -> tuple[int, ...] | None:
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return (found.st_ino, found.st_size, found.st_mtime_ns)
