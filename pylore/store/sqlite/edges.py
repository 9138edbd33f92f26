"""The graph: edges, their history, and the neighbours of a frontier."""

from __future__ import annotations

from ...core.model import EDGE_HISTORY, Edge
from ...system.json_encode import dumps
from .driver import apsw
from .faults import GraphFaults
from .reads import SqliteReads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from ..protocols import Bundle, Neighbour

_FIELDS = ", ".join(Edge.__slots__)
_CONTENT = ("weight", "source", "status", "metadata", "invalidated_at")
_PUT = (
    f"INSERT INTO graph_edges({_FIELDS}) VALUES ({', '.join('?' * len(Edge.__slots__))})"
    f" ON CONFLICT DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _CONTENT)}"
)

# A row holds many edges as text: one long string reaches Python faster than as
# many rows. Ids have no control characters (ids.check_id), so this one separates.
_SEPARATOR = "\x1f"

# The edges of a node, any of them, up to a limit: one look-up a node and direction.
_SOME = """
SELECT f.value, {outgoing}, (
  SELECT group_concat(relation || char(31) || {other} || char(31) || weight, char(31)) FROM (
    SELECT relation, {other}, weight FROM graph_edges
    WHERE {this} = f.value AND invalidated_at IS NULL LIMIT :limit)) AS ends
FROM json_each(:frontier) f
"""
# The strongest edges of a node and relation: one look-up each, however many there are.
_STRONGEST = """
SELECT f.value, {outgoing}, (
  SELECT group_concat(r.value || char(31) || {other} || char(31) || weight, char(31)) FROM (
    SELECT {other}, weight FROM graph_edges
    WHERE {this} = f.value AND relation = r.value AND invalidated_at IS NULL
    ORDER BY weight DESC, {other} LIMIT :limit)) AS ends
FROM json_each(:frontier) f CROSS JOIN json_each(:relations) r
"""

_INTO_FILES = """
SELECT e.from_id, j.value, e.weight FROM json_each(:paths) j CROSS JOIN graph_edges e
ON e.to_id = 'file-' || j.value
WHERE e.relation = :relation AND e.invalidated_at IS NULL
UNION ALL SELECT e.from_id, j.value, e.weight FROM json_each(:paths) j CROSS JOIN graph_edges e
ON e.to_id > 'symbol-' || j.value || '::' AND e.to_id < 'symbol-' || j.value || ':;'
WHERE e.relation = :relation AND e.invalidated_at IS NULL
"""


def _both_ways(half: str) -> str:
    out = half.format(outgoing=1, this="from_id", other="to_id")
    into = half.format(outgoing=0, this="to_id", other="from_id")
    # LIMIT -1 keeps SQLite from computing the inner query a second time for the WHERE.
    return f"SELECT * FROM ({out} UNION ALL {into} LIMIT -1) WHERE ends IS NOT NULL"


_SOME_EDGES = _both_ways(_SOME)
_STRONGEST_EDGES = _both_ways(_STRONGEST)


def _only(bundle: Bundle, wanted: frozenset[str]) -> Bundle:
    node, outgoing, *columns = bundle
    kept = [edge for edge in zip(*columns, strict=True) if edge[0] in wanted]
    names, others, weights = (
        (list(column) for column in zip(*kept, strict=True)) if kept else ([], [], [])
    )
    return (node, outgoing, names, others, weights)


