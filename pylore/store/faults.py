"""SQLite's errors as errors of lore, one line each."""

from __future__ import annotations

import os

from ..core.errors import (
    GraphUnavailable,
    LoreError,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreReadOnly,
)
from .connection import Table, apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any


_FULL = "could not grow, the disk is full: nothing was changed; free some space"

LOCKED = "is locked by another writer: try again, or raise busy_timeout"

_MEANT: tuple[tuple[type[apsw.Error], type[StoreError], str], ...] = (
    (apsw.NotADBError, StoreDamaged,
     "is not a database: move it away and import your last export"),
    (apsw.CorruptError, StoreDamaged,
     "is damaged: run 'lore doctor', or import your last export into a new one"),
    (apsw.BusyError, StoreBusy, LOCKED),
    (apsw.LockedError, StoreBusy, LOCKED),
    (apsw.ProtocolError, StoreBusy, LOCKED),
    (apsw.ReadOnlyError, StoreReadOnly,
     "cannot be written: check the permissions of it and of its folder"),
    (apsw.FullError, StoreFull, _FULL),
    (apsw.CantOpenError, StoreError,
     "cannot be opened: check the permissions of it and of its folder"),
    (apsw.IOError, StoreError, "could not be read or written: check the disk"),
    (apsw.NoMemError, StoreError,
     "asks for more memory than there is, as a damaged one may: run 'lore doctor'"),
    (apsw.InterruptError, StoreError, "was interrupted: nothing was changed"),
    (apsw.TooBigError, StoreError, "takes no text this long: keep it in a file and link to that"),
)  # fmt: skip
"""SQLite's error, the error of any store, and its message."""

_OF_ANOTHER_SHAPE = (
    "no such ", "access to view ", "unsafe use of ", "unable to use function ", "table ",
    "error in tokenizer constructor", "vtable constructor failed",
    "invalid fts5 file format", "unsupported file format",
    "Vector dimension ", "zero-length vectors ",
)  # fmt: skip


def translate(error: apsw.Error, path: str) -> LoreError | None:
    """Return the failure that a SQLite error means to a user; None if it means a bug."""
    if lacks_room(error) or (isinstance(error, apsw.ReadOnlyError) and _is_full(path)):
        return StoreFull(f"{path}: {_FULL}")
    for kind, failure, message in _MEANT:
        if isinstance(error, kind):
            return failure(f"{path}: {message}")
    said = str(error)
    if isinstance(error, apsw.ConstraintError):
        from ..core.ids import COMMON

        return LoreError(COMMON) if said == COMMON else None
    if isinstance(error, apsw.SQLError) and said.startswith("no such table: "):
        table = said.removeprefix("no such table: ").removeprefix("main.")
        return StoreDamaged(f"{path}: the table {table} is missing: run 'lore doctor'")
    if isinstance(error, apsw.SQLError) and said.startswith(_OF_ANOTHER_SHAPE):
        return StoreDamaged(f"{path}: its tables are not lore's ({said}): run 'lore doctor'")
    return None


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
    apsw.Error, ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError,
    RuntimeError, TypeError, ValueError,
)  # fmt: skip
"""Errors of code that meets invalid values of a row, or has a bug."""


class Translated:
    """A ``with`` block in which SQLite's errors become ``StoreError``.

    With a connection, Python's errors do too if a row breaks a condition of the schema, as another
    program may have written it. ``bugs``: even SQLite's errors that mean a bug do.
    """

    def __init__(
        self, path: str, connection: apsw.Connection | None = None, *, bugs: bool = False
    ) -> None:
        self.path = path
        self._connection = connection
        self._bugs = bugs

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        failure: LoreError | None = None
        if isinstance(error, apsw.Error):
            failure = meaning(error, self.path) if self._bugs else translate(error, self.path)
        wrong = _wrong_value(error)
        if wrong:
            failure = StoreDamaged(
                f"{self.path}: {wrong}: import your last export into a new store"
            )
        elif not failure and isinstance(error, _OF_VALUES) and self._connection is not None:
            try:
                found = str(self._connection.execute("PRAGMA quick_check(1)").get)
            except apsw.Error as check_error:
                found = str(check_error)
            if found != "ok":
                message = f"{self.path}: {' '.join(found.split())}: run 'lore doctor'"
                failure = StoreDamaged(message)
        if failure is not None:
            raise failure from error


def _wrong_value(error: BaseException | None) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "has text that is not UTF-8"
    # By name, because json is slow to import. It refuses numbers of more than 4,300 digits.
    if type(error).__name__ == "JSONDecodeError" or (
        isinstance(error, ValueError) and str(error).startswith("Exceeds the limit")
    ):
        return "has a record whose data is not valid JSON"
    return ""


def meaning(error: apsw.Error, path: str) -> LoreError:
    """Return the failure that any SQLite error means to a user."""
    return translate(error, path) or StoreError(f"{path}: {error}: run 'lore doctor'")


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
