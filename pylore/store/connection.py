"""Connections to SQLite: locks, limits, errors as lore's, keys and ids of nodes."""

from __future__ import annotations

import _collections_abc
import os
import sys
from time import monotonic, sleep

from ..core.errors import (
    GraphUnavailable,
    LoreError,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
)
from ..core.ids import COMMON
from ..core.json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Any

__all__ = ["apsw"]

# apsw imports collections.abc, which takes 2 ms. _collections_abc, loaded already, has its names.
_LENT = {"collections", "collections.abc"} - sys.modules.keys()
sys.modules.update(dict.fromkeys(_LENT, _collections_abc))
try:
    import apsw
finally:
    for _name in _LENT:
        del sys.modules[_name]


class Table:
    """Base of the classes that read and write the tables of a store."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def _rows(self, sql: str, *given: object, **named: object) -> list[Any]:
        return self._db.execute(sql, named or given).fetchall()

    def _column(self, sql: str, *given: object) -> list[Any]:
        return [value for (value,) in self._rows(sql, *given)]

    def _value(self, sql: str, *given: object) -> Any:
        """Return the first column of the first row; None without rows."""
        rows = self._rows(sql, *given)
        return rows[0][0] if rows else None


class Meta(Table):
    """Facts about the store itself, such as the embedder and the full-text engine."""

    def get(self, key: str) -> str | None:
        """Return the value of a key, or None."""
        value: str | None = self._value("SELECT value FROM meta WHERE key = ?", key)
        return value

    def number(self, key: str) -> int:
        """Return the value of a key as a number; 0 for any other text."""
        value = self.get(key) or ""
        return int(value) if value.isdecimal() and len(value) < 16 else 0

    def set(self, key: str, value: str | None) -> None:
        """Set a key; None deletes it."""
        if value is None:
            self._db.execute("DELETE FROM meta WHERE key = ?", (key,))
        else:
            self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


# --- locks and limits

_SHORTEST_SLEEP, _SLEEPS = 0.001, 0.004
"""Seconds between two tries to get a lock: minimum, and maximum random addition."""


class BusyHandler:
    """Retries a lock at random moments for ``seconds``, which treats writers equally. SQLite's
    handler sleeps longer after each try: the longest wait of 32 writers was 15 s, and here 8 s."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._began = 0.0

    def __call__(self, tries: int) -> bool:
        """Return True to retry."""
        if not tries:
            self._began = monotonic()
        if monotonic() - self._began >= self._seconds:
            return False
        sleep(_SHORTEST_SLEEP + _SLEEPS * os.urandom(1)[0] / 255)
        return True


LONGEST_VALUE = 1 << 26
"""Maximum bytes of a text, a blob, a row, or a bound value."""

_LIMITS = {
    apsw.SQLITE_LIMIT_LENGTH: LONGEST_VALUE,
    apsw.SQLITE_LIMIT_SQL_LENGTH: 1 << 20,
    apsw.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 8192,  # of --file, with each letter in brackets
    apsw.SQLITE_LIMIT_COMPOUND_SELECT: 20,
    apsw.SQLITE_LIMIT_COLUMN: 100,
    apsw.SQLITE_LIMIT_VDBE_OP: 100_000,
    apsw.SQLITE_LIMIT_TRIGGER_DEPTH: 10,
    apsw.SQLITE_LIMIT_ATTACHED: 1,  # VACUUM needs it
}

_LEAST_STEPS, _MOST_STEPS = 5_000_000, 100_000_000
"""Steps of SQLite's virtual machine before the file is checked: milliseconds to seconds."""

_DAMAGED = "is damaged: run 'lore doctor', or import your last export into a new one"


