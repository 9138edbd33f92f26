"""How often things were read, what is staged, and how old it is."""

from __future__ import annotations

from ...core.vocabulary import THING_IDS
from ...system.json_encode import dumps
from .access_log import FACT
from .driver import apsw
from .keys import EDGE_ENDS, KEY_OF

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...core.model import EdgeKey
    from .access_journal import AccessJournal

    Staged = tuple[float, float, int]
    """(confidence, days since it last changed, accesses)"""

# The staged facts of the things in json_each(?1).
_STAGED_FACTS = f"SELECT {EDGE_ENDS}, relation, access_count FROM (" + " UNION ".join(
    "SELECT e.from_key, e.to_key, e.relation, e.access_count FROM json_each(?1) j"
    f" CROSS JOIN graph_edges e ON {end} = {KEY_OF.format('j.value')}"
    f" WHERE e.status = 'staged' AND e.invalidated_at IS NULL AND {FACT}"
    for end in ("e.from_key", "e.to_key")
) + ")"  # fmt: skip


def _things(ids: Sequence[str]) -> list[str]:
    return [id for id in ids if id.startswith(THING_IDS)]


class Review:
    """Accesses, and what is staged. Nothing here changes a node's ``updated_at``."""

    def __init__(self, connection: apsw.Connection, reads: AccessJournal) -> None:
        self._db = connection
        self._reads = reads

    def count_access(self, ids: Sequence[str], at: str) -> None:
        """Count one more access of each of these live nodes, and of the live facts of things.

        It is written down beside the store: no writer waits for it, nor it for one. Whoever asks
        afterwards sees it counted. Of a thing with very many facts not all need be counted.
        """
        self._reads.add(ids, at)

    @property
    def is_behind(self) -> bool:
        """Return whether so many accesses wait to be counted in that a reader should do it, too."""
        return self._reads.is_long

    def catch_up(self) -> None:
        """Count in what waits; the caller holds a transaction. Every other one has done so."""
        self._reads.take()

    def ripe_nodes(self, ids: Sequence[str], accesses: int) -> list[str]:
        """Return those of ``ids`` that are staged and were read so often."""
        pending = self._reads.pending(writing=True)
        rows = self._db.execute(
            "SELECT n.id, n.access_count FROM json_each(?) j CROSS JOIN nodes n ON n.id = j.value"
            " WHERE n.status = 'staged' AND n.invalidated_at IS NULL",
            (dumps(ids),),
        )
        return sorted({
            id for id, count in rows
            if count + (pending.of_node(id)[0] if pending else 0) >= accesses
        })  # fmt: skip

    def ripe_facts(self, ids: Sequence[str], accesses: int) -> list[EdgeKey]:
        """Return the staged facts of these nodes that were read so often."""
        things = _things(ids)
        if not things:
            return []
        pending = self._reads.pending(writing=True)
        rows = self._db.execute(_STAGED_FACTS, (dumps(things),))
        return sorted({
            (one, other, relation) for one, other, relation, count in rows
            if count + (pending.of_fact(one, other)[0] if pending else 0) >= accesses
        })  # fmt: skip

    def confirm_nodes(self, ids: Sequence[str]) -> None:
        """Make these nodes confirmed ones; they are no newer for it."""
        self._db.execute(
            "UPDATE main.nodes SET status = 'confirmed'"
            " WHERE id IN (SELECT value FROM json_each(?))",
            (dumps(ids),),
        )

    def staged_nodes(self, source: str) -> dict[str, Staged]:
        """Return the live staged nodes of one source, by id."""
        rows = self._db.execute(
            "SELECT id, confidence, coalesce(julianday('now') - julianday(updated_at), 0.0),"
            " access_count FROM nodes"
            " WHERE status = 'staged' AND source = ? AND invalidated_at IS NULL ORDER BY id",
            (source,),
        )
        pending = self._reads.pending(writing=True)
        return {
            id: (sure, age, count + (pending.of_node(id)[0] if pending else 0))
            for id, sure, age, count in rows
        }

    def staged_edges(self, source: str) -> dict[EdgeKey, Staged]:
        """Return the live staged edges of one source. A change makes an edge as new as it is."""
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
        pending = self._reads.pending(writing=True)
        return {
            (one, other, relation): (
                sure, age, count + (pending.of_fact(one, other)[0] if pending else 0)
            )
            for one, other, relation, sure, age, count in rows
        }  # fmt: skip
