"""What a store says, in few bytes: for telling quickly where two stores differ.

SQLite puts the fields of a row together itself: to read a hundred thousand records as
objects takes several times as long.
"""

from __future__ import annotations

from ..core.model import EDGE_HISTORY, Edge, Node, Past, PastCommand
from ..core.states import latest, state_name
from ..system.json_encode import dumps
from .anchors import ANCHOR_HISTORY, Anchor
from .connection import EDGE_ENDS, KEY_OF, apsw
from .edges import INSERT_EDGE, edge_rows
from .nodes import INSERT_NODE, rows_of, texts_of
from .passages import remember_texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..core.model import EdgeKey
    from .anchors import AnchorKey


_LATER = "CASE WHEN {c} > max({at}, coalesce(invalidated_at, '')) THEN {c} ELSE '' END"
"""A clock that no other time says; of one state there may be rows with it and without."""

_EXACT = "CAST({} * 4611686018427387904.0 AS INTEGER)"
"""A number from 0 to 1 in whole 1 / 2^62, since SQLites differ in how they write fractions."""

_CHANGE = "CASE change WHEN 'sync' THEN 'import' ELSE change END"
_EDGE_SAID = ("from_id", "to_id", "relation")
_ORDINARY = "status = 'confirmed' AND source = 'user_edit' AND invalidated_at IS NULL"
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


def _select(table: str, id: str, said: str, json: str = "") -> str:
    given = f"nullif({json}, '{{}}')" if json else "NULL"
    return f"SELECT {id}, {said}, {given} FROM {table}"


def _node(kind: str, id: str, short: Sequence[str]) -> str:
    fields = ("status", "source", _EXACT.format("confidence"), "line_start", "line_end",
              "invalidated_at", "length(file)", "length(category)")  # fmt: skip
    return _said(
        kind, short, (id, "title", "tags", "body"),
        rare=f"{_joined(fields)}{_BAR}coalesce(file, '') || coalesce(category, '')",
        ordinary=f"{_ORDINARY} AND confidence = 1"
                 " AND coalesce(line_start, line_end, file, category) IS NULL",
    )  # fmt: skip


def _edge(kind: str, short: Sequence[str]) -> str:
    return _said(
        kind, (_EXACT.format("weight"), *short), _EDGE_SAID,
        rare=_joined(("status", "source", "invalidated_at")), ordinary=_ORDINARY,
    )  # fmt: skip


_ANCHOR = (
    "node_id", "kind", "path", "detail", "root", "hash", "commit_id", "verdict", "reason",
    "created_at", "verified_at",
)  # fmt: skip
_QUERIES = (
    (_select("nodes", "id",
             _node("node", "id", ("created_at", "updated_at",
                                  _LATER.format(c="changed_at", at="updated_at"))),
             "data"), ("id",)),
    (_select(_EDGES, "from_id",
             _edge("edge", ("created_at", _LATER.format(c="changed_at", at="created_at"))),
             "metadata"), ("from_id", "to_id")),
    (_select("node_history", "node_id",
             _node("was", "node_id", ("updated_at", "made_at", "changed_at", _CHANGE)),
             "data"), ("node_id",)),
    (_select("edge_history", "from_id",
             _edge("edge was", ("made_at", "changed_at", _CHANGE)),
             "metadata"), ("from_id", "to_id")),
    (_select("anchors", "node_id", _said("anchor", (), _ANCHOR)), ("node_id",)),
    (_select("anchor_history", "node_id", _said("anchor was", (), ANCHOR_HISTORY)),
     ("node_id",)),
)  # fmt: skip

_IDS = f"""
  SELECT id FROM nodes UNION ALL SELECT from_id FROM {_EDGES}
  UNION ALL SELECT node_id FROM node_history UNION ALL SELECT from_id FROM edge_history
  UNION ALL SELECT node_id FROM anchors UNION ALL SELECT node_id FROM anchor_history
  UNION ALL SELECT id FROM purged UNION ALL SELECT id FROM proposed_purges
  UNION ALL SELECT node_id FROM ancestors"""

_UNUSUAL = f"""
  SELECT id FROM purged UNION SELECT id FROM proposed_purges
  UNION SELECT from_id FROM {_EDGES} WHERE to_id IN (SELECT id FROM purged)
  UNION SELECT from_id FROM edge_history WHERE to_id IN (SELECT id FROM purged)
  UNION SELECT node_id FROM ancestors
  UNION SELECT node_id FROM node_history GROUP BY node_id, made_at HAVING count(*) > 1
  UNION SELECT from_id FROM edge_history GROUP BY from_id, to_id, relation, made_at,
    CASE made_at WHEN '' THEN changed_at END HAVING count(*) > 1
  UNION SELECT node_id FROM anchor_history
    GROUP BY node_id, kind, path, detail, changed_at HAVING count(*) > 1
  UNION SELECT a.node_id FROM anchor_history h JOIN anchors a ON a.node_id = h.node_id
    AND a.kind = h.kind AND a.path = h.path AND a.detail = h.detail
    WHERE h.change IN ('removed', 'moved') AND a.created_at <= h.changed_at"""
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
            where, given = (f" WHERE {kept}", (dumps(list(types)),)) if types else ("", ())
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


