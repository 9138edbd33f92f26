"""States that nodes and edges have left, what commands did, and what merging needs to know.

Triggers keep most of it (schema.sql); here it is read, and written for what came from
another store.
"""

from __future__ import annotations

from ...core.model import Edge, Node, Past, PastCommand
from ...core.states import latest, state_name
from ...system.json_encode import dumps
from ..anchor import Anchor
from .driver import apsw
from .edges import INSERT_EDGE, edge_rows
from .keys import KEY_OF
from .nodes import INSERT_NODE, rows_of, texts_of
from .passage_texts import remember_texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ...core.model import EdgeKey
    from ..anchor import AnchorKey

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
