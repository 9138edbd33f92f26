"""What runs were shown and how it was rated: the table shown, and used_in_run edges."""

from __future__ import annotations

from ...system.json_encode import dumps
from .driver import apsw
from .keys import ID_OF, KEY_OF

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Use = tuple[str, str, str | None, int | None, str | None, str | None, str]
    """(node, run, helpful or unhelpful or None, position, query, when rated, the node's title)"""

    Summary = tuple[str, str, str, int, int, float, float]
    """(run, data, created, shown, used, helpful, unhelpful)"""


_RATING = """CASE WHEN e.weight IS NULL OR json_type(e.metadata, '$.rating') = 'null' THEN NULL
  WHEN e.weight >= 0.5 THEN 'helpful' ELSE 'unhelpful' END"""

_FROM, _TO = ID_OF.format("e.from_key"), ID_OF.format("e.to_key")
_USES = f"""
SELECT {_FROM} AS from_id, {_TO} AS to_id,
  {_RATING} AS rating, json_extract(e.metadata, '$.position') AS position,
  json_extract(e.metadata, '$.query'),
  coalesce(json_extract(e.metadata, '$.rated_at'), e.created_at) AS rated_at,
  coalesce(n.title, '')
FROM graph_edges e LEFT JOIN nodes n ON n.key = e.from_key
WHERE e.relation = 'used_in_run' AND e.invalidated_at IS NULL
"""

_LIST = f"""
SELECT r.id, r.data, r.created_at,
  (SELECT count(*) FROM shown s WHERE s.run_id = r.id AND NOT EXISTS (
    SELECT 1 FROM graph_edges WHERE from_key = {KEY_OF.format("s.node_id")} AND to_key = r.key
    AND relation = 'used_in_run' AND invalidated_at IS NULL)),
  count(e.from_key), total({_RATING} IS 'helpful'), total({_RATING} IS 'unhelpful')
FROM (SELECT key, id, data, created_at FROM nodes
  WHERE type = 'run' AND invalidated_at IS NULL AND (?1 IS NULL OR id = ?1)
  ORDER BY created_at DESC, id DESC LIMIT ?2) r
LEFT JOIN graph_edges e
  ON e.to_key = r.key AND e.relation = 'used_in_run' AND e.invalidated_at IS NULL
GROUP BY r.id ORDER BY r.created_at DESC, r.id DESC
"""

_TOPS = f"""
SELECT j.value AS run, s.query AS query, s.node_id AS node FROM json_each(?1) j
CROSS JOIN shown s ON s.run_id = j.value WHERE s.position <= ?2
UNION SELECT r.id, coalesce(json_extract(e.metadata, '$.query'), ''), {_FROM}
FROM json_each(?1) j CROSS JOIN nodes r ON r.id = j.value CROSS JOIN graph_edges e
  ON e.to_key = r.key AND e.relation = 'used_in_run' AND e.invalidated_at IS NULL
WHERE json_extract(e.metadata, '$.position') <= ?2
ORDER BY run, query, node
"""


class Impressions:
    """What runs were shown and how it was rated; a run itself is a node, a rating an edge."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def show(self, run: str, ids: Iterable[str], query: str, at: str) -> None:
        """Record that these nodes were shown, the first at position 1; the best one stays."""
        self._db.executemany(
            "INSERT INTO main.shown(run_id, node_id, position, query, shown_at)"
            " VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET position = excluded.position, query = excluded.query"
            " WHERE excluded.position < position",
            ((run, id, position, query, at) for position, id in enumerate(ids, start=1)),
        )

    def shown(self, run: str) -> dict[str, tuple[int, str]]:
        """Return node to (best position, the query of it), in the order of positions."""
        rows = self._db.execute(
            "SELECT node_id, position, query FROM shown WHERE run_id = ?"
            " ORDER BY position, shown_at, node_id",
            (run,),
        )
        return {id: (position, query) for id, position, query in rows}

    def clear(self, run: str) -> None:
        """Take away what a run was shown: its edges have it now."""
        self._db.execute("DELETE FROM main.shown WHERE run_id = ?", (run,))

    def uses(self, run: str) -> list[Use]:
        """Return the live ``used_in_run`` edges of one run, in the order of positions."""
        rows: list[Use] = self._db.execute(  # type: ignore[assignment]
            f"{_USES} AND e.to_key = {KEY_OF.format('?1')}"
            " ORDER BY position IS NULL, position, from_id",
            (run,),
        ).fetchall()
        return rows

    def rated(self, run: str, ids: Iterable[str], limit: int) -> list[Use]:
        """Return the rated ones of all runs or of one, of all nodes or of these, the newest
        first."""
        wanted = list(ids)
        of_run = f" AND e.to_key = {KEY_OF.format('?1')}" if run else ""
        of_nodes = (
            " AND e.from_key IN (SELECT n.key FROM json_each(?2) j JOIN nodes n ON n.id = j.value)"
        )
        rows: list[Use] = self._db.execute(  # type: ignore[assignment]
            f"{_USES} AND rating IS NOT NULL{of_run}{of_nodes if wanted else ''}"
            " ORDER BY rated_at DESC, to_id, from_id LIMIT ?3",
            (run, dumps(wanted), limit),
        ).fetchall()
        return rows

    def summaries(self, run: str | None, limit: int) -> list[Summary]:
        """Return ``(id, data, created, shown, used, helpful, unhelpful)`` of live runs.

        The newest first; ``used`` counts edges, ``shown`` what has none yet.
        """
        return self._db.execute(_LIST, (run, limit)).fetchall()  # type: ignore[return-value]

    def tops(self, runs: Sequence[str], most: int) -> list[tuple[str, str, str]]:
        """Return ``(run, query, node)`` of what these runs were shown at the first ``most``
        positions.

        In this order.
        """
        return self._db.execute(_TOPS, (dumps(runs), most)).fetchall()  # type: ignore[return-value]

    def state(self, run: str) -> str:
        """Return ``open``, ``finished`` or ``forgotten``; nothing where there is no such run."""
        found: str | None = self._db.execute(
            "SELECT CASE WHEN invalidated_at IS NOT NULL THEN 'forgotten'"
            " WHEN json_extract(data, '$.finished_at') IS NULL THEN 'open' ELSE 'finished' END"
            " FROM nodes WHERE id = ? AND type = 'run'",
            (run,),
        ).get
        return found or ""
