"""The change log: former values of records, links and anchors, and the commands that changed them.
Rows have current values, and ``stamps`` for them (``core.stamps``); ``past`` has the former values
of fields, with stamp and the command that replaced them, ``added`` the things that each command
made. Files, symbols, and links that lore derives have no past."""

from __future__ import annotations

import os
from itertools import groupby, pairwise
from operator import itemgetter

from ..core.json import dumps, loads
from ..core.model import Anchor, Edge, Node, Row
from ..core.stamps import BASE, Stamped, changed, clock, first_clock, has_history, latest, states
from ..core.times import now, now_after
from .connection import TO_WIPE, Meta, Table, apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from ..core.stamps import State, Thing, Value

SEPARATOR = "\x1f"
"""Separates the parts of the key of a link or an anchor; no id, relation or path has it."""

SEEN = ""
"""Field of a change elsewhere; the value, an empty text here, is unknown."""

MERGES = ("import", "sync")
"""Commands that may replace a value by an older value."""

RESTORE_BACKUP = "restore-backup"
"""Name of a command that only the kept file can undo."""


def thing_of(row: Thing) -> str:
    """Return the key of a row in ``past``."""
    return row.id if isinstance(row, Node) else SEPARATOR.join(row.key)


def owners(thing: str) -> tuple[str, ...]:
    """Return the ids of the records that a thing hangs on.

    >>> owners("note-1"), owners("note-1\\x1fnote-2\\x1frelates_to")
    (('note-1',), ('note-1', 'note-2'))
    >>> owners("note-1\\x1ffile\\x1fsrc/a.py\\x1f")
    ('note-1',)
    """
    parts = thing.split(SEPARATOR)
    return (parts[0], parts[1]) if len(parts) == 3 else (parts[0],)


def row_of_thing(thing: str) -> Thing:
    """Return a row with the key of a thing, and the defaults of all other fields."""
    parts = thing.split(SEPARATOR)
    if len(parts) == 1:
        return Node(thing, "")
    if len(parts) == 3:
        return Edge(parts[0], parts[1], parts[2])
    return Anchor(parts[0], parts[1], parts[2], parts[3])


class PastCommand(Row):
    """A command that changed a store; ``undone_by`` is the number of the undo that holds."""

    id: int
    name: str
    at: str
    undone_by: int | None = None


class Past(Row):
    """A former state of a thing, and the name of the command and the time of the change that ended
    it. The access counts of ``row`` are of no particular moment."""

    row: Any
    change: str
    changed_at: str


