"""Counts over the whole graph, and what has been counted once."""

from __future__ import annotations

from ...system.json_encode import dumps
from .driver import apsw
from .keys import EDGE_ENDS
from .shape import FIELDS, counted, followed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

_KEPT = """
SELECT item.key, item.value FROM meta, json_each(meta.value) AS item WHERE meta.key = 'stats'
"""
_WATCHED = """
SELECT 7 = count(*) FROM sqlite_schema WHERE type = 'trigger' AND name GLOB 'stats_*'
"""
_EDGES = "SELECT from_key, to_key, relation, invalidated_at FROM graph_edges LIMIT 1"
_COUNTS = "SELECT what, name, number FROM counts WHERE number > 0 AND typeof(number) = 'integer'"
COUNTED = (
    "SELECT iif(invalidated_at IS NULL, 'nodes', 'forgotten') AS what, type AS name,"
    " count(*) AS number FROM nodes GROUP BY what, name"
    " UNION ALL SELECT 'edges', relation, count(*) FROM graph_edges"
    " WHERE invalidated_at IS NULL GROUP BY relation"
)
"""What ``counts`` has to hold."""

_DEGREES = """
SELECT key, sum(o) AS o, sum(i) AS i FROM (
  SELECT from_key AS key, count(*) AS o, 0 AS i FROM graph_edges
  WHERE invalidated_at IS NULL GROUP BY from_key
  UNION ALL
  SELECT to_key, 0, count(*) FROM graph_edges
  WHERE invalidated_at IS NULL GROUP BY to_key)
GROUP BY key
"""


class SqliteStatistics:
    """Reads the graph as a whole; a node or an edge counts while it is live."""

    def __init__(self, connection: apsw.Connection, *, scoped: bool = False) -> None:
        self._db = connection
        self._scoped = scoped

    def stats(self) -> dict[str, Any]:
        """Counts over live nodes and edges, in one snapshot of the store.

        The store's triggers ``stats_*`` keep what can be counted row by row, and note what
        the rest has to follow. A store that cannot be written keeps nothing.
        """
        found: dict[str, Any] = {}
        try:
            with self._db:
                watched = self._watched()
                kept = self._kept() if watched else None
                shape = kept and self._followed(kept)
                if shape is None:
                    shape = counted(self._db)
                found = self._with_counts(shape)
                if watched and shape is not kept:
                    self._keep(shape)
        except apsw.Error:
            if not found:
                raise
        return found

    def _watched(self) -> bool:
        # What is kept has been counted over everything.
        return not self._scoped and bool(self._db.execute(_WATCHED).get)

    def _kept(self) -> dict[str, Any] | None:
        kept = dict(self._db.execute(_KEPT))
        whole = kept.keys() == {*FIELDS} and all(
            isinstance(value, str | None if name == "max_degree_id" else int)
            for name, value in kept.items()
        )
        return kept if whole else None

    def _followed(self, kept: dict[str, Any]) -> dict[str, Any] | None:
        if self._db.execute("SELECT 1 FROM changed LIMIT 1").get is None:
            return kept
        return followed(self._db, kept)

    def _keep(self, shape: dict[str, Any]) -> None:
        # A reader that becomes a writer never waits for another one: SQLite says so at once.
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('stats', ?)", (dumps(shape),))
        self._db.execute("DELETE FROM changed")

    def _counts(self) -> dict[str, dict[str, int]]:
        self._db.execute(_EDGES)  # says so where they cannot be read
        found: dict[str, dict[str, int]] = {"nodes": {}, "forgotten": {}, "edges": {}}
        for what, name, number in self._db.execute(_COUNTS if self._watched() else COUNTED):
            found.setdefault(str(what), {})[str(name)] = number
        return found

    def _with_counts(self, shape: dict[str, Any]) -> dict[str, Any]:
        counts = self._counts()
        nodes = sum(counts["nodes"].values())
        return {
            "nodes": nodes,
            "nodes_by_type": dict(sorted(counts["nodes"].items())),
            "edges": sum(counts["edges"].values()),
            "edges_by_relation": dict(sorted(counts["edges"].items())),
            "mean_degree": round(shape["ends"] / nodes, 3) if nodes else 0.0,
            **{name: shape[name] for name in FIELDS[1:]},
            "forgotten_nodes": sum(counts["forgotten"].values()),
        }

    def nodes(self) -> Iterator[tuple[str, str]]:
        """``(id, type)`` of every live node."""
        yield from self._db.execute("SELECT id, type FROM nodes WHERE invalidated_at IS NULL")

    def edges(self) -> Iterator[tuple[str, str, str]]:
        """``(from, to, relation)`` of every live edge."""
        yield from self._db.execute(
            f"SELECT {EDGE_ENDS}, relation FROM graph_edges WHERE invalidated_at IS NULL"
        )

    def count_by_relation(self) -> dict[str, int]:
        """Relation to the number of its live edges."""
        return self._counts()["edges"]

    def hubs(self, limit: int) -> list[tuple[str, str, str, int, int]]:
        """``(id, type, title, edges out, edges in)`` of the nodes with most edges."""
        rows: list[tuple[str, str, str, int, int]] = self._db.execute(  # type: ignore[assignment]
            f"SELECT n.id, n.type, n.title, d.o, d.i FROM ({_DEGREES}) AS d"
            " JOIN nodes AS n ON n.key = d.key WHERE n.invalidated_at IS NULL"
            " ORDER BY d.o + d.i DESC, n.id LIMIT ?",
            (limit,),
        ).fetchall()
        return rows

    def orphans(self, types: Sequence[str], limit: int) -> list[tuple[str, str, str]]:
        """``(id, type, title)`` of nodes without an edge, by id; no types mean all of them."""
        rows: list[tuple[str, str, str]] = self._db.execute(  # type: ignore[assignment]
            "SELECT id, type, title FROM nodes AS n WHERE invalidated_at IS NULL"
            " AND (:types = '[]' OR type IN (SELECT value FROM json_each(:types)))"
            " AND NOT EXISTS ("
            "SELECT 1 FROM graph_edges WHERE from_key = n.key AND invalidated_at IS NULL)"
            " AND NOT EXISTS ("
            "SELECT 1 FROM graph_edges WHERE to_key = n.key AND invalidated_at IS NULL)"
            " ORDER BY id LIMIT :limit",
            {"types": dumps(types), "limit": limit},
        ).fetchall()
        return rows
