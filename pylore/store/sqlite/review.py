"""How often things were read, what is staged, and how old it is."""

from __future__ import annotations

from ...core.vocabulary import THING_IDS
from ...system.json_encode import dumps
from .driver import apsw
from .keys import EDGE_ENDS, ID_OF, KEY_OF

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..protocols import EdgeKey, Staged

# A fact is an edge between things: entities, and concepts for values.
_FACT = " AND ".join(
    f"(SELECT id LIKE 'entity-%' OR id LIKE 'concept-%' FROM (SELECT {ID_OF.format(end)} AS id))"
    for end in ("e.from_key", "e.to_key")
)

# The keys of the live facts of the things in json_each(?1).
_FACTS_OF = " UNION ".join(
    "SELECT e.from_key, e.to_key, e.relation FROM json_each(?1) j"
    f" CROSS JOIN graph_edges e ON {end} = {KEY_OF.format('j.value')}"
    f" WHERE e.invalidated_at IS NULL AND {_FACT}"
    for end in ("e.from_key", "e.to_key")
)


def _things(ids: Sequence[str]) -> list[str]:
    return [id for id in ids if id.startswith(THING_IDS)]


class SqliteReview:
    """Accesses, and what is staged. Nothing here changes a node's ``updated_at``."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def count_access(self, ids: Sequence[str], at: str) -> None:
        """One access more of each of these live nodes, and of the live facts of things."""
        self._db.execute(
            "UPDATE nodes SET accessed_at = ?2, access_count = access_count + 1"
            " WHERE id IN (SELECT value FROM json_each(?1)) AND invalidated_at IS NULL",
            (dumps(ids), at),
        )
        things = _things(ids)
        if things:
            self._db.execute(
                "UPDATE graph_edges SET accessed_at = ?2, access_count = access_count + 1"
                f" WHERE (from_key, to_key, relation) IN ({_FACTS_OF})",
                (dumps(things), at),
            )

    def ripe_nodes(self, ids: Sequence[str], accesses: int) -> list[str]:
        """Those of ``ids`` that are staged and were read so often."""
        rows = self._db.execute(
            "SELECT id FROM nodes WHERE id IN (SELECT value FROM json_each(?))"
            " AND status = 'staged' AND invalidated_at IS NULL AND access_count >= ? ORDER BY id",
            (dumps(ids), accesses),
        )
        return [id for (id,) in rows]

    def ripe_facts(self, ids: Sequence[str], accesses: int) -> list[EdgeKey]:
        """The staged facts of these nodes that were read so often."""
        things = _things(ids)
        if not things:
            return []
        rows: list[EdgeKey] = self._db.execute(  # type: ignore[assignment]
            f"SELECT {EDGE_ENDS}, relation FROM graph_edges"
            f" WHERE (from_key, to_key, relation) IN ({_FACTS_OF})"
            " AND status = 'staged' AND access_count >= ?2 ORDER BY from_id, to_id, relation",
            (dumps(things), accesses),
        ).fetchall()
        return rows

    def confirm_nodes(self, ids: Sequence[str]) -> None:
        """Makes these nodes confirmed ones; they are no newer for it."""
        self._db.execute(
            "UPDATE nodes SET status = 'confirmed' WHERE id IN (SELECT value FROM json_each(?))",
            (dumps(ids),),
        )

    def staged_nodes(self, source: str) -> dict[str, Staged]:
        """The live staged nodes of one source, by id."""
        rows = self._db.execute(
            "SELECT id, confidence, coalesce(julianday('now') - julianday(updated_at), 0.0),"
            " access_count FROM nodes"
            " WHERE status = 'staged' AND source = ? AND invalidated_at IS NULL ORDER BY id",
            (source,),
        )
        return {row[0]: row[1:] for row in rows}

    def staged_edges(self, source: str) -> dict[EdgeKey, Staged]:
        """The live staged edges of one source. A change makes an edge as new as it is."""
        rows = self._db.execute(
            "SELECT e.from_id, e.to_id, e.relation, e.weight, coalesce(julianday('now')"
            " - julianday(max(e.created_at, coalesce((SELECT max(h.changed_at)"
            " FROM edge_history h WHERE h.from_id = e.from_id AND h.to_id = e.to_id"
            " AND h.relation = e.relation), ''))), 0.0), e.access_count"
            f" FROM (SELECT {EDGE_ENDS}, * FROM graph_edges"
            " WHERE status = 'staged' AND source = ? AND invalidated_at IS NULL LIMIT -1) e"
            " ORDER BY e.from_id, e.to_id, e.relation",
            (source,),
        )
        return {row[:3]: row[3:] for row in rows}
