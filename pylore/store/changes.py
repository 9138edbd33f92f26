"""The change log: what records, links and anchors have left, and the commands that changed them.

The row of a thing has its current values, and ``stamps`` for them (``core.stamps``); ``past`` has
the values that its fields have left, each with its stamp and the command that replaced it, and
``added`` the things that each command made. Files and symbols, and links that lore derives, have
no past.
"""

from __future__ import annotations

import os
from itertools import groupby
from operator import itemgetter

from ..core.json import dumps
from ..core.model import Anchor, Edge, Node, Past, PastCommand
from ..core.stamps import (
    BASE,
    Stamped,
    changed,
    clock,
    first_clock,
    has_history,
    latest,
    next_clock,
    states,
)
from ..core.times import now
from .connection import TO_WIPE, apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from ..core.stamps import Thing, Value

SEPARATOR = "\x1f"
"""Between the parts of the key of a link or an anchor; no id, relation or path has it."""

SEEN = ""
"""Field of a change that a record has seen elsewhere, and of which no value is here."""

MERGES = ("import", "sync")
"""Commands that may leave a value for one that was known before it."""

RESTORE_BACKUP = "restore-backup"
"""The name of this command: only the file that it keeps can take it back."""


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


class ChangeLog:
    """Reads and writes the change log; what writes is called in a transaction."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    # --- commands

    @property
    def command(self) -> int:
        """The number of the command under way; a change without a command begins one."""
        row: str = self._db.execute("SELECT value FROM meta WHERE key = 'command'").get or ""
        known, _, name = row.partition(" ")
        if known:
            return int(known)
        self._db.execute("INSERT INTO main.commands(name, at) VALUES (?, ?)", (name, now()))
        number = self._db.last_insert_rowid()
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('command', ?)", (f"{number} {name}",))
        return number

    @property
    def swept(self) -> str:
        """The time before which the log was swept; empty if it never was."""
        return self._db.execute("SELECT value FROM meta WHERE key = 'swept'").get or ""

    def commands(self, after: int = 0) -> list[PastCommand]:
        """Return the commands that changed the store since one, the last one first."""
        rows = self._db.execute(
            "SELECT id, name, at FROM commands WHERE id > ? AND name <> '' ORDER BY id DESC",
            (after,),
        )
        return [PastCommand(*row) for row in rows]

    def last_command(self) -> int:
        """Return the number of the last command; 0 before the first."""
        return self._db.execute("SELECT coalesce(max(id), 0) FROM commands").get or 0

    def added_by(self, command: int) -> list[str]:
        """Return the keys of the things that a command made."""
        return self._things("added", command)

    def left_by(self, command: int) -> list[str]:
        """Return the keys of the things that a command changed."""
        return self._things("past", command)

    def _things(self, table: str, command: int) -> list[str]:
        rows = self._db.execute(
            f"SELECT DISTINCT thing FROM {table} WHERE command = ? ORDER BY thing", (command,)
        )
        return [str(thing) for (thing,) in rows]

    def since(self, command: int, until: int, but: str) -> tuple[set[str], set[str]]:
        """Return the things that commands have made or changed, and the ids of those records among
        them that may be told to others, or not any more, since.

        ``command`` is the last command before these, ``until`` the last one of them; those from
        the hub ``but`` do not count.
        """
        made = {*self._by_others("thing FROM added", command, until, but)}
        changed = {*self._by_others("thing FROM past", command, until, but)}
        told = self._by_others(
            "thing FROM past", command, until, but,
            " AND (field = 'status' OR substr(field, 1, 5) = 'tags.')",
        )  # fmt: skip
        return made | changed, {thing for thing in (*made, *told) if SEPARATOR not in thing}

    def _by_others(
        self, what: str, command: int, until: int, but: str, which: str = ""
    ) -> Iterator[str]:
        rows = self._db.execute(
            f"SELECT DISTINCT {what} CROSS JOIN commands c ON c.id = command"
            f" WHERE command > ? AND command <= ? AND c.origin <> ?{which}",
            (command, until, but),
        )
        return (str(thing) for (thing,) in rows)

    def came_from(self, hub: str, after: int) -> None:
        """Note that the commands after one were those of a hub."""
        self._db.execute("UPDATE main.commands SET origin = ? WHERE id > ?", (hub, after))

    def before(self, command: int, row: Thing) -> Thing:
        """Return a row as it would be without a command: fields that changed again since stay."""
        thing, current = thing_of(row), Stamped.of(row)
        former = ((field, value) for _, field, value in self.former([thing]))
        known = _values(current, former)
        fields = dict(current.fields)
        left: dict[str, list[Value]] = {}
        for field, stamp, value in self._db.execute(
            "SELECT field, stamp, value FROM past WHERE thing = ? AND command = ?"
            " AND field NOT IN (?, ?) ORDER BY stamp, value",
            (thing, command, BASE, SEEN),
        ):
            left.setdefault(str(field), []).append((str(stamp), str(value)))
        merged = self._name(command) in MERGES
        for field, values in left.items():
            then = min((one for one in known[field] if one > values[-1]), default=("", ""))
            if merged or then[1] == current.at(field)[1]:
                fields[field] = values[0]
        return Stamped(current.base, fields, current.kind).to_row(row)

    def _name(self, command: int) -> str:
        return self._db.execute("SELECT name FROM commands WHERE id = ?", (command,)).get or ""

    # --- writing

    def machine(self) -> str:
        """Return ten digits by which the stamps of this store differ from those of others.

        They are drawn by chance, and drawn again where the file is another one than before: a copy
        of a store is another store.
        """
        path = self._db.filename
        file = str(os.stat(path).st_ino) if path else ""
        known: str | None = self._db.execute("SELECT value FROM meta WHERE key = 'machine'").get
        digits, _, of = (known or "").partition(" ")
        if not digits or of != file:
            digits = os.urandom(5).hex()
            self._db.execute(
                "INSERT OR REPLACE INTO meta VALUES ('machine', ?)", (f"{digits} {file}",)
            )
        return digits

    def record(self, old: Thing | None, row: Thing) -> None:
        """Give a row its stamps, later than the old row's and than a purge; keep what that
        leaves."""
        row.stamps = ""
        gone = self.purged_at(row)
        if old is None or not has_history(old):
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
            self.replace(thing_of(row), sorted(left.items()))
            return
        row.stamps = old.stamps
        if isinstance(row, Node) and isinstance(old, Node):  # but for the reads it is the same
            row.updated_at = old.updated_at

    def add(self, rows: Iterable[Thing]) -> None:
        """Note rows as made by the command under way."""
        command = self.command
        self._db.executemany(
            "INSERT INTO main.added VALUES (?, ?)", ((command, thing_of(row)) for row in rows)
        )

    def stamp(self, before: str) -> str:
        """Return the stamp of a change of now, later than a time."""
        return f"{next_clock(before, now())} {self.machine()}"

    def purged_at(self, row: Thing) -> str:
        """Return when the last of the records that a row hangs on was deleted for good; empty if
        none was."""
        ids = owners(thing_of(row))
        found = self._db.execute("SELECT max(at) FROM purged WHERE id IN (?, ?)", (ids[0], ids[-1]))
        return found.get or ""

    def replace(self, thing: str, values: Sequence[tuple[str, Value]]) -> None:
        """Write values that a thing has left by the command under way."""
        if values:
            self.leave(thing, values, self.command)

    def leave(self, thing: str, values: Iterable[tuple[str, Value]], command: int | None) -> None:
        """Write values that a thing has left, and the command of this store that replaced them."""
        self._db.executemany(
            "INSERT OR IGNORE INTO main.past VALUES (?, ?, ?, ?, ?)",
            ((thing, field, *value, command) for field, value in values),
        )

    def take_back(self, thing: str, values: Iterable[tuple[str, Value]]) -> None:
        """Take values that the thing has now out of its past: they came before it did."""
        self._db.executemany(
            "DELETE FROM main.past WHERE thing = ? AND field = ? AND stamp = ? AND value = ?",
            ((thing, field, *value) for field, value in values),
        )

    # --- reading

    def former(self, things: Sequence[str] | None = None) -> Iterator[tuple[str, str, Value]]:
        """Yield (thing, field, value) that these things, or all, have left, by thing and stamp."""
        which = "" if things is None else " AND thing IN (SELECT value FROM json_each(?))"
        for thing, field, *value in self._db.execute(
            f"SELECT thing, field, stamp, value FROM past WHERE field <> '{SEEN}'{which}"
            " ORDER BY thing, stamp, field, value",
            () if things is None else (dumps([*things]),),
        ):
            yield str(thing), str(field), (str(value[0]), str(value[1]))

    def of(self, row: Thing) -> list[Past]:
        """Return the states that a thing has left, the first one first."""
        thing, current = thing_of(row), Stamped.of(row)
        rows: list[Any] = self._db.execute(
            "SELECT p.field, p.stamp, p.value, p.command, coalesce(c.name, 'import') FROM past p"
            " LEFT JOIN commands c ON c.id = p.command WHERE p.thing = ?", (thing,)
        ).fetchall()  # fmt: skip
        former = [(field, (stamp, value)) for field, stamp, value, *_ in rows if field != SEEN]
        every = states(current, former)
        by = _commands_by_stamp(_values(current, former), rows)
        swept = self.swept
        unknown = {stamp for field, stamp, *_ in rows if field == SEEN}
        found = []
        for (before, state), (stamp, _) in zip(every, every[1:], strict=False):
            at = stamp.partition(" ")[0]
            change, command = by.get(stamp, ("import", None))
            if at >= swept and before not in unknown:
                found.append(Past(state.to_row(row), change or "changed", at, command))
        return found

    # --- changes that were seen elsewhere

    def seen(self, ids: Sequence[str] | None = None) -> dict[str, list[str]]:
        """Return the stamps of changes of these records, or of all, that are not wholly here."""
        which = "" if ids is None else " AND thing IN (SELECT value FROM json_each(?))"
        found: dict[str, list[str]] = {}
        for id, stamp in self._db.execute(
            f"SELECT thing, stamp FROM past WHERE field = '{SEEN}'{which} ORDER BY thing, stamp",
            () if ids is None else (dumps([*ids]),),
        ):
            found.setdefault(id, []).append(stamp)
        return found

    def add_seen(self, id: str, stamps: Iterable[str]) -> None:
        """Keep stamps of changes that a record has seen elsewhere."""
        self.leave(id, [(SEEN, (stamp, "")) for stamp in stamps], None)

    def drop_seen(self, id: str, stamps: Iterable[str]) -> None:
        """Forget these stamps: the values of the changes have come."""
        self.take_back(id, [(SEEN, (stamp, "")) for stamp in stamps])

    # --- sweeping and purging

    def older(self, before: str) -> int:
        """Return how many changes were made before a time and can be swept."""
        found = self._db.execute(f"SELECT count(*) FROM (SELECT DISTINCT thing, stamp {_OLD})",
                                 (before, before))  # fmt: skip
        return int(found.get)

    def sweep(self, before: str) -> int:
        """Delete the past before a time, and the commands from before; return how many changes.

        Purges stay, and so do the stamps of the latest changes, which merging asks for.
        """
        swept = self.older(before)
        left = self._db.execute(f"SELECT thing, stamp {_OLD} ORDER BY thing", (before, before))
        found: list[Any] = left.fetchall()
        for thing, rows in groupby(found, itemgetter(0)):
            if SEPARATOR not in thing:
                self.add_seen(thing, latest(stamp for _, stamp in rows))
        self._db.execute(f"DELETE {_OLD}", (before, before))
        self._db.execute(
            "DELETE FROM main.added WHERE command IN"
            " (SELECT id FROM main.commands WHERE at < ?)", (before,)
        )  # fmt: skip
        self._db.execute("DELETE FROM main.commands WHERE at < ?", (before,))
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('swept', ?)", (before,))
        return swept

    def purged(self, ids: Sequence[str] | None = None) -> dict[str, str]:
        """Return those of these ids, or all, that were deleted for good: id to when."""
        return self._purges("NOT proposed", ids)

    def proposed_purges(self) -> dict[str, str]:
        """Return what files say was deleted for good, and nobody here yet: id to when."""
        return self._purges("proposed")

    def deleted(self) -> dict[str, str]:
        """Return what was deleted for good here, or elsewhere by what others say: id to when."""
        return self._purges("1")

    def _purges(self, which: str, ids: Sequence[str] | None = None) -> dict[str, str]:
        some = "" if ids is None else " AND id IN (SELECT value FROM json_each(?))"
        return dict(self._db.execute(
            f"SELECT id, max(at) FROM purged WHERE {which}{some} GROUP BY id ORDER BY id",
            () if ids is None else (dumps([*ids]),),
        ))  # fmt: skip

    def propose_purge(self, id: str, at: str) -> None:
        """Keep that others say a record was deleted for good; ``purge`` ends it."""
        self._db.execute("INSERT OR REPLACE INTO main.purged VALUES (?, ?, 1)", (id, at))

    def purge(self, id: str, at: str) -> None:
        """Forget what a record, its links and its anchors have left up to a time, for good.

        The rows themselves are the caller's. ``Store.wipe`` is due.
        """
        _ = self.command  # a purge is a command, though it has left nothing
        self._db.execute(
            f"DELETE FROM main.past WHERE {_HANGS_ON}"
            " AND substr(stamp, 1, instr(stamp, ' ') - 1) <= ?2",
            (id, at),
        )
        self._db.execute(f"DELETE FROM main.added WHERE {_HANGS_ON}", (id,))
        self._db.execute("DELETE FROM main.purged WHERE id = ? AND proposed", (id,))
        self._db.execute(
            "INSERT INTO main.purged VALUES (?, ?, 0)"
            " ON CONFLICT DO UPDATE SET at = max(at, excluded.at)",
            (id, at),
        )
        self.leave_to_wipe(at)

    def leave_to_wipe(self, at: str) -> None:
        """Remember that texts were deleted for good at a time: ``Store.wipe`` is due."""
        self._db.execute("INSERT OR REPLACE INTO main.meta VALUES (?, ?)", (TO_WIPE, at))


def _values(current: Stamped, former: Iterable[tuple[str, Value]]) -> dict[str, list[Value]]:
    """Return all known values of each field that a thing has left, the first one first."""
    found: dict[str, set[Value]] = {}
    for field, value in former:
        found.setdefault(field, set()).add(value)
    for field in found:
        found[field].add(current.at(field))
    return {field: sorted(some) for field, some in found.items()}


def _commands_by_stamp(
    known: dict[str, list[Value]], rows: Sequence[Any]
) -> dict[str, tuple[str, int | None]]:
    """Return the stamp of each change to the name and number of the command that made it."""
    found: dict[str, tuple[str, int | None]] = {}
    for field, stamp, value, command, name in rows:
        later = [one[0] for one in known.get(field, ()) if one > (stamp, value)]
        if later and command is not None and (later[0] not in found or name not in MERGES):
            found[later[0]] = (name, command)
    return found


_HANGS_ON = (
    f"(thing = ?1 OR substr(thing, 1, length(?1) + 1) = ?1 || '{SEPARATOR}'"
    f" OR instr(thing, '{SEPARATOR}' || ?1 || '{SEPARATOR}') > 0)"
)
_OLD = (
    "FROM main.past WHERE field <> '' AND"
    " iif(command IS NULL, stamp < ?, command IN (SELECT id FROM main.commands WHERE at < ?))"
)
