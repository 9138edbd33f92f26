"""Counts over the whole graph, and what has been counted once."""

from __future__ import annotations

from ...system.json_encode import dumps
from .driver import apsw
from .keys import EDGE_ENDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

_KEPT = """
SELECT item.key, item.value, item.type FROM meta, json_each(meta.value) AS item
WHERE meta.key = 'stats' AND 6 = (
  SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND name GLOB 'stats_*')
"""

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

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def stats(self, count: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What ``count`` finds, in one snapshot of the store; kept until something changes.

        The store's triggers ``stats_*`` drop what is kept. A store that cannot be
        written keeps nothing.
        """
        kept = self._kept()
        if kept:
            return kept
        found: dict[str, Any] = {}
        try:
            with self._db:
                found = count()
                self._keep(found)
        except apsw.Error:
            if not found:
                raise
        return found

    def _kept(self) -> dict[str, Any]:
        found = {}
        for key, value, kind in self._db.execute(_KEPT):
            if kind == "object":
                value = dict(self._db.execute("SELECT key, value FROM json_each(?)", (value,)))
            found[key] = value
        return found

    def _keep(self, found: dict[str, Any]) -> None:
        # A reader that becomes a writer never waits for another one: SQLite says so at once.
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('stats', ?)", (dumps(found),))

    def nodes(self) -> Iterator[tuple[str, str]]:
        """``(id, type)`` of every live node."""
        yield from self._db.execute("SELECT id, type FROM nodes WHERE invalidated_at IS NULL")

    def edges(self) -> Iterator[tuple[str, str, str]]:
        """``(from, to, relation)`` of every live edge."""
        yield from self._db.execute(
            f"SELECT {EDGE_ENDS}, relation FROM graph_edges WHERE invalidated_at IS NULL"
        )

    def count_forgotten(self) -> int:
        """How many nodes are forgotten."""
        number: int = self._db.execute(
            "SELECT count(*) FROM nodes WHERE invalidated_at IS NOT NULL"
        ).get
        return number

    def count_by_relation(self) -> dict[str, int]:
        """Relation to the number of its live edges."""
        return dict(
            self._db.execute(
                "SELECT relation, count(*) FROM graph_edges WHERE invalidated_at IS NULL"
                " GROUP BY relation"
            )
        )

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
