"""SQLite's errors, said in one line each."""

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
from .connection import apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType


_REBUILD = "import your last export into a new store"

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
"""SQLite's error, what it is to any store, and what is said of it."""

_OF_ANOTHER_SHAPE = (
    "no such ", "access to view ", "unsafe use of ", "unable to use function ", "table ",
    "error in tokenizer constructor", "vtable constructor failed",
    "invalid fts5 file format", "unsupported file format",
    "Vector dimension ", "zero-length vectors ",
)  # fmt: skip


def translate(error: apsw.Error, path: str) -> LoreError | None:
    """Return the failure that this SQLite error means to a user; None if it is a bug of ours."""
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
    """Return whether the disk had no room for the shared memory beside the store."""
    return getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE


def _is_full(path: str) -> bool:
    """Return whether the disk has no room for the shared memory (32 KB) that SQLite needs to
    write."""
    try:
        disk = os.statvfs(path)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < 32_768


_OF_VALUES = (
    apsw.Error, ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError,
    RuntimeError, TypeError, ValueError,
)  # fmt: skip
"""How code fails that is given other values than it was written for; so do bugs."""


class Translated:
    """A ``with`` block in which SQLite's errors become ``StoreError``.

    So do errors of Python if a row breaks a condition of the schema: another program wrote it.
    """

    __slots__ = ("_connection", "path")

    def __init__(self, path: str, connection: apsw.Connection | None = None) -> None:
        self.path = path
        self._connection = connection

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if isinstance(error, UnicodeDecodeError):
            raise StoreDamaged(f"{self.path}: has text that is not UTF-8: {_REBUILD}") from error
        if _is_of_json(error):
            raise StoreDamaged(
                f"{self.path}: has a record whose data is not valid JSON: {_REBUILD}"
            ) from error
        if isinstance(error, apsw.Error):
            failure = translate(error, self.path)
            if failure is not None:
                raise failure from error
        if isinstance(error, _OF_VALUES) and self._connection is not None:
            wrong = _wrong_row(self._connection)
            if wrong:
                raise StoreDamaged(f"{self.path}: {wrong}: run 'lore doctor'") from error


def _is_of_json(error: BaseException | None) -> bool:
    # json is slow to import; it converts no number of more than 4,300 digits.
    return type(error).__name__ == "JSONDecodeError" or (
        isinstance(error, ValueError) and str(error).startswith("Exceeds the limit")
    )


def _wrong_row(connection: apsw.Connection) -> str:
    """Return what SQLite finds first in the rows, or an empty text."""
    try:
        found = str(connection.execute("PRAGMA quick_check(1)").get)
    except apsw.Error as error:
        found = str(error)
    return "" if found == "ok" else " ".join(found.split())


class Whatever(Translated):
    """A ``with`` block in which each of SQLite's errors becomes ``StoreError``, a bug's too."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if isinstance(error, apsw.Error):
            raise meaning(error, self.path) from error


def meaning(error: apsw.Error, path: str) -> LoreError:
    """Return the failure that this SQLite error means to any caller."""
    return translate(error, path) or StoreError(f"{path}: {error}: run 'lore doctor'")


NO_GRAPH = (apsw.SQLError, apsw.CorruptError)
"""The errors of a table that is missing, of another shape, or damaged."""


class GraphFaults:
    """A ``with`` block in which a missing or damaged table becomes ``GraphUnavailable``."""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if isinstance(error, NO_GRAPH):
            raise GraphUnavailable(
                f"the graph cannot be read ({error}): run 'lore doctor'"
            ) from None
