"""Connections to SQLite: waiting for locks, limits of a statement, ids and keys of nodes."""

from __future__ import annotations

import os
import sys
from time import monotonic, sleep

from ..core.errors import StoreDamaged
from ..core.json import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping


__all__ = ["apsw", "changes_seen"]

# apsw imports collections.abc, whose package takes 2 ms to load. The module below it, which is
# loaded already, has the same names.
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


def changes_seen(connection: apsw.Connection) -> tuple[object, int]:
    """Return what is equal as long as a connection sees a store as it was.

    The one changes with what others commit, the other with what this connection writes.
    """
    return connection.pragma("data_version"), connection.total_changes()


NOTICE = 1.0
"""Seconds after which a writer prints that it waits."""

_SHORTEST_SLEEP, _SLEEPS = 0.001, 0.004
"""Seconds between two tries to get a lock: the least, and what chance adds at most."""


def tell(message: str) -> None:
    """Print that a writer waits: nothing, until ``tell_waiting`` puts another in its place."""


class BusyHandler:
    """Tries to get a lock at random moments for ``seconds``, so that each writer has its turn.

    SQLite's own handler sleeps longer after each try: who has waited long asks seldom. Of 32
    writers beside one that held the lock for 2 s at a time none waited longer than 8 s so, and
    15 s with SQLite's.
    """

    __slots__ = ("_began", "_seconds", "_told")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._began = 0.0
        self._told = False

    def __call__(self, tries: int) -> bool:
        """Return True to try again."""
        now = monotonic()
        if not tries:
            self._began, self._told = now, False
        waited = now - self._began
        if waited >= NOTICE and not self._told:
            self._told = True
            tell("waiting for another process, which writes to the store")
        if waited >= self._seconds:
            return False
        sleep(_SHORTEST_SLEEP + _SLEEPS * os.urandom(1)[0] / 255)
        return True


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


_NEXT = (
    "1 + max((SELECT coalesce(max(key), 0) FROM main.nodes),"
    " (SELECT coalesce(max(key), 0) FROM main.absent))"
)

NEW_KEY = f"coalesce((SELECT key FROM absent WHERE id = {{id}}), {_NEXT})"
"""An expression: the key of a node that comes, with the mark of its id as ``id``."""

KEY_OF = "coalesce((SELECT key FROM nodes WHERE id = {0}), (SELECT key FROM absent WHERE id = {0}))"
"""An expression: the key of an id; NULL where nobody has named it."""

ID_OF = "coalesce((SELECT id FROM nodes WHERE key = {0}), (SELECT id FROM absent WHERE key = {0}))"
"""An expression: the id that a key stands for."""

TO_WIPE = "to_wipe"
"""Key in ``meta`` while free pages may hold what was deleted for good."""

CHANGED_AT = (
    "max(e.created_at, coalesce((SELECT max(substr(s.value, 1, 20))"
    " FROM json_each(nullif(e.stamps, '')) s), ''))"
)
"""An expression: when the edge ``e`` was last changed."""

EDGE_ENDS = f"{ID_OF.format('from_key')} AS from_id, {ID_OF.format('to_key')} AS to_id"
"""Two columns of a query on ``links``."""


_KEYS = "SELECT e.id, e.key FROM json_each(?) j CROSS JOIN {} e ON e.id = j.value"
_JOINED_IDS = (
    "SELECT group_concat(n.id, char(31)) FROM json_each(?) j CROSS JOIN nodes n ON n.key = j.value"
)
_IDS = f"SELECT CAST(j.value AS TEXT), {ID_OF.format('j.value')} FROM json_each(?) j"


def keys_of(connection: apsw.Connection, ids: Collection[str]) -> dict[str, int]:
    """Return the keys of those ids that have one, in their order, nodes first."""
    found = dict(connection.execute(_KEYS.format("nodes"), (_list(ids),)))
    if len(found) < len(ids):
        lacking = [id for id in ids if id not in found]
        found.update(connection.execute(_KEYS.format("absent"), (_list(lacking),)))
    return found


def key_of(connection: apsw.Connection, id: str) -> int | None:
    """Return the key of one id; None where nobody has named it."""
    return keys_of(connection, [id]).get(id)


def _list(ids: Iterable[str]) -> str:
    return f"[{','.join(map(quote, ids))}]"


def ids_of(connection: apsw.Connection, keys: Collection[str]) -> dict[str, str]:
    """Return the ids that these keys stand for, which are given in digits."""
    given = f"[{','.join(keys)}]"
    # One long string reaches Python faster than as many rows, and no id has this character.
    text: str | None = connection.execute(_JOINED_IDS, (given,)).get
    found = text.split("\x1f") if text else []
    if len(found) == len(keys):
        return dict(zip(keys, found, strict=True))
    return dict(connection.execute(_IDS, (given,)))


def given_keys(connection: apsw.Connection, ids: Iterable[str]) -> Mapping[str, int]:
    """Return the keys of these ids; what has none is absent, and gets one."""
    wanted = dict.fromkeys(ids)
    found = keys_of(connection, wanted.keys())
    lacking = [id for id in wanted if id not in found]
    if lacking:
        connection.executemany(
            f"INSERT INTO main.absent(key, id) SELECT {_NEXT}, ?", ((id,) for id in lacking)
        )
        found.update(keys_of(connection, lacking))
    return found