def set_bounds(connection: apsw.Connection, path: str) -> None:
    """Set SQLite's limits. The first statement with very many steps checks the file, because
    damaged pages can form a loop."""
    for limit, value in _LIMITS.items():
        connection.limit(limit, value)
    checked = False

    def check() -> bool:
        nonlocal checked
        if not checked:
            checked = True
            if not is_sound(path):
                raise StoreDamaged(f"{path}: {_DAMAGED}")
        return False

    steps = 2 * os.path.getsize(path)  # enough to read all rows of a sound file
    connection.set_progress_handler(check, min(max(steps, _LEAST_STEPS), _MOST_STEPS))


def is_sound(path: str) -> bool:
    """Return True if SQLite finds each page of the file in place, or cannot check."""
    try:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            found = connection.execute("PRAGMA quick_check(1)").get
        finally:
            connection.close()
    except apsw.Error as error:
        return not isinstance(error, (apsw.CorruptError, apsw.NotADBError))
    return not str(found).startswith("***")  # heads the errors of pages, not of rows


def changes_seen(connection: apsw.Connection) -> tuple[object, int]:
    """Return a value that changes with commits of other processes and writes of this connection."""
    return connection.pragma("data_version"), connection.total_changes()


# --- errors

_LOCKED = (StoreBusy, "is locked by another writer: try again, or raise busy_timeout")
_FULL = (StoreFull, "could not grow, the disk is full: the store is unchanged; free some space")
_MEANT: dict[type[apsw.Error], tuple[type[StoreError], str]] = {
    apsw.NotADBError: (StoreDamaged, "is not a database: move it away and import your last export"),
    apsw.CorruptError: (StoreDamaged, _DAMAGED),
    apsw.BusyError: _LOCKED,
    apsw.LockedError: _LOCKED,
    apsw.ProtocolError: _LOCKED,
    apsw.FullError: _FULL,
    apsw.ReadOnlyError: (StoreError, "cannot be written: check permissions of file and folder"),
    apsw.CantOpenError: (StoreError, "cannot be opened: check permissions of file and folder"),
    apsw.IOError: (StoreError, "could not be read or written: check the disk"),
    apsw.NoMemError: (StoreError, "needs too much memory, as damage may: run 'lore doctor'"),
    apsw.TooBigError: (StoreError, "takes no text this long: keep it in a file and link to that"),
}
"""SQLite's errors to the error of any store, and the message."""


def translate(error: apsw.Error, path: str) -> LoreError:
    """Return the failure that a SQLite error means to a user."""
    said = str(error)
    failure, message = _MEANT.get(type(error), (StoreError, f"{said}: run 'lore doctor'"))
    if _lacks_room(error, path):
        failure, message = _FULL
    elif said == COMMON:
        return LoreError(COMMON)
    elif isinstance(error, apsw.SQLError):
        table = said.removeprefix("no such table: ")
        what = f"the table {table.removeprefix('main.')} is missing"
        if table == said:
            what = f"its tables are not lore's ({said})"
        failure, message = StoreDamaged, f"{what}: run 'lore doctor'"
    return failure(f"{path}: {message}")


def _lacks_room(error: apsw.Error, path: str) -> bool:
    """Return True if the disk had no room for SQLite's shared memory of 32 KB."""
    if not isinstance(error, apsw.ReadOnlyError):
        return getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE
    try:
        disk = os.statvfs(path)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < 32_768