class ChangeLog(Table):
    """Reads and writes the change log; the caller holds a transaction for writes."""

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self._meta = Meta(connection)

    # --- commands

    @property
    def command(self) -> int:
        """The number of the running command, or of a new command."""
        known, _, name = (self._meta.get("command") or "").partition(" ")
        if known:
            return int(known)
        self._db.execute("INSERT INTO main.commands(name, at) VALUES (?, ?)", (name, now()))
        number = self._db.last_insert_rowid()
        self._meta.set("command", f"{number} {name}")
        return number

    @property
    def swept(self) -> str:
        """The time before which the log was swept, or an empty text."""
        return self._meta.get("swept") or ""

    def commands(self, after: int = 0) -> list[PastCommand]:
        """Return the named commands after a number, latest first."""
        where = "id > ? AND name <> '' ORDER BY id DESC"
        rows = self._rows(f"SELECT id, name, at, undone_by FROM commands WHERE {where}", after)
        return [PastCommand(*row) for row in rows]

    def last_command(self) -> int:
        """Return the number of the last command; 0 before the first."""
        return int(self._value("SELECT coalesce(max(id), 0) FROM commands"))

    def things(self, command: int) -> tuple[list[str], list[str]]:
        """Return the keys of the things that a command added, and of changed things."""
        query = "SELECT DISTINCT thing FROM {} WHERE command = ? ORDER BY thing"
        added, changed = (self._column(query.format(table), command) for table in ("added", "past"))
        return added, changed

    def since(self, after: int, until: int, but: str) -> tuple[set[str], set[str]]:
        """Return the things that commands added or changed, and the ids of records that were added,
        or changed in status. The commands are those after ``after`` up to ``until``, without
        commands from the hub ``but``."""
        query = (
            "SELECT DISTINCT thing, is_told FROM (SELECT command, thing, 1 AS is_told FROM added"
            " UNION ALL SELECT command, thing, field = 'status' FROM past)"
            " CROSS JOIN commands c ON c.id = command"
            " WHERE command > ? AND command <= ? AND c.origin <> ?"
        )
        rows = self._rows(query, after, until, but)
        told = {thing for thing, is_told in rows if is_told and SEPARATOR not in thing}
        return {thing for thing, _ in rows}, told

    def set_undone(self, command: int, undo: int | None) -> None:
        """Set the undo that took a command back; None: the command holds."""
        self._db.execute("UPDATE main.commands SET undone_by = ? WHERE id = ?", (undo, command))

    def set_origin(self, hub: str, after: int) -> None:
        """Set the origin of the commands after a number."""
        self._db.execute("UPDATE main.commands SET origin = ? WHERE id > ?", (hub, after))

    def before(self, command: int, row: Thing) -> Thing:
        """Return a row without the changes of a command, unless fields changed again since."""
        current = Stamped.of(row)
        rows = self._rows(
            "SELECT field, stamp, value, command = ? FROM past WHERE thing = ?"
            " AND field NOT IN (?, ?) ORDER BY field, stamp, value",
            *(command, thing_of(row), BASE, SEEN),
        )
        is_merge = self._value("SELECT name FROM commands WHERE id = ?", command) in MERGES
        fields = dict(current.fields)
        for field, some in groupby(rows, itemgetter(0)):
            values = [*some, (field, *current.at(field), 0)]
            left = [number for number, (*_, is_left) in enumerate(values) if is_left]
            if left and (is_merge or values[left[-1] + 1][2] == values[-1][2]):
                fields[field] = values[left[0]][1:3]
        return Stamped(current.base, fields, current.kind).to_row(row)

    # --- writing

    def machine(self) -> str:
        """Return this store's ten random digits for stamps; a copy of the file gets new ones."""
        path = self._db.filename
        file = str(os.stat(path).st_ino) if path else ""
        digits, _, of = (self._meta.get("machine") or "").partition(" ")
        if not digits or of != file:
            digits = os.urandom(5).hex()
            self._meta.set("machine", f"{digits} {file}")
        return digits

    def record(self, old: Thing | None, row: Thing) -> None:
        """Give a row stamps later than the old row's and a purge's; log the old values."""
        row.stamps = ""
        ids = owners(thing_of(row))
        gone = self._value("SELECT max(at) FROM purged WHERE id IN (?, ?)", ids[0], ids[-1]) or ""
        if old is None or not (has_history(old) or has_history(row)):
            if gone and first_clock(row) <= gone:
                row.stamps = dumps({BASE: self.stamp(gone)})
            if old is None and (has_history(row) or isinstance(row, Node)):
                self.add([row])
            return
        before = max(gone, clock(old))
        at = first_clock(row)
        values = Stamped.of(old)
        left = changed(values, row, f"{at} {self.machine()}" if at > before else self.stamp(before))
        if left:
            self.log(thing_of(row), sorted(left.items()), self.command)
            return
        row.stamps = old.stamps
        if isinstance(row, Node) and isinstance(old, Node):  # only reads differ
            row.updated_at = old.updated_at

    def add(self, rows: Sequence[Thing]) -> None:
        """Log rows as added by the running command."""
        command = self.command if rows else 0
        new = ((command, thing_of(row)) for row in rows)
        self._db.executemany("INSERT INTO main.added VALUES (?, ?)", new)

    def stamp(self, before: str) -> str:
        """Return a stamp of now, later than a time."""
        return f"{now_after(before)} {self.machine()}"

    def replace(self, row: State, old: Stamped, new: Stamped) -> State:
        """Log the values of a row that the running command replaced; return the new row."""
        if left := old.lost_to(new):
            self.log(thing_of(row), left, self.command)
        return new.to_row(row)

    def log(self, thing: str, values: Iterable[tuple[str, Value]], command: int | None) -> None:
        """Log former values, with the number of the command here that replaced them, or None."""
        rows = ((thing, field, *value, command) for field, value in values)
        self._db.executemany("INSERT OR IGNORE INTO main.past VALUES (?, ?, ?, ?, ?)", rows)

    def delete_former(self, thing: str, values: Iterable[tuple[str, Value]]) -> None:
        """Delete current values from the past of a thing: the past arrived first."""
        this = "thing = ? AND field = ? AND stamp = ? AND value = ?"
        rows = ((thing, field, *value) for field, value in values)
        self._db.executemany(f"DELETE FROM main.past WHERE {this}", rows)

    # --- reading

    def _some(self, query: str, ids: Sequence[str] | None, column: str, order: str) -> Any:
        """Return an iterator over the rows of some ids, or of all."""
        which = "" if ids is None else f" AND {column} IN (SELECT value FROM json_each(?))"
        given = () if ids is None else (dumps([*ids]),)
        return self._db.execute(f"{query}{which} {order}", given)

    def former(self, things: Sequence[str] | None = None) -> Iterator[tuple[str, str, Value]]:
        """Yield (thing, field, former value) of these things, or of all, by thing and stamp."""
        query = f"SELECT thing, field, stamp, value FROM past WHERE field <> '{SEEN}'"
        rows = self._some(query, things, "thing", "ORDER BY thing, stamp, field, value")
        return ((thing, field, (stamp, value)) for thing, field, stamp, value in rows)

    def of(self, row: Thing) -> list[Past]:
        """Return the former states of a thing, oldest first."""
        current = Stamped.of(row)
        rows = self._rows(
            "SELECT p.field, p.stamp, p.value, c.name FROM past p"
            " LEFT JOIN commands c ON c.id = p.command WHERE p.thing = ?"
            " ORDER BY p.field, p.stamp, p.value",
            thing_of(row),
        )
        unknown = {stamp for field, stamp, *_ in rows if field == SEEN}
        rows = [one for one in rows if one[0] != SEEN]
        by: dict[str, str] = {}  # stamp of a change to the name of the command
        for field, some in groupby(rows, itemgetter(0)):
            values = [*some, (field, *current.at(field), None)]
            for (*_, name), (_, later, *_) in pairwise(values):
                if name is not None and (later not in by or name not in MERGES):
                    by[later] = name
        every = states(current, [(field, (stamp, value)) for field, stamp, value, _ in rows])
        swept = self.swept
        return [
            Past(state.to_row(row), by.get(stamp, "import") or "changed", at)
            for (before, state), (stamp, _) in pairwise(every)
            if (at := stamp.partition(" ")[0]) >= swept and before not in unknown
        ]

    # --- changes that were seen elsewhere

    def seen(self, things: Sequence[str] | None = None) -> dict[str, set[str]]:
        """Return the stamps of former changes of these things, or of all, with known and unknown
        values."""
        found: dict[str, set[str]] = {}
        rows = self._some("SELECT thing, stamp FROM past WHERE 1", things, "thing", "")
        for thing, stamp in rows:
            found.setdefault(thing, set()).add(stamp)
        return found

    # --- sweeping and purging

    def older(self, before: str) -> int:
        """Return the number of changes before a time that ``sweep`` would delete."""
        query = f"SELECT count(*) FROM (SELECT DISTINCT thing, stamp {_OLD})"
        return int(self._value(query, before, before))

    def sweep(self, before: str) -> int:
        """Delete the past and the commands before a time; return the number of changes. Purges and
        the stamps of the latest changes stay, because merging needs them."""
        swept = self.older(before)
        found = self._rows(f"SELECT thing, stamp {_OLD} ORDER BY thing", before, before)
        for thing, rows in groupby(found, itemgetter(0)):
            if SEPARATOR not in thing:
                known = latest(stamp for _, stamp in rows)
                self.log(thing, [(SEEN, (stamp, "")) for stamp in known], None)
        self._db.execute(f"DELETE {_OLD}", (before, before))
        old = "SELECT id FROM main.commands WHERE at < ?"
        self._db.execute(f"DELETE FROM main.added WHERE command IN ({old})", (before,))
        # Undone ones stay: candidates that they promoted are open.
        self._db.execute("DELETE FROM main.commands WHERE at < ? AND undone_by IS NULL", (before,))
        self._meta.set("swept", before)
        return swept

    def purged(self, ids: Sequence[str] | None = None) -> dict[str, str]:
        """Return the purged ids in ``ids``, or all, with the time."""
        return self._purges("NOT proposed", ids)

    def proposed_purges(self) -> dict[str, str]:
        """Return the ids that files propose to purge, with the time."""
        return self._purges("proposed")

    def deleted(self, ids: Sequence[str] | None = None) -> dict[str, str]:
        """Return the ids in ``ids``, or all, that are purged or proposed to be, with the time."""
        return self._purges("1", ids)

    def _purges(self, which: str, ids: Sequence[str] | None = None) -> dict[str, str]:
        query = f"SELECT id, max(at) FROM purged WHERE {which}"
        return dict(self._some(query, ids, "id", "GROUP BY id ORDER BY id"))

    def propose_purge(self, id: str, at: str) -> None:
        """Log that a file proposes a purge; ``purge`` deletes the proposal."""
        self._db.execute("INSERT OR REPLACE INTO main.purged VALUES (?, ?, 1)", (id, at))

    def purge(self, id: str, at: str) -> None:
        """Delete the past of a record and of the record's links and anchors up to a time. The
        caller deletes the rows, and calls ``Store.wipe``."""
        _ = self.command  # so that a purge is a command, which has no past
        until = "substr(stamp, 1, instr(stamp, ' ') - 1) <= ?2"
        self._db.execute(f"DELETE FROM main.past WHERE {_HANGS_ON} AND {until}", (id, at))
        self._db.execute(f"DELETE FROM main.added WHERE {_HANGS_ON}", (id,))
        self._db.execute("DELETE FROM main.purged WHERE id = ? AND proposed", (id,))
        later = "ON CONFLICT DO UPDATE SET at = max(at, excluded.at)"
        self._db.execute(f"INSERT INTO main.purged VALUES (?, ?, 0) {later}", (id, at))
        self._meta.set(TO_WIPE, at)  # for Store.wipe


