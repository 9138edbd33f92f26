"""What one statement may take at the most: another program may have written the file."""

from __future__ import annotations

import os

from ...core.errors import StoreDamaged
from .driver import apsw

LONGEST_VALUE = 1 << 26
"""Bytes of a text, a blob or a row; what is bound to a statement is no longer either."""

_LIMITS = {
    apsw.SQLITE_LIMIT_LENGTH: LONGEST_VALUE,
    apsw.SQLITE_LIMIT_SQL_LENGTH: 1 << 20,
    apsw.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 4096,  # the longest path
    apsw.SQLITE_LIMIT_COMPOUND_SELECT: 20,
    apsw.SQLITE_LIMIT_COLUMN: 100,
    apsw.SQLITE_LIMIT_VDBE_OP: 100_000,
    apsw.SQLITE_LIMIT_TRIGGER_DEPTH: 10,
    apsw.SQLITE_LIMIT_ATTACHED: 1,  # VACUUM takes it
}

_STEPS = (5_000_000, 100_000_000)
"""Steps of SQLite's machine for one statement, some milliseconds to some seconds."""


def set_bounds(connection: apsw.Connection, path: str) -> None:
    """Set SQLite's limits; statements that go on and on find out whether the file is sound."""
    for limit, value in _LIMITS.items():
        connection.limit(limit, value)
    least, most = _STEPS
    steps = 2 * os.path.getsize(path)  # reading all rows of a sound file takes fewer
    connection.set_progress_handler(_Suspicion(path), min(max(steps, least), most))


class _Suspicion:
    """Called after many steps of a statement: pages that lead back to each other have no end.

    The first call looks at the whole file, in a connection of its own: ``False`` from then
    on where it is sound.
    """

    __slots__ = ("_asked", "_path")

    def __init__(self, path: str) -> None:
        self._path = path
        self._asked = False

    def __call__(self) -> bool:
        if not self._asked:
            self._asked = True
            if not is_sound(self._path):
                raise StoreDamaged(f"{self._path}: is damaged: run 'lore doctor', "
                                   "or import your last export into a new one")  # fmt: skip
        return False


def is_sound(path: str) -> bool:
    """Return whether SQLite finds each page of the file in its place, whatever the rows hold."""
    try:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            found = connection.execute("PRAGMA quick_check(1)").get
        finally:
            connection.close()
    except (apsw.CorruptError, apsw.NotADBError):
        return False
    except apsw.Error:
        return True  # it cannot be told
    return not str(found).startswith("***")  # what is wrong with pages comes under a heading
