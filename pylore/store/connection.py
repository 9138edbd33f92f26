"""Connections to SQLite: waiting for locks, limits of a statement, ids and keys of nodes."""

from __future__ import annotations

import os
import sys
from time import monotonic, sleep

from ..core.errors import StoreDamaged
from ..core.json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Any


__all__ = ["apsw"]

# apsw imports collections.abc, which takes 2 ms to load. _collections_abc, which is loaded
# already, has the same names.
_AROUND = ("collections", "collections.abc")

if sys.modules.keys().isdisjoint(("apsw", *_AROUND)):
    import _collections_abc

    sys.modules.update(dict.fromkeys(_AROUND, _collections_abc))
    try:
        import apsw
    finally:
        for name in _AROUND:
            del sys.modules[name]
else:
    import apsw


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

    def all(self) -> dict[str, str]:
        """Return all keys and values."""
        return dict(self._rows("SELECT key, value FROM meta"))

    def get(self, key: str) -> str | None:
        """Return the value of a key, or None."""
        value: str | None = self._value("SELECT value FROM meta WHERE key = ?", key)
        return value

    def set(self, key: str, value: str | None) -> None:
        """Set a key; None deletes it."""
        if value is None:
            self._db.execute("DELETE FROM meta WHERE key = ?", (key,))
        else:
            self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


def changes_seen(connection: apsw.Connection) -> tuple[object, int]:
    """Return a value that changes with commits of other processes and writes of this connection."""
    return connection.pragma("data_version"), connection.total_changes()


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
        now = monotonic()
        if not tries:
            self._began = now
        if now - self._began >= self._seconds:
            return False
        sleep(_SHORTEST_SLEEP + _SLEEPS * os.urandom(1)[0] / 255)
        return True


LONGEST_VALUE = 1 << 26
"""Maximum bytes of a text, a blob, a row, or a bound value."""

_LIMITS = {
    apsw.SQLITE_LIMIT_LENGTH: LONGEST_VALUE,
    apsw.SQLITE_LIMIT_SQL_LENGTH: 1 << 20,
    apsw.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 4096,  # the longest path
    apsw.SQLITE_LIMIT_COMPOUND_SELECT: 20,
    apsw.SQLITE_LIMIT_COLUMN: 100,
    apsw.SQLITE_LIMIT_VDBE_OP: 100_000,
    apsw.SQLITE_LIMIT_TRIGGER_DEPTH: 10,
    apsw.SQLITE_LIMIT_ATTACHED: 1,  # VACUUM needs it
}

_LEAST_STEPS, _MOST_STEPS = 5_000_000, 100_000_000
"""Steps of SQLite's virtual machine before the file is checked: milliseconds to seconds."""


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
                raise StoreDamaged(
                    f"{path}: is damaged: run 'lore doctor', "
                    "or import your last export into a new one"
                )
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
    except (apsw.CorruptError, apsw.NotADBError):
        return False
    except apsw.Error:
        return True
    return not str(found).startswith("***")  # heads the errors of pages, not of rows


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