_STATE = (
    "title", "body", "status", "source", "confidence", "category", "tags", "file", "line_start",
    "line_end", "data", "updated_at", "invalidated_at",
)  # fmt: skip
_LEFT = ("made_at", "change", "changed_at", "command")
_COLUMNS = ("node_id", *_STATE, *_LEFT)
_READ = f"SELECT {', '.join(f'h.{name}' for name in _COLUMNS)}, n.type FROM node_history h" \
        " LEFT JOIN nodes n ON n.id = h.node_id"  # fmt: skip
_ORDER = "h.node_id, h.made_at, h.rowid"
_CREATED = Anchor.__slots__.index("created_at")
_KEY = ("from_id", "to_id", "relation")

RESTORE_BACKUP = "restore-backup"
"""The name of this command: only the file that it keeps can take it back."""


def _updates(key: Sequence[str], names: Sequence[str]) -> str:
    return ", ".join(f"{name} = excluded.{name}" for name in names if name not in key)


_NODE = f"{INSERT_NODE} ON CONFLICT(id) DO UPDATE SET {_updates(('id',), Node.__slots__)}"
_EDGE = f"{INSERT_EDGE} ON CONFLICT DO UPDATE SET {_updates(_KEY, Edge.__slots__)}"


class StateHistory:
    """States that nodes and edges have left, what commands did, and what merging needs.

    Triggers keep what is left: any change of a node's ``states.NODE_STATE`` leaves a state, but for
    what the index of code made (source ``file``; types file, symbol and commit). A change sets
    ``changed_at`` where no other time makes the new state's clock (``core.states``) later than the
    former one's.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    # --- states that nodes have left

    def of_node(self, id: str) -> list[Past]:
        """Return the states that a node has left, by their clocks (``node.changed_at``)."""
        rows = self._db.execute(f"{_READ} WHERE h.node_id = ? ORDER BY {_ORDER}", (id,))
        return [_past(row) for row in rows]

    def of_nodes(self) -> Iterator[Past]:
        """Yield the states that all nodes have left, by node and clock."""
        for row in self._db.execute(f"{_READ} ORDER BY {_ORDER}"):
            yield _past(row)

    def keep(self, past: Past) -> bool:
        """Write a state that another store has kept; return whether anything is new in it.

        ``past.node.changed_at`` is its clock. Of a state that is kept already, the earlier time of
        leaving stays, so that the order of merging does not count.
        """
        node = past.node
        values = [node.id, *(_value(node, name) for name in _STATE), node.changed_at or ""]
        same = " AND ".join(f"{name} IS ?" for name in ("node_id", *_STATE, "made_at"))
        for rowid, changed_at, change in self._db.execute(
            f"SELECT rowid, changed_at, change FROM node_history WHERE {same}", values
        ).fetchall():
            if (changed_at, change) <= (past.changed_at, past.change):
                return False
            self._db.execute(
                "UPDATE main.node_history SET changed_at = ?, change = ?, command = ?"
                " WHERE rowid = ?",
                (past.changed_at, past.change, past.command, rowid),
            )
            return True
        self._db.execute(
            f"INSERT INTO main.node_history({', '.join(_COLUMNS)})"
            f" VALUES ({', '.join('?' * len(_COLUMNS))})",
            (*values, past.change, past.changed_at, past.command),
        )
        return True

    def keep_edge(self, state: dict[str, object], command: int | None = None) -> bool:
        """Write a state that an edge has left elsewhere, as ``keep`` does for nodes.

        ``state`` has the fields of ``EDGE_HISTORY``.
        """
        names = [name for name in state if name not in ("change", "changed_at")]
        values = [state[name] for name in names]
        same = " AND ".join(f"{name} IS ?" for name in names)
        left = (str(state["changed_at"]), str(state["change"]))
        for rowid, *kept in self._db.execute(
            f"SELECT rowid, changed_at, change FROM edge_history WHERE {same}", values
        ).fetchall():
            if tuple(kept) <= left:
                return False
            self._db.execute(
                "UPDATE main.edge_history SET changed_at = ?, change = ?, command = ?"
                " WHERE rowid = ?",
                (*left, command, rowid),
            )
            return True
        self._db.execute(
            f"INSERT INTO main.edge_history({', '.join(names)}, changed_at, change, command)"
            f" VALUES ({', '.join('?' * (len(names) + 3))})",
            (*values, *left, command),
        )
        return True

    def older(self, before: str) -> int:
        """Return how many states of nodes and edges were left before this time."""
        return sum(
            int(self._db.execute(f"SELECT count(*) FROM {table} WHERE changed_at < ?",
                                 (before,)).get)
            for table in ("node_history", "edge_history")
        )  # fmt: skip

    def sweep(self, before: str) -> int:
        """Delete the states of nodes and edges that were left before this time; return how many.

        Commands from before go too. What was deleted for good stays, and so do the names of the
        latest states (``ancestors``): merging asks for them.
        """
        swept = self.older(before)
        self._keep_names(before)
        for table in ("node_history", "edge_history"):
            self._db.execute(f"DELETE FROM {table} WHERE changed_at < ?", (before,))
        for table in ("additions", "anchors_left"):
            self._db.execute(
                f"DELETE FROM {table} WHERE command IN (SELECT id FROM commands WHERE at < ?)",
                (before,),
            )
        self._db.execute("DELETE FROM main.commands WHERE at < ?", (before,))
        return swept

    def _keep_names(self, before: str) -> None:
        names: dict[str, list[str]] = {}
        rows = self._db.execute(f"{_READ} WHERE h.changed_at < ? ORDER BY {_ORDER}", (before,))
        for past in map(_past, rows):
            names.setdefault(past.node.id, []).append(state_name(past.node))
        for id, found in names.items():
            self.add_ancestors(id, latest(found))

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
        """Return the states of nodes that a command left, by node and clock."""
        rows = self._db.execute(f"{_READ} WHERE h.command = ? ORDER BY {_ORDER}", (command,))
        return [_past(row) for row in rows]

    def edges_left_by(self, command: int) -> list[Edge]:
        """Return the states of edges that a command left, by edge and clock (``changed_at``)."""
        rows = self._db.execute(
            "SELECT h.from_id, h.to_id, h.relation, h.weight, h.source, h.status, h.metadata,"
            " coalesce(e.created_at, ''), NULL, 0, h.invalidated_at, h.made_at"
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
        remember_texts(self._db, texts_of(nodes))
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('merging', '1')")
        self._db.executemany(_NODE, rows_of(nodes))
        self._db.executemany(_EDGE, edge_rows(self._db, edges))
        self._db.execute("DELETE FROM meta WHERE key = 'merging'")

    def ancestors(self, ids: Sequence[str] | None = None) -> dict[str, list[str]]:
        """Return the names of states of these nodes, or of all, that are known by name alone."""
        which = "" if ids is None else " WHERE node_id IN (SELECT value FROM json_each(?))"
        found: dict[str, list[str]] = {}
        for id, name in self._db.execute(
            f"SELECT node_id, state FROM ancestors{which} ORDER BY node_id, state",
            () if ids is None else (dumps(ids),),
        ):
            found.setdefault(id, []).append(name)
        return found

    def add_ancestors(self, id: str, names: Iterable[str]) -> None:
        """Keep names of states (``states.state_name``) that a node has been in elsewhere."""
        self._db.executemany(
            "INSERT OR IGNORE INTO main.ancestors VALUES (?, ?)", ((id, name) for name in names)
        )

    def purged(self, ids: Sequence[str] | None = None) -> dict[str, str]:
        """Return those of these ids, or all, that were deleted for good: id to when."""
        which = "" if ids is None else " WHERE id IN (SELECT value FROM json_each(?))"
        given = () if ids is None else (dumps(ids),)
        return dict(self._db.execute(f"SELECT id, at FROM purged{which} ORDER BY id", given))

    def purge(self, id: str, at: str) -> None:
        """Forget every state of a node, and remembers that it was deleted for good."""
        self._db.execute("DELETE FROM main.node_history WHERE node_id = ?", (id,))
        self._db.execute("DELETE FROM main.ancestors WHERE node_id = ?", (id,))
        self._db.execute("DELETE FROM main.additions WHERE id = ?1 OR to_id = ?1", (id,))
        self._db.execute("DELETE FROM main.anchors_left WHERE node_id = ?", (id,))
        self._db.execute("DELETE FROM proposed_purges WHERE id = ?", (id,))
        self._db.execute(
            "INSERT INTO main.purged VALUES (?, ?)"
            " ON CONFLICT DO UPDATE SET at = max(at, excluded.at)",
            (id, at),
        )

    def proposed_purges(self) -> dict[str, str]:
        """Return what others say was deleted for good, and nobody here yet: id to when."""
        return dict(self._db.execute("SELECT id, at FROM proposed_purges ORDER BY id"))

    def propose_purge(self, id: str, at: str) -> None:
        """Keep what others say was deleted for good; ``purge`` ends it."""
        self._db.execute("INSERT OR REPLACE INTO proposed_purges VALUES (?, ?)", (id, at))


def _value(node: Node, name: str) -> object:
    return " ".join(node.tags) if name == "tags" else getattr(node, name)


def _past(row: tuple[object, ...]) -> Past:
    fields = dict(zip(_COLUMNS, row[:-1], strict=True))
    id = str(fields["node_id"])
    node = Node(id, str(row[-1] or id.partition("-")[0]))
    for name in _STATE:
        setattr(node, name, fields[name])
    node.tags = tuple(str(fields["tags"]).split())
    node.changed_at = str(fields["made_at"])
    command = fields["command"]
    return Past(node, str(fields["change"]), str(fields["changed_at"]),
                command if isinstance(command, int) else None)  # fmt: skip
