"""Counts over the graph: degrees, orphans, components."""

from __future__ import annotations

from ..core.json import dumps
from .connection import Table, ids_of
from .nodes import Nodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any


_LIVE_KEYS = "SELECT key FROM nodes WHERE invalidated_at IS NULL"
_ENDS = "SELECT from_key, to_key FROM links WHERE invalidated_at IS NULL"
_DEGREES = """
WITH sure AS (
  SELECT from_key, to_key FROM links WHERE invalidated_at IS NULL
  AND (weight >= ?1 OR relation NOT IN (SELECT value FROM json_each(?2))))
SELECT key, sum(o) AS o, sum(i) AS i FROM (
  SELECT from_key AS key, count(*) AS o, 0 AS i FROM sure GROUP BY from_key
  UNION ALL
  SELECT to_key, 0, count(*) FROM sure GROUP BY to_key)
GROUP BY key
"""


class Statistics(Table):
    """Counts live nodes and edges."""

    def stats(self) -> dict[str, Any]:
        """Return counts over live nodes and edges, those by name sorted; call it in a snapshot. An
        edge with an end that is not a live node is dangling: it counts for the degree of the other
        end, and connects nothing."""
        by_type = Nodes(self._db).count_by_type()
        by_relation = self.count_by_relation()
        keys = self._column(_LIVE_KEYS)
        degrees, components, dangling = _count_edges(self._db.execute(_ENDS), keys)
        most = max(degrees.values(), default=0)
        hubs = [str(key) for key, degree in degrees.items() if degree == most > 0]
        return {
            "nodes": len(keys),
            "nodes_by_type": by_type,
            "edges": sum(by_relation.values()),
            "edges_by_relation": by_relation,
            "mean_degree": round(sum(degrees.values()) / len(keys), 3) if keys else 0.0,
            "max_degree": most,
            "max_degree_id": min(ids_of(self._db, hubs).values(), default=None),
            "orphans": [*degrees.values()].count(0),
            "components": components,
            "dangling_edges": dangling,
            "forgotten_nodes": self._value(
                "SELECT count(*) FROM nodes WHERE invalidated_at IS NOT NULL"
            ),
        }

    def count_by_relation(self) -> dict[str, int]:
        """Return relation to the number of live edges."""
        rows = self._rows(
            "SELECT relation, count(*) FROM links WHERE invalidated_at IS NULL"
            " GROUP BY relation ORDER BY relation"
        )
        return dict(rows)

    def hubs(
        self, limit: int, least: float = 0, unsure: Iterable[str] = ()
    ) -> list[tuple[str, str, str, int, int]]:
        """Return ``(id, type, title, edges out, edges in)`` of the nodes with most edges, without
        edges of ``unsure`` relations below the weight ``least``."""
        query = (
            f"SELECT n.id, n.type, n.title, d.o, d.i FROM ({_DEGREES}) AS d"
            " JOIN nodes AS n ON n.key = d.key WHERE n.invalidated_at IS NULL"
            " ORDER BY d.o + d.i DESC, n.id LIMIT ?3"
        )
        return self._rows(query, least, dumps(sorted(unsure)), limit)

    def orphans(self, types: Sequence[str], limit: int) -> list[tuple[str, str, str]]:
        """Return ``(id, type, title)`` of nodes of these types, or all, without edges, by id."""
        linked = "SELECT 1 FROM links WHERE {} = n.key AND invalidated_at IS NULL"
        query = (
            "SELECT id, type, title FROM nodes AS n WHERE invalidated_at IS NULL"
            " AND (?1 = '[]' OR type IN (SELECT value FROM json_each(?1)))"
            f" AND NOT EXISTS ({linked.format('from_key')})"
            f" AND NOT EXISTS ({linked.format('to_key')}) ORDER BY id LIMIT ?2"
        )
        return self._rows(query, dumps(types), limit)


def _count_edges(
    edges: Iterable[tuple[int, ...]], keys: Sequence[int]
) -> tuple[dict[int, int], int, int]:
    """Return degrees by key, components (by union-find), and dangling edges."""
    degrees = dict.fromkeys(keys, 0)
    parents = dict(zip(keys, keys, strict=True))
    components, dangling = len(keys), 0
    for edge in edges:
        roots = []
        for key in edge:
            if key in degrees:
                degrees[key] += 1
                while parents[key] != key:
                    parents[key] = key = parents[parents[key]]
                roots.append(key)
        if len(roots) < 2:
            dangling += 1
        elif roots[0] != roots[1]:
            parents[roots[1]] = roots[0]
            components -= 1
    return degrees, components, dangling
