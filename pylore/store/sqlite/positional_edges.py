"""Edges that say where in the text of their node they stand: ``at`` in their metadata.

A node of code has no text that links stand in, and may have thousands of edges: none of those
that leave it is looked at. What leads to a node is found by an index of these edges alone.
"""

from __future__ import annotations

from ...core.vocabulary import TEXTS
from ...system.json_encode import dumps
from .driver import apsw
from .faults import GraphFaults
from .keys import ID_OF

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...core.model import EdgeKey


_ANY = """
SELECT EXISTS (SELECT 1 FROM graph_edges
  WHERE instr(metadata, '"at":') > 0 AND invalidated_at IS NULL)"""
_PLACED = "instr(e.metadata, '\"at\":') > 0 AND e.invalidated_at IS NULL"
_SEVERAL = "(SELECT count(*) FROM (SELECT 1 FROM passages WHERE node_key = {} LIMIT 2)) = 2"
"""A place in a text of one passage says no more than that the edge is there."""

_TOUCHING = " UNION ".join(
    f"SELECT {ID_OF.format('e.from_key')}, {ID_OF.format('e.to_key')}, e.relation"
    f" FROM json_each(?1) j CROSS JOIN nodes n ON n.id = j.value{of}"
    f" CROSS JOIN graph_edges e ON e.{end}_key = n.key"
    f" WHERE {_PLACED} AND {_SEVERAL.format('e.from_key')}"
    for end, of in (("from", " AND n.type NOT IN ('file', 'symbol', 'commit', 'run')"), ("to", ""))
)
_WITHIN = f"""
SELECT p.key, e.relation, t.id, e.weight
FROM json_each(?) j CROSS JOIN passages p ON p.key = j.value AND p.collection = '{TEXTS}'
CROSS JOIN passage_texts s ON s.key = p.key
CROSS JOIN graph_edges e ON e.from_key = p.node_key
CROSS JOIN nodes t ON t.key = e.to_key
WHERE {_PLACED} AND t.invalidated_at IS NULL AND EXISTS (
  SELECT 1 FROM json_each(e.metadata, '$.at') a WHERE typeof(a.value) = 'integer'
    AND a.value >= s.start - 1 AND a.value < s.start - 1 + s.length)
"""


class PositionalEdges:
    """Edges that say where in the text of their node they are.

    ``at`` in the metadata of an edge are places in the body of the node that it begins at, in
    characters. They count where that text has several passages.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def any(self) -> bool:
        """Return whether there are such edges at all: a walk asks that first.

        Raises:
            GraphUnavailable: the graph's tables are missing or damaged.
        """
        with GraphFaults():
            return bool(self._db.execute(_ANY).get)

    def touching(self, ids: Sequence[str]) -> set[EdgeKey]:
        """Return the live edges from or to these nodes that say where they stand in a longer text.

        Raises:
            GraphUnavailable: the graph's tables are missing or damaged.
        """
        with GraphFaults():
            rows: set[EdgeKey] = set(self._db.execute(_TOUCHING, (dumps(ids),)))
        return rows

    def within(self, passages: Sequence[int]) -> list[tuple[int, str, str, float]]:
        """Return ``(passage, relation, to, weight)`` of edges in these passages, in any order.

        The edges and the nodes that they lead to are live.

        Raises:
            GraphUnavailable: the graph's tables are missing or damaged.
        """
        with GraphFaults():
            return self._db.execute(_WITHIN, (dumps(passages),)).fetchall()  # type: ignore[return-value]