_OF_VALUES = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""Errors of code that meets invalid values of a row, or has a bug."""


class Translated:
    """A ``with`` block in which SQLite's errors become ``StoreError``. With a connection, Python's
    errors do too if a row breaks a condition of the schema."""

    def __init__(self, path: str, connection: apsw.Connection | None = None) -> None:
        self.path = path
        self._connection = connection

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        if isinstance(error, apsw.Error):
            raise translate(error, self.path) from error
        wrong = ""
        if isinstance(error, UnicodeDecodeError):
            wrong = "has text that is not UTF-8: import your last export into a new store"
        # By name, because json is slow to import. It refuses numbers of more than 4,300 digits.
        elif type(error).__name__ == "JSONDecodeError" or str(error).startswith("Exceeds"):
            wrong = "has a record with invalid JSON: import your last export into a new store"
        elif isinstance(error, _OF_VALUES) and self._connection is not None:
            try:
                found = str(self._connection.execute("PRAGMA quick_check(1)").get)
            except apsw.Error as check_error:
                found = str(check_error)
            if found != "ok":
                wrong = f"{' '.join(found.split())}: run 'lore doctor'"
        if wrong:
            raise StoreDamaged(f"{self.path}: {wrong}") from error


class GraphFaults:
    """A ``with`` block in which a missing or damaged table raises ``GraphUnavailable``."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        if isinstance(error, (apsw.SQLError, apsw.CorruptError)):
            message = f"the graph cannot be read ({error}): run 'lore doctor'"
            raise GraphUnavailable(message) from None


class GraphTable(Table):
    """A table of the graph: reads raise ``GraphUnavailable`` if it is missing or damaged."""

    def _rows(self, sql: str, *given: object, **named: object) -> list[Any]:
        with GraphFaults():
            return super()._rows(sql, *given, **named)


# --- ids and keys of nodes

_NEXT = (
    "1 + max((SELECT coalesce(max(key), 0) FROM main.nodes),"
    " (SELECT coalesce(max(key), 0) FROM main.absent))"
)

NEW_KEY = f"coalesce((SELECT key FROM absent WHERE id = {{id}}), {_NEXT})"
"""An expression: the key of a new node; ``id`` is the parameter of the id."""

KEY_OF = "coalesce((SELECT key FROM nodes WHERE id = {0}), (SELECT key FROM absent WHERE id = {0}))"
"""An expression: the key of an id, or NULL."""

ID_OF = "coalesce((SELECT id FROM nodes WHERE key = {0}), (SELECT id FROM absent WHERE key = {0}))"
"""An expression: the id of a key."""

TO_WIPE = "to_wipe"
"""Key in ``meta`` while free pages may hold purged texts."""

CHANGED_AT = (
    "max(e.created_at, coalesce((SELECT max(substr(s.value, 1, 20))"
    " FROM json_each(nullif(e.stamps, '')) s), ''))"
)
"""An expression: the time of the last change of the edge ``e``."""

EDGE_ENDS = f"{ID_OF.format('from_key')} AS from_id, {ID_OF.format('to_key')} AS to_id"
"""Two columns of a query on ``links``."""


def keys_of(connection: apsw.Connection, ids: Collection[str]) -> dict[str, int]:
    """Return the keys of the ids in ``ids`` that have a key, nodes first."""
    found: dict[str, int] = {}
    for table in ("nodes", "absent"):
        lacking = [id for id in ids if id not in found]
        if lacking:
            query = f"SELECT e.id, e.key FROM json_each(?) j CROSS JOIN {table} e ON e.id = j.value"
            found.update(connection.execute(query, (dumps(lacking),)))
    return found


def key_of(connection: apsw.Connection, id: str) -> int | None:
    """Return the key of an id, or None."""
    return keys_of(connection, [id]).get(id)


def ids_of(connection: apsw.Connection, keys: Iterable[str]) -> dict[str, str]:
    """Return the ids of keys, which are given in digits."""
    query = f"SELECT CAST(j.value AS TEXT), {ID_OF.format('j.value')} FROM json_each(?) j"
    return dict(connection.execute(query, (f"[{','.join(keys)}]",)))


def given_keys(connection: apsw.Connection, ids: Iterable[str]) -> Mapping[str, int]:
    """Return the keys of ids; unknown ids become absent nodes."""
    wanted = dict.fromkeys(ids)
    found = keys_of(connection, wanted.keys())
    lacking = [id for id in wanted if id not in found]
    if lacking:
        connection.executemany(
            f"INSERT INTO main.absent(key, id) SELECT {_NEXT}, ?", ((id,) for id in lacking)
        )
        found.update(keys_of(connection, lacking))
    return found
