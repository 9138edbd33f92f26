"""Facts as passages: what is stated of a thing is, as a sentence, a passage of that thing.

A fact is a live edge between two live things that no program has computed.
"""

from __future__ import annotations

from ..core.json import dumps
from ..core.vocabulary import TEXTS
from .connection import CHANGED_AT, ID_OF, apsw
from .faults import NO_GRAPH, GraphFaults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..core.model import EdgeKey


if TYPE_CHECKING:
    Stated = tuple[EdgeKey, str, str, str]
    """(key of a fact's edge, its subject's title, its predicate, its object's title)"""

    Standing = tuple[str, float, str, str, int, float]
    """(sentence, confidence, source, status, accesses, days since it was written or read)"""

_THINGS = "('entity', 'concept')"
_FACTS = f"""
CROSS JOIN links e ON e.from_key = s.key CROSS JOIN nodes o ON o.key = e.to_key
WHERE s.type IN {_THINGS} AND s.invalidated_at IS NULL
  AND o.type IN {_THINGS} AND o.invalidated_at IS NULL
  AND e.invalidated_at IS NULL AND e.source <> 'system' AND e.status IN ('confirmed', 'staged')
"""
_PREDICATE = """CASE WHEN json_type(e.metadata, '$.predicate') = 'text'
  AND trim(json_extract(e.metadata, '$.predicate')) <> ''
THEN json_extract(e.metadata, '$.predicate') ELSE e.relation END"""

_OF = f"""
SELECT s.id, o.id, e.relation, s.title, {_PREDICATE}, o.title
FROM json_each(?) j CROSS JOIN nodes s ON s.id = j.value {_FACTS} ORDER BY j.key, e.relation, o.id
"""
_LEADING_TO = f"""
SELECT DISTINCT s.id FROM json_each(?) j CROSS JOIN nodes n ON n.id = j.value
CROSS JOIN links e ON e.to_key = n.key CROSS JOIN nodes s ON s.key = e.from_key
WHERE s.type IN {_THINGS}
"""
_HELD = f"""
SELECT s.id, {ID_OF.format("p.to_key")}, p.relation, p.key, p.heading FROM json_each(?) j
CROSS JOIN nodes s ON s.id = j.value
CROSS JOIN passages p ON p.node_key = s.key AND p.relation IS NOT NULL
"""
_SHOWN = f"""
SELECT p.key, p.heading, e.weight, e.source, e.status,
  max(e.access_count, coalesce(s_read.count, 0), coalesce(o_read.count, 0)),
  coalesce(julianday('now') - julianday(max({CHANGED_AT},
    coalesce(e.accessed_at, ''), coalesce(s_read.last, ''), coalesce(o_read.last, ''))), 0.0)
FROM json_each(?) j CROSS JOIN passages p ON p.key = j.value
CROSS JOIN links e
  ON e.from_key = p.node_key AND e.to_key = p.to_key AND e.relation = p.relation
CROSS JOIN nodes s ON s.key = p.node_key CROSS JOIN nodes o ON o.key = p.to_key
LEFT JOIN reads s_read ON s_read.key = s.key LEFT JOIN reads o_read ON o_read.key = o.key
"""
WITHOUT_PASSAGE = f"""
SELECT 1 FROM nodes s {_FACTS} AND NOT EXISTS (SELECT 1 FROM passages p
  WHERE p.node_key = e.from_key AND p.to_key = e.to_key AND p.relation = e.relation)"""
"""A query: a row for each fact that no passage states."""

OF_NO_FACT = f"""
SELECT 1 FROM passages WHERE relation IS NOT NULL
  AND (node_key, to_key, relation) NOT IN (SELECT e.from_key, e.to_key, e.relation
  FROM nodes s {_FACTS})"""
"""A query: a row for each passage that states what is no fact."""


class FactPassages:
    """Facts as passages: what is stated of a thing is, as a sentence, a passage of that thing.

    A fact is a live edge between two live things, staged or confirmed, that no program has computed
    (``source`` is not ``system``).
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def of(self, ids: Sequence[str]) -> list[Stated]:
        """Return the facts of these things.

        Each is ``(key of its edge, subject's title, predicate, object's title)``. The predicate is
        the metadata's, if that has one, or else the relation.
        """
        rows = self._db.execute(_OF, (dumps(ids),))
        return [(row[:3], *row[3:]) for row in rows]

    def subjects(self) -> list[str]:
        """Return the things of which something is stated, by id."""
        rows = self._db.execute(f"SELECT DISTINCT s.id FROM nodes s {_FACTS} ORDER BY s.id")
        return [str(id) for (id,) in rows]

    def leading_to(self, ids: Sequence[str]) -> list[str]:
        """Return the things of which something is, or was, stated that names one of these."""
        return [str(id) for (id,) in self._db.execute(_LEADING_TO, (dumps(ids),))]

    def passages(self, ids: Sequence[str]) -> dict[EdgeKey, tuple[int, str]]:
        """Return the passages that state what is said of these things: edge to (key, sentence)."""
        rows = self._db.execute(_HELD, (dumps(ids),))
        return {(one, other or "", name): (key, text) for one, other, name, key, text in rows}

    def shown(self, passages: Sequence[int]) -> dict[int, Standing]:
        """Return what those of these passages say that state a fact, and how it stands.

        A fact is read whenever its subject or object is, and as old as the last time that it was
        written or read. Without the tables of the graph there are none.
        """
        try:
            rows: list[Any] = self._db.execute(_SHOWN, (dumps(passages),)).fetchall()
        except NO_GRAPH:
            return {}
        return {key: tuple(standing) for key, *standing in rows}


_ANY = """
SELECT EXISTS (SELECT 1 FROM links
  WHERE instr(metadata, '"at":') > 0 AND invalidated_at IS NULL)"""
_PLACED = "instr(e.metadata, '\"at\":') > 0 AND e.invalidated_at IS NULL"
_SEVERAL = (
    "(SELECT count(*) FROM (SELECT 1 FROM passages"
    " WHERE node_key = {} AND relation IS NULL LIMIT 2)) = 2"
)
"""A place in a text of one passage says no more than that the edge is there."""

_TOUCHING = " UNION ".join(
    f"SELECT {ID_OF.format('e.from_key')}, {ID_OF.format('e.to_key')}, e.relation"
    f" FROM json_each(?1) j CROSS JOIN nodes n ON n.id = j.value{of}"
    f" CROSS JOIN links e ON e.{end}_key = n.key"
    f" WHERE {_PLACED} AND {_SEVERAL.format('e.from_key')}"
    for end, of in (("from", " AND n.type NOT IN ('file', 'symbol', 'commit', 'run')"), ("to", ""))
)
_WITHIN = f"""
SELECT p.key, e.relation, t.id, e.weight
FROM json_each(?) j CROSS JOIN passages p ON p.key = j.value AND p.collection = '{TEXTS}'
CROSS JOIN links e ON e.from_key = p.node_key
CROSS JOIN nodes t ON t.key = e.to_key
WHERE {_PLACED} AND {_SEVERAL.format("p.node_key")} AND t.invalidated_at IS NULL AND EXISTS (
  SELECT 1 FROM json_each(e.metadata, '$.at') a WHERE typeof(a.value) = 'integer'
    AND a.value >= p.start - 1 AND a.value < p.start - 1 + p.length)
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
