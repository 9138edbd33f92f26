"""What a store says, in few bytes: for telling quickly where two stores differ.

SQLite puts the fields of a row together itself: to read a hundred thousand records as
objects takes several times as long.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter

from ..core.json import dumps
from ..core.model import EDGE_HISTORY, Edge, Node, Past, PastCommand
from ..core.stamps import Stamped, latest, states
from .anchors import ANCHOR_HISTORY, Anchor
from .connection import EDGE_ENDS, KEY_OF, TO_WIPE, apsw, deleted
from .edges import INSERT_EDGE, edge_rows
from .nodes import COLUMNS, FIELDS_OF_N, INSERT_NODE, WITH_READS, node_of, put_reads, rows_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from ..core.model import EdgeKey
    from ..core.stamps import Value
    from .anchors import AnchorKey


_LATER = "CASE WHEN {c} > max({at}, coalesce({ended}, '')) THEN {c} ELSE '' END"
"""A clock that no other time says; of one state there may be rows with it and without."""

_EXACT = "CAST({} * 4611686018427387904.0 AS INTEGER)"
"""A number from 0 to 1 in whole 1 / 2^62, since SQLites differ in how they write fractions."""

_EDGE_SAID = ("from_id", "to_id", "relation")
_ORDINARY = "status = 'confirmed' AND source = 'user_edit' AND {} IS NULL"
_BAR = " || '|' || "
_EDGES = f"(SELECT {EDGE_ENDS}, * FROM graph_edges LIMIT -1)"


def _joined(columns: Sequence[str]) -> str:
    return _BAR.join(f"coalesce({column}, '-')" for column in columns)


def _said(
    kind: str, short: Sequence[str], texts: Sequence[str], *, rare: str = "", ordinary: str = ""
) -> str:
    """Return an expression: what is short, the lengths of texts, and these, so that no two rows
    that differ share one. ``rare`` is left out of what is ``ordinary``: most rows are."""
    parts = [f"'{kind}'", _joined(short)] if short else [f"'{kind}'"]
    if rare:
        parts.append(f"CASE WHEN {ordinary} THEN '' ELSE {rare} END")
    lengths = [f"length({text})" for text in texts[:-1]]
    return f"CAST({_BAR.join([*parts, *lengths, ' || '.join(texts)])} AS BLOB)"


def _select(table: str, id: str, said: str, json: str = "", where: str = "1") -> str:
    given = f"nullif({json}, '{{}}')" if json else "NULL"
    return f"SELECT {id}, {said}, {given} FROM {table} WHERE {where}"


def _node(kind: str, id: str, short: Sequence[str]) -> str:
    fields = ("status", "source", _EXACT.format("confidence"), "line_start", "line_end",
              "invalidated_at", "length(file)", "length(category)")  # fmt: skip
    return _said(
        kind, short, (id, "title", "tags", "body"),
        rare=f"{_joined(fields)}{_BAR}coalesce(file, '') || coalesce(category, '')",
        ordinary=f"{_ORDINARY.format('invalidated_at')} AND confidence = 1"
                 " AND coalesce(line_start, line_end, file, category) IS NULL",
    )  # fmt: skip


def _edge(kind: str, short: Sequence[str], ended: str) -> str:
    return _said(
        kind, (_EXACT.format("weight"), *short), _EDGE_SAID,
        rare=_joined(("status", "source", ended)), ordinary=_ORDINARY.format(ended),
    )  # fmt: skip


_ANCHOR = (
    "node_id", "kind", "path", "detail", "root", "hash", "commit_id", "verdict", "reason",
    "created_at", "verified_at",
)  # fmt: skip
_QUERIES = (
    (_select("nodes", "id",
             _node("node", "id", ("created_at", "updated_at", "stamps",
                                  _LATER.format(c="changed_at", at="updated_at",
                                                ended="invalidated_at"))),
             "data"), ("id",)),
    (_select(_EDGES, "from_id",
             _edge("edge", ("created_at", _LATER.format(c="changed_at", at="created_at",
                                                        ended="ended_at")), "ended_at"),
             "metadata"), ("from_id", "to_id")),
    (_select("node_history", "node_id",
             _said("was", ("stamp",), ("node_id", "field", "value")), where="NOT implied"),
     ("node_id",)),
    (_select("edge_history", "from_id",
             _edge("edge was", ("made_at", "created_at"), "invalidated_at"),
             "metadata"), ("from_id", "to_id")),
    (_select("anchors", "node_id", _said("anchor", (), _ANCHOR)), ("node_id",)),
    (_select("anchor_history", "node_id", _said("anchor was", (), ANCHOR_HISTORY)),
     ("node_id",)),
    (_select("purged", "id", _said("purged", ("at",), ("id",))), ("id",)),
)  # fmt: skip

_IDS = f"""
  SELECT id FROM nodes UNION ALL SELECT from_id FROM {_EDGES}
  UNION ALL SELECT node_id FROM node_history UNION ALL SELECT from_id FROM edge_history
  UNION ALL SELECT node_id FROM anchors UNION ALL SELECT node_id FROM anchor_history
  UNION ALL SELECT id FROM purged UNION ALL SELECT id FROM proposed_purges
  UNION ALL SELECT node_id FROM ancestors"""

_UNUSUAL = """
  SELECT id FROM proposed_purges
  UNION SELECT node_id FROM ancestors
  UNION SELECT from_id FROM edge_history GROUP BY from_id, to_id, relation, made_at
    HAVING count(*) > 1
  UNION SELECT node_id FROM anchor_history
    GROUP BY node_id, kind, path, detail, changed_at HAVING count(*) > 1"""
"""Where what is told to others is not what each row says."""


class Contents:
    """What a store says of each id, access counts left out: for telling where two differ."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def rows(self, types: Sequence[str] = ()) -> Iterator[tuple[str, bytes, str | None]]:
        """Yield ``(id, what a row says, its JSON)``, in any order; None where that is ``{}``.

        A row is a node, an edge, an anchor, or a state that one of these has left; an edge is its
        ``from_id``'s. What an export tells alike, rows say alike, in every store. With ``types``,
        nodes of these and all of their edges.
        """
        for query, ends in _QUERIES:
            kept = " OR ".join(f"{_type(end)} IN (SELECT value FROM json_each(?1))" for end in ends)
            where, given = (f" AND ({kept})", (dumps(list(types)),)) if types else ("", ())
            yield from self._db.execute(query + where, given)

    def ids(self) -> Iterator[str]:
        """Yield every id of which anything is said, some of them more than once."""
        for (id,) in self._db.execute(_IDS):
            yield id

    def unusual(self) -> set[str]:
        """Return the ids of which what is told to others is not what each row says."""
        return {str(id) for (id,) in self._db.execute(_UNUSUAL)}

    def past_edges(self, from_ids: Iterable[str]) -> Iterator[dict[str, object]]:
        """Yield the states that the edges from these nodes have left, as ``edges.history``."""
        for row in self._db.execute(
            f"SELECT {', '.join(EDGE_HISTORY)} FROM edge_history"
            " WHERE from_id IN (SELECT value FROM json_each(?))"
            " ORDER BY from_id, to_id, relation, changed_at, rowid",
            (dumps(list(from_ids)),),
        ):
            yield dict(zip(EDGE_HISTORY, row, strict=True))


