"""Translate SQLite's errors to errors of lore, with messages of a line."""

from __future__ import annotations

import os

from ..core.errors import (
    GraphUnavailable,
    LoreError,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
)
from .connection import Table, apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any


LOCKED = "is locked by another writer: try again, or raise busy_timeout"

_MEANT: tuple[tuple[tuple[type[apsw.Error], ...], type[StoreError], str], ...] = (
    (
        (apsw.NotADBError,),
        StoreDamaged,
        "is not a database: move it away and import your last export",
    ),
    (
        (apsw.CorruptError,),
        StoreDamaged,
        "is damaged: run 'lore doctor', or import your last export into a new one",
    ),
    ((apsw.BusyError, apsw.LockedError, apsw.ProtocolError), StoreBusy, LOCKED),
    (
        (apsw.FullError,),
        StoreFull,
        "could not grow, the disk is full: nothing was changed; free some space",
    ),
    (
        (apsw.ReadOnlyError,),
        StoreError,
        "cannot be written: check the permissions of it and of its folder",
    ),
    (
        (apsw.CantOpenError,),
        StoreError,
        "cannot be opened: check the permissions of it and of its folder",
    ),
    ((apsw.IOError,), StoreError, "could not be read or written: check the disk"),
    (
        (apsw.NoMemError,),
        StoreError,
        "asks for more memory than there is, as a damaged one may: run 'lore doctor'",
    ),
    (
        (apsw.TooBigError,),
        StoreError,
        "takes no text this long: keep it in a file and link to that",
    ),
)
"""SQLite's errors, the error of any store, and the message."""


def translate(error: apsw.Error, path: str) -> LoreError:
    """Return the failure that a SQLite error means to a user."""
    if lacks_room(error) or (isinstance(error, apsw.ReadOnlyError) and _is_full(path)):
        error = apsw.FullError()
    for kinds, failure, message in _MEANT:
        if isinstance(error, kinds):
            return failure(f"{path}: {message}")
    said = str(error)
    if isinstance(error, apsw.ConstraintError):
        from ..core.ids import COMMON

        if said == COMMON:
            return LoreError(COMMON)
    if isinstance(error, apsw.SQLError):
        table = said.removeprefix("no such table: ")
        what = f"its tables are not lore's ({said})"
        if table != said:
            what = f"the table {table.removeprefix('main.')} is missing"
        return StoreDamaged(f"{path}: {what}: run 'lore doctor'")
    return StoreError(f"{path}: {said}: run 'lore doctor'")


def lacks_room(error: apsw.Error) -> bool:
    """Return True if the disk had no room for the shared memory beside the store."""
    return getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE


def _is_full(path: str) -> bool:
    """Return True if the disk has no room for SQLite's shared memory of 32 KB."""
    try:
        disk = os.statvfs(path)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < 32_768


_OF_VALUES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""Errors of code that meets invalid values of a row, or has a bug."""


class Translated:
    """A ``with`` block in which SQLite's errors become ``StoreError``. With a connection, Python's
    errors do too if a row breaks a condition of the schema."""

    def __init__(self, path: str, connection: apsw.Connection | None = None) -> None:
        self.path = path
        self._connection = connection

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if isinstance(error, apsw.Error):
            raise translate(error, self.path) from error
        if isinstance(error, UnicodeDecodeError):
            wrong = "has text that is not UTF-8: import your last export into a new store"
        # By name, because json is slow to import. It refuses numbers of more than 4,300 digits.
        elif type(error).__name__ == "JSONDecodeError" or (
            isinstance(error, ValueError) and str(error).startswith("Exceeds the limit")
        ):
            wrong = (
                "has a record whose data is not valid JSON: import your last export into a "
                "new store"
            )
        elif isinstance(error, _OF_VALUES) and self._connection is not None:
            try:
                found = str(self._connection.execute("PRAGMA quick_check(1)").get)
            except apsw.Error as check_error:
                found = str(check_error)
            if found == "ok":
                return
            wrong = f"{' '.join(found.split())}: run 'lore doctor'"
        else:
            return
        raise StoreDamaged(f"{self.path}: {wrong}") from error


class GraphFaults:
    """A ``with`` block in which a missing or damaged table raises ``GraphUnavailable``."""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if isinstance(error, (apsw.SQLError, apsw.CorruptError)):
            message = f"the graph cannot be read ({error}): run 'lore doctor'"
            raise GraphUnavailable(message) from None


class GraphTable(Table):
    """A table of the graph: reads raise ``GraphUnavailable`` if it is missing or damaged."""

    def _rows(self, sql: str, *given: object, **named: object) -> list[Any]:
        with GraphFaults():
            return super()._rows(sql, *given, **named)