_HANGS_ON = (
    f"instr(thing, ?1) AND (thing = ?1 OR substr(thing, 1, length(?1) + 1) = ?1 || '{SEPARATOR}'"
    f" OR substr(thing, instr(thing, '{SEPARATOR}') + 1, length(?1) + 1) = ?1 || '{SEPARATOR}')"
)
_OLD = (
    "FROM main.past WHERE field <> '' AND"
    " iif(command IS NULL, stamp < ?, command IN (SELECT id FROM main.commands WHERE at < ?))"
)


# --- hubs


class RemoteProgress(Row):
    """How far a store is with a remote; backups include it.

    Attributes:
        takes: filters of what was sent.
        sees: whose lines the hub has given.
        read: number of the last line that was read.
        mark: [number, time] of the last known line; a hub that lacks it has lost lines.
        sent: the last command of which everything was sent; -1 before the first.
        extra: digest of the declarations and purges that were sent.
        again: things to be sent again.
        wrote: True if the hub has lines of this store.
    """

    name: str
    takes: str = ""
    sees: str = ""
    read: int = 0
    mark: Sequence[Any] = (0, None)
    sent: int = -1
    extra: str = ""
    again: Sequence[str] = ()
    synced_at: str = ""
    wrote: bool = False


class Remotes(Table):
    """Reads and writes the progress with hubs, as JSON in ``meta``."""

    def _all(self) -> dict[str, dict[str, Any]]:
        """Return name to fields."""
        return dict(loads(Meta(self._db).get("remotes") or "{}"))

    def get(self, name: str) -> RemoteProgress:
        """Return the progress with a remote, at the beginning if it is new."""
        return RemoteProgress(**self._all().get(name, {"name": name, "mark": [0, None]}))

    def put(self, progress: RemoteProgress) -> None:
        """Write the progress with a remote."""
        known = self._all() | {progress.name: progress.to_dict()}
        Meta(self._db).set("remotes", dumps(known))

    def send_again(self, things: Iterable[str]) -> None:
        """Let all remotes get these things again, which no command changed."""
        for fields in self._all().values():
            again = sorted({*fields["again"], *things})
            self.put(RemoteProgress(**fields | {"again": again}))