def _type(id: str) -> str:
    return f"substr({id}, 1, instr({id}, '-') - 1)"


_CREATED = Anchor.__slots__.index("created_at")
_KEY = ("from_id", "to_id", "relation")

MERGES = ("import", "sync")
"""Changes that leave a state for the next known one, which need not be the current one."""

RESTORE_BACKUP = "restore-backup"
"""The name of this command: only the file that it keeps can take it back."""


def _updates(key: Sequence[str], names: Sequence[str]) -> str:
    return ", ".join(f"{name} = excluded.{name}" for name in names if name not in key)


_NODE = f"{INSERT_NODE} ON CONFLICT(id) DO UPDATE SET {_updates(('id',), COLUMNS)}"
_EDGE = f"{INSERT_EDGE} ON CONFLICT DO UPDATE SET {_updates(_KEY, Edge.FIELDS)}"


_LEFT = {
    "node_history WHERE changed_at < ?": "node_id || changed_at",
    "edge_history WHERE changed_at < ?": "rowid",
    "anchor_history WHERE changed_at < ? AND change = 'judged'": "rowid",
}
"""Rows that history_days limits, each with an expression that tells its states apart."""


class StateHistory:
    """Keep what nodes and edges have left, what commands did, and what merging needs.

    Of a node each value of a field is kept (``core.stamps``), and its states follow from them; of
    an edge each state, by triggers.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    # --- what nodes have left

    def of_node(self, id: str) -> list[Past]:
        """Return the states that a node has left, by their clocks (``node.changed_at``)."""
        node, left = self._node(id), self._left("node_id = ?", id)
        if node is None or not left:
            return []
        by: dict[str, tuple[str, int | None]] = {}
        for *_, change, changed_at, command in sorted(left, key=lambda row: row[3] in MERGES):
            by.setdefault(changed_at, (change, command))
        now = Stamped.of(node)
        every = states(now, [(field, value) for _, field, value, *_ in left])
        unknown = {*self.ancestors([id]).get(id, ())}
        swept: str = self._db.execute("SELECT value FROM meta WHERE key = 'swept'").get or ""
        found = []
        for (before, state), (stamp, _) in zip(every, every[1:], strict=False):
            at = stamp.partition(" ")[0]
            change, command = by.get(at, ("import", None))
            if at >= swept and before not in unknown:
                found.append(Past(state.to_node(node), change, at, command))
        return found

    def _node(self, id: str) -> Node | None:
        rows = self._db.execute(f"SELECT {FIELDS_OF_N} FROM {WITH_READS} WHERE id = ?", (id,))
        return next(map(node_of, rows), None)

    def _left(self, which: str, *given: object) -> list[tuple[Any, ...]]:
        rows = self._db.execute(
            "SELECT node_id, field, stamp, value, change, changed_at, command FROM node_history"
            f" WHERE {which} ORDER BY node_id, changed_at, stamp, field", given
        )  # fmt: skip
        return [(id, field, (stamp, value), *rest) for id, field, stamp, value, *rest in rows]

    def former(self, ids: Sequence[str] | None = None) -> Iterator[tuple[str, str, Value]]:
        """Yield (node, field, value) of what these nodes, or all, have left and tell; by node,
        stamp and field."""
        which = "" if ids is None else " AND node_id IN (SELECT value FROM json_each(?))"
        for id, field, *value in self._db.execute(
            f"SELECT node_id, field, stamp, value FROM node_history"
            f" WHERE NOT implied{which} ORDER BY node_id, stamp, field, value",
            () if ids is None else (dumps([*ids]),),
        ):
            yield str(id), str(field), (str(value[0]), str(value[1]))

    def keep(
        self, id: str, values: Iterable[tuple[str, Value, bool]], at: str, change: str,
        command: int | None = None,
    ) -> None:  # fmt: skip
        """Write (field, value, whether it is implied) that a node has left for what was made at a
        time."""
        self._db.executemany(
            "INSERT OR IGNORE INTO main.node_history VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            ((id, field, *value, change, at, command, implied) for field, value, implied in values),
        )

    def let_stand(self, id: str, values: Iterable[tuple[str, Value]]) -> None:
        """Take values out of the history that a node has again: they came before it did."""
        self._db.executemany(
            "DELETE FROM main.node_history"
            " WHERE node_id = ? AND field = ? AND stamp = ? AND value = ?",
            ((id, field, *value) for field, value in values),
        )

    # --- what edges have left

    def keep_edge(self, state: dict[str, object], command: int | None = None) -> None:
        """Write a state that an edge has left, with the fields of ``EDGE_HISTORY``."""
        self._db.execute(
            f"INSERT INTO main.edge_history({', '.join(state)}, command)"
            f" VALUES ({', '.join('?' * (len(state) + 1))})",
            (*state.values(), command),
        )

    def older(self, before: str) -> int:
        """Return how many states of nodes, edges and anchors were left before this time."""
        return sum(
            int(str(self._db.execute(f"SELECT count(DISTINCT {state}) FROM {left}", (before,)).get))
            for left, state in _LEFT.items()
        )

    def sweep(self, before: str) -> int:
        """Delete what nodes, edges and anchors left before this time; return how many states.

        Commands from before go too. What was deleted for good stays, and so do the names of the
        latest changes (``ancestors``) and the places of anchors: merging asks for them.
        """
        swept = self.older(before)
        self._keep_names(before)
        for left in _LEFT:
            self._db.execute(f"DELETE FROM {left}", (before,))
        for table in ("additions", "anchors_left"):
            self._db.execute(
                f"DELETE FROM {table} WHERE command IN (SELECT id FROM commands WHERE at < ?)",
                (before,),
            )
        self._db.execute("DELETE FROM main.commands WHERE at < ?", (before,))
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('swept', ?)", (before,))
        return swept

    def _keep_names(self, before: str) -> None:
        left = self._left("changed_at < ?", before)
        for id, rows in groupby(left, itemgetter(0)):
            self.add_ancestors(id, latest(value[0] for _, _, value, *_ in rows))

    # --- commands

    @property
    def command(self) -> int | None:
        """Return the number of the command that is under way, if one is."""
        row: str | None = self._db.execute("SELECT value FROM meta WHERE key = 'command'").get
        return None if row is None else int(row)

    def commands(self, limit: int = -1) -> list[PastCommand]:
        """Return the commands that changed the store, the last one first; a ``purge`` always."""
        rows = self._db.execute(
            "SELECT id, name, at FROM commands ORDER BY id DESC LIMIT ?", (limit,)
        )
        return [PastCommand(*row) for row in rows]

    def left_by(self, command: int) -> list[Past]:
        """Return each node that a command changed, as it would be without that."""
        found = []
        for id, some in groupby(self._left("command = ?", command), itemgetter(0)):
            rows = [*some]
            node = self._node(id)
            if node is not None:
                now = Stamped.of(node)
                before = {field: value for _, field, value, *_ in reversed(rows)}
                state = Stamped(now.base, {**now.fields, **before}).to_node(node)
                *_, change, changed_at, _ = rows[-1]
                found.append(Past(state, change, changed_at, command))
        return found

    def edges_left_by(self, command: int) -> list[Edge]:
        """Return the states of edges that a command left, by edge and clock (``changed_at``)."""
        rows = self._db.execute(
            "SELECT h.from_id, h.to_id, h.relation, h.weight, h.source, h.status, h.metadata,"
            " coalesce(e.created_at, ''), NULL, 0, h.invalidated_at, h.made_at, h.invalidated_at"
            " FROM edge_history h LEFT JOIN graph_edges e"
            f" ON e.from_key = {KEY_OF.format('h.from_id')}"
            f" AND e.to_key = {KEY_OF.format('h.to_id')} AND e.relation = h.relation"
            " WHERE h.command = ?"
            " ORDER BY h.from_id, h.to_id, h.relation, h.made_at, h.rowid",
            (command,),
        )
        return [Edge(*row) for row in rows]

    def added_by(self, command: int) -> tuple[list[str], list[EdgeKey]]:
        """Return the nodes and the edges that a command added."""
        rows = self._db.execute(
            "SELECT DISTINCT id, to_id, relation FROM additions WHERE command = ?"
            " ORDER BY id, to_id, relation",
            (command,),
        ).fetchall()
        nodes = [str(id) for id, _, relation in rows if not relation]
        return nodes, [(str(a), str(b), str(r)) for a, b, r in rows if r]

    def note_addition(self, id: str) -> None:
        """Note a node as added by the command under way, if there is one: a node that came back and
        has no history."""
        self._db.execute(
            "INSERT INTO main.additions(command, id)"
            " SELECT value, ? FROM meta WHERE key = 'command'",
            (id,),
        )

    def anchors_left_by(self, command: int) -> list[tuple[AnchorKey, Anchor | None]]:
        """Return the anchors that a command touched, as they were before; None where there was
        none."""
        rows = self._db.execute(
            f"SELECT {', '.join(Anchor.__slots__)} FROM anchors_left WHERE command = ?"
            " ORDER BY node_id, kind, path, detail, rowid",
            (command,),
        )
        found: dict[AnchorKey, Anchor | None] = {}
        for row in rows:
            anchor = Anchor(*row)
            found.setdefault(anchor.key, None if row[_CREATED] is None else anchor)
        return [*found.items()]

    # --- what merging needs

    def settle(self, nodes: Iterable[Node] = (), edges: Iterable[Edge] = ()) -> None:
        """Write nodes and edges whole, with every time that they have.

        Nothing of what they replace is kept: that is up to whoever merges.
        """
        nodes = [*nodes]
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('merging', '1')")
        self._db.executemany(_NODE, rows_of(nodes))
        put_reads(self._db, nodes)
        self._db.executemany(_EDGE, edge_rows(self._db, edges))
        self._db.execute("DELETE FROM meta WHERE key = 'merging'")

    def ancestors(self, ids: Sequence[str] | None = None) -> dict[str, list[str]]:
        """Return the stamps of changes of these nodes, or of all, that are not wholly here."""
        which = "" if ids is None else " WHERE node_id IN (SELECT value FROM json_each(?))"
        found: dict[str, list[str]] = {}
        for id, name in self._db.execute(
            f"SELECT node_id, state FROM ancestors{which} ORDER BY node_id, state",
            () if ids is None else (dumps(ids),),
        ):
            found.setdefault(id, []).append(name)
        return found

    def add_ancestors(self, id: str, names: Iterable[str]) -> None:
        """Keep stamps of changes that a node has seen elsewhere."""
        self._db.executemany(
            "INSERT OR IGNORE INTO main.ancestors VALUES (?, ?)", ((id, name) for name in names)
        )

    def drop_ancestors(self, id: str, names: Iterable[str]) -> None:
        """Forget these stamps: what was changed then has come."""
        self._db.executemany(
            "DELETE FROM main.ancestors WHERE (node_id, state) = (?, ?)",
            ((id, name) for name in names),
        )

    def purged(self, ids: Sequence[str] | None = None) -> dict[str, str]:
        """Return those of these ids, or all, that were deleted for good: id to when."""
        which = "" if ids is None else " WHERE id IN (SELECT value FROM json_each(?))"
        given = () if ids is None else (dumps(ids),)
        return dict(self._db.execute(f"SELECT id, at FROM purged{which} ORDER BY id", given))

    def purge(self, id: str, at: str) -> None:
        """Forget all that a node has left up to a time, and remember that it was deleted for good
        then. ``Store.wipe`` is due."""
        for table, stamp in (("node_history", "stamp"), ("ancestors", "state")):
            self._db.execute(
                f"DELETE FROM main.{table} WHERE node_id = ?"
                f" AND substr({stamp}, 1, instr({stamp}, ' ') - 1) <= ?",
                (id, at),
            )
        self._db.execute("DELETE FROM main.additions WHERE id = ?1 OR to_id = ?1", (id,))
        self._db.execute("DELETE FROM main.anchors_left WHERE node_id = ?", (id,))
        self._db.execute("DELETE FROM proposed_purges WHERE id = ?", (id,))
        self._db.execute(
            "INSERT INTO main.purged VALUES (?, ?)"
            " ON CONFLICT DO UPDATE SET at = max(at, excluded.at)",
            (id, at),
        )
        self.leave_to_wipe(at)

    def leave_to_wipe(self, at: str) -> None:
        """Remember that texts were deleted for good at a time: ``Store.wipe`` is due."""
        self._db.execute("INSERT OR REPLACE INTO main.meta VALUES (?, ?)", (TO_WIPE, at))

    def deleted(self) -> dict[str, str]:
        """Return what was deleted for good here, or elsewhere by what others say: id to when."""
        return deleted(self._db)

    def proposed_purges(self) -> dict[str, str]:
        """Return what others say was deleted for good, and nobody here yet: id to when."""
        return dict(self._db.execute("SELECT id, at FROM proposed_purges ORDER BY id"))

    def propose_purge(self, id: str, at: str) -> None:
        """Keep what others say was deleted for good; ``purge`` ends it."""
        self._db.execute("INSERT OR REPLACE INTO proposed_purges VALUES (?, ?)", (id, at))