class SqliteEdges:
    """Reads and writes edges. An edge is one ``(from_id, to_id, relation)``."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._reads = SqliteReads(connection)

    def _edges(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[Edge]:
        pending = self._reads.pending()
        for row in rows:
            edge = Edge(*row)
            if pending is not None:
                pending.add_to(edge)
            yield edge

    def neighbours(
        self, frontier: Sequence[str], relations: Sequence[str], limit: int
    ) -> list[Neighbour]:
        """``bundles``, an edge an item."""
        return [
            (node, other, relation, weight, outgoing)
            for node, outgoing, names, others, weights in self.bundles(frontier, relations, limit)
            for relation, other, weight in zip(names, others, weights, strict=True)
        ]

    def bundles(
        self, frontier: Sequence[str], relations: Sequence[str], limit: int
    ) -> list[Bundle]:
        """Both ends' live edges of a whole frontier, in one query.

        At most ``limit`` edges, the strongest, a node, a relation and a direction;
        ``ALL`` sets no limit. Nodes with more edges than that are asked about once
        more, all of them together.

        Raises:
            GraphUnavailable: the graph's tables are missing or damaged.
        """
        wanted = frozenset(relations)
        found = self._bundles(_SOME_EDGES, frontier, relations, limit)
        hubs = {bundle[0] for bundle in found if len(bundle[2]) >= limit >= 0}
        found = [
            bundle if wanted.issuperset(bundle[2]) else _only(bundle, wanted)
            for bundle in found
            if bundle[0] not in hubs
        ]
        if hubs:
            found += self._bundles(_STRONGEST_EDGES, sorted(hubs), relations, limit)
        return found

    def _bundles(
        self, sql: str, frontier: Sequence[str], relations: Sequence[str], limit: int
    ) -> list[Bundle]:
        with GraphFaults():
            rows: list[tuple[str, int, str]] = self._db.execute(  # type: ignore[assignment]
                sql, {"frontier": dumps(frontier), "relations": dumps(relations), "limit": limit}
            ).fetchall()
        bundles = []
        for node, outgoing, ends in rows:
            parts = ends.split(_SEPARATOR)
            weights = list(map(float, parts[2::3]))
            bundles.append((node, outgoing == 1, parts[::3], parts[1::3], weights))
        return bundles

    def into_files(self, paths: Sequence[str], relation: str) -> list[tuple[str, str, float]]:
        """``(node, path, weight)`` of live edges that lead to these files or to symbols in them.

        Raises:
            GraphUnavailable: the graph's tables are missing or damaged.
        """
        with GraphFaults():
            rows: list[tuple[str, str, float]] = self._db.execute(  # type: ignore[assignment]
                _INTO_FILES, {"paths": dumps(paths), "relation": relation}
            ).fetchall()
        return rows

    def get(self, from_id: str, to_id: str, relation: str) -> Edge | None:
        """One edge, invalidated or not."""
        rows = self._db.execute(
            f"SELECT {_FIELDS} FROM graph_edges WHERE from_id = ? AND to_id = ? AND relation = ?",
            (from_id, to_id, relation),
        )
        return next(self._edges(rows), None)

    def put(self, edge: Edge) -> str:
        """Writes an edge whole: ``added``, ``updated``, or ``unchanged``."""
        old = self.get(*edge.key)
        if old is not None and all(getattr(old, f) == getattr(edge, f) for f in _CONTENT):
            return "unchanged"
        self.put_many([edge])
        return "added" if old is None else "updated"

    def replace_all(self, edges: Iterable[Edge]) -> None:
        """These edges in place of all that there are, invalidated ones too."""
        self._db.execute("DELETE FROM graph_edges")
        self._db.executemany(
            f"INSERT INTO graph_edges({_FIELDS}) VALUES ({', '.join('?' * len(Edge.__slots__))})",
            ([getattr(edge, name) for name in Edge.__slots__] for edge in edges),
        )

    def put_many(self, edges: Iterable[Edge]) -> None:
        """Writes edges whole, without a look at what is there."""
        self._db.executemany(
            _PUT, ([getattr(edge, name) for name in Edge.__slots__] for edge in edges)
        )

    def with_relation(self, relation: str) -> Iterator[Edge]:
        """Every edge of one relation, invalidated or not, by from and to."""
        rows = self._db.execute(
            f"SELECT {_FIELDS} FROM graph_edges WHERE relation = ? ORDER BY from_id, to_id",
            (relation,),
        )
        return self._edges(rows)

    def of(self, id: str, *, forgotten: bool = False) -> list[Edge]:
        """The live edges of one node, both directions; with ``forgotten``, all of them."""
        live = "" if forgotten else " AND invalidated_at IS NULL"
        rows = self._db.execute(
            f"SELECT {_FIELDS} FROM graph_edges WHERE from_id = ?1{live}"
            f" UNION SELECT {_FIELDS} FROM graph_edges WHERE to_id = ?1{live}"
            " ORDER BY relation, from_id, to_id",
            (id,),
        )
        return [*self._edges(rows)]

    def between(self, from_id: str, to_id: str) -> list[Edge]:
        """The live edges from one node to another."""
        rows = self._db.execute(
            f"SELECT {_FIELDS} FROM graph_edges WHERE from_id = ? AND to_id = ?"
            " AND invalidated_at IS NULL ORDER BY relation",
            (from_id, to_id),
        )
        return [*self._edges(rows)]

    def leading(self, from_id: str, relation: str) -> list[Edge]:
        """The live edges of one relation that lead away from a node, by to."""
        rows = self._db.execute(
            f"SELECT {_FIELDS} FROM graph_edges WHERE from_id = ? AND relation = ?"
            " AND invalidated_at IS NULL ORDER BY to_id",
            (from_id, relation),
        )
        return [*self._edges(rows)]

    def facts_of(self, id: str, limit: int) -> list[Edge]:
        """What is stated of a thing, and what was superseded: what stands and is surest first."""
        rows = self._db.execute(
            f"SELECT {_FIELDS} FROM graph_edges e WHERE from_id = ?1"
            " AND (to_id GLOB 'entity-*' OR to_id GLOB 'concept-*')"
            " AND (invalidated_at IS NULL OR status = 'superseded')"
            " ORDER BY invalidated_at IS NOT NULL OR status = 'superseded', weight DESC,"
            " relation, to_id LIMIT ?2",
            (id, limit),
        )
        return [*self._edges(rows)]

    def all(self, *, live_only: bool = False) -> Iterator[Edge]:
        """Every edge, by from, to, relation."""
        condition = " WHERE invalidated_at IS NULL" if live_only else ""
        rows = self._db.execute(
            f"SELECT {_FIELDS} FROM graph_edges{condition} ORDER BY from_id, to_id, relation"
        )
        return self._edges(rows)

    def outlines(self, relations: Sequence[str]) -> Iterator[tuple[str, str, str, float, str]]:
        """``(from, to, relation, weight, status)`` of live edges, by from, to, relation."""
        yield from self._db.execute(
            "SELECT from_id, to_id, relation, weight, status FROM graph_edges"
            " WHERE invalidated_at IS NULL AND relation IN (SELECT value FROM json_each(?))"
            " ORDER BY from_id, to_id, relation",
            (dumps(relations),),
        )

    def invalidate(self, key: tuple[str, str, str], at: str | None, status: str = "") -> None:
        """Marks an edge as invalidated; None for ``at`` restores it."""
        self._db.execute(
            "UPDATE graph_edges SET invalidated_at = ?, status = coalesce(nullif(?, ''), status)"
            " WHERE from_id = ? AND to_id = ? AND relation = ?",
            (at, status, *key),
        )

    def invalidate_node(self, id: str, at: str) -> int:
        """Marks all live edges of a node, at one time; how many there were."""
        return self._change(
            "UPDATE graph_edges SET invalidated_at = ?2"
            " WHERE (from_id = ?1 OR to_id = ?1) AND invalidated_at IS NULL",
            (id, at),
        )

    def restore_node(self, id: str, at: str) -> int:
        """Takes the marks of ``invalidate_node`` away; how many there were.

        An edge whose other end is forgotten gets that one's mark, and so comes back with it.
        """
        return self._change(
            "UPDATE graph_edges SET invalidated_at = (SELECT n.invalidated_at FROM nodes n"
            " WHERE n.id = CASE from_id WHEN ?1 THEN to_id ELSE from_id END)"
            " WHERE (from_id = ?1 OR to_id = ?1) AND invalidated_at = ?2",
            (id, at),
        )

    def delete_node(self, id: str) -> int:
        """Takes all edges of a node away for good, their history too; how many there were."""
        deleted = self._change("DELETE FROM graph_edges WHERE from_id = ?1 OR to_id = ?1", (id,))
        self._change("DELETE FROM edge_history WHERE from_id = ?1 OR to_id = ?1", (id,))
        return deleted

    def _change(self, sql: str, parameters: tuple[Any, ...]) -> int:
        self._db.execute(sql, parameters)
        return self._db.changes()

    def history(self, key: tuple[str, str, str] | None = None) -> Iterator[dict[str, object]]:
        """The states that one edge, or every edge, has left, oldest first."""
        condition = " WHERE from_id = ? AND to_id = ? AND relation = ?" if key else ""
        rows = self._db.execute(
            f"SELECT {', '.join(EDGE_HISTORY)} FROM edge_history{condition}"
            " ORDER BY from_id, to_id, relation, changed_at, rowid",
            key or (),
        )
        for row in rows:
            yield dict(zip(EDGE_HISTORY, row, strict=True))

    def add_history(self, state: dict[str, object], copies: int = 1) -> bool:
        """Writes one line of history from an export, until it is there ``copies`` times."""
        columns, marks = ", ".join(EDGE_HISTORY), ", ".join("?" * len(EDGE_HISTORY))
        same = " AND ".join(f"{name} IS ?" for name in EDGE_HISTORY)
        values = [state.get(name, "") for name in EDGE_HISTORY]
        return bool(
            self._change(
                f"INSERT INTO edge_history({columns}) SELECT {marks}"
                f" WHERE (SELECT count(*) FROM edge_history WHERE {same}) < ?",
                (*values, *values, copies),
            )
        )

    def ended_with_nodes(self) -> list[Edge]:
        """Edges that may have ended with a node, computed ones left out: the time at which
        they did is one at which one of their ends was forgotten before, here or elsewhere."""
        rows = self._db.execute(
            f"SELECT {_FIELDS} FROM graph_edges e"
            " WHERE invalidated_at IS NOT NULL AND source <> 'system' AND ("
            "EXISTS (SELECT 1 FROM node_history h WHERE h.node_id IN (e.from_id, e.to_id)"
            " AND h.made_at = e.invalidated_at AND h.invalidated_at IS NOT NULL)"
            " OR EXISTS (SELECT 1 FROM ancestors a WHERE a.node_id IN (e.from_id, e.to_id)"
            " AND a.state >= e.invalidated_at AND a.state < e.invalidated_at || '!'))"
            " ORDER BY from_id, to_id, relation"
        )
        return [*self._edges(rows)]

    def dangling(self, limit: int = -1) -> list[tuple[str, str, str]]:
        """Live edges with an end that is not a live node."""
        rows: list[tuple[str, str, str]] = self._db.execute(  # type: ignore[assignment]
            "SELECT from_id, to_id, relation FROM graph_edges e WHERE invalidated_at IS NULL AND ("
            " NOT EXISTS (SELECT 1 FROM nodes WHERE id = e.from_id AND invalidated_at IS NULL)"
            " OR NOT EXISTS (SELECT 1 FROM nodes WHERE id = e.to_id AND invalidated_at IS NULL))"
            " ORDER BY from_id, to_id, relation LIMIT ?",
            (limit,),
        ).fetchall()
        return rows
