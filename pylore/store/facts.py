"""Facts as passages: the sentence of a fact is a passage of the subject. A fact is a live edge
between two live things, staged or confirmed, of a source other than ``system``."""

from __future__ import annotations

from ..core.errors import GraphUnavailable
from ..core.json import dumps
from ..core.vocabulary import TEXTS
from .connection import CHANGED_AT, ID_OF, KEY_OF, GraphTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core.model import EdgeKey

    Stated = tuple[EdgeKey, str, str, str]
    """(key of a fact's edge, its subject's title, its predicate, its object's title)"""

    Standing = tuple[str, float, str, str, int, float]
    """(sentence, confidence, source, status, accesses, days since it was written or read)"""

_THINGS = "('entity', 'concept')"
_PREDICATE = """CASE WHEN json_type(e.metadata, '$.predicate') = 'text'
  AND trim(json_extract(e.metadata, '$.predicate')) <> ''
THEN json_extract(e.metadata, '$.predicate') ELSE e.relation END"""

# Of each thing in json_each(?1) all edges or passages are due, and the edges in json_each(?2).
_NAMED_EDGES = f"""SELECT {KEY_OF.format("value->>0")}, {KEY_OF.format("value->>1")}, value->>2
FROM json_each(?2)"""
_OF = f"""
SELECT s.id, o.id, e.relation, s.title, {_PREDICATE}, o.title
FROM (SELECT from_key, to_key, relation FROM json_each(?1) j CROSS JOIN nodes n ON n.id = j.value
  CROSS JOIN links ON from_key = n.key UNION {_NAMED_EDGES}) due
CROSS JOIN links e ON (e.from_key, e.to_key, e.relation) = (due.from_key, due.to_key, due.relation)
CROSS JOIN nodes s ON s.key = e.from_key CROSS JOIN nodes o ON o.key = e.to_key
WHERE s.type IN {_THINGS} AND s.invalidated_at IS NULL
  AND o.type IN {_THINGS} AND o.invalidated_at IS NULL
  AND e.invalidated_at IS NULL AND e.source <> 'system' AND e.status IN ('confirmed', 'staged')
ORDER BY s.id, e.relation, o.id
"""
_LEADING_TO = f"""
SELECT s.id, j.value, e.relation FROM json_each(?) j
CROSS JOIN links e ON e.to_key = {KEY_OF.format("j.value")}
CROSS JOIN nodes s ON s.key = e.from_key WHERE s.type IN {_THINGS}
"""
_HELD = f"""
SELECT s.id, {ID_OF.format("p.to_key")}, p.relation, p.key, p.heading
FROM (SELECT value AS id FROM json_each(?1) UNION SELECT value->>0 FROM json_each(?2)) j
CROSS JOIN nodes s ON s.id = j.id CROSS JOIN passages p ON p.node_key = s.key
WHERE p.relation IS NOT NULL AND (s.id IN (SELECT value FROM json_each(?1))
  OR (p.node_key, p.to_key, p.relation) IN ({_NAMED_EDGES}))
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


class FactPassages(GraphTable):
    """Passages that state facts."""

    def of(self, ids: Sequence[str], edges: Sequence[EdgeKey] = ()) -> list[Stated]:
        """Return ``(key of the edge, subject's title, predicate or relation, object's title)`` of
        the facts of things, and of the edges that state facts, by key of the edge."""
        return [(row[:3], *row[3:]) for row in self._rows(_OF, dumps(ids), dumps(edges))]

    def leading_to(self, ids: Sequence[str]) -> list[EdgeKey]:
        """Return the edges of present or former facts with these things as objects."""
        return self._rows(_LEADING_TO, dumps(ids))

    def passages(
        self, ids: Sequence[str], edges: Sequence[EdgeKey] = ()
    ) -> dict[EdgeKey, tuple[int, str]]:
        """Return the passages of the facts of things, and of edges: edge to (key, sentence)."""
        rows = self._rows(_HELD, dumps(ids), dumps(edges))
        return {(one, other or "", name): (key, text) for one, other, name, key, text in rows}

    def shown(self, passages: Sequence[int]) -> dict[int, Standing]:
        """Return the sentence and standing of the passages that state facts; none without a graph.
        Reads of both ends count for the fact, and the age is the time since the last write or
        read."""
        try:
            return {key: tuple(fact) for key, *fact in self._rows(_SHOWN, dumps(passages))}
        except GraphUnavailable:
            return {}


_ANY = """
SELECT EXISTS (SELECT 1 FROM links
  WHERE instr(metadata, '"at":') > 0 AND invalidated_at IS NULL)"""
_PLACED = "instr(e.metadata, '\"at\":') > 0 AND e.invalidated_at IS NULL"
_SEVERAL = (
    "(SELECT count(*) FROM (SELECT 1 FROM passages"
    " WHERE node_key = {} AND relation IS NULL LIMIT 2)) = 2"
)
"""True for a node with several passages; in a single one a place adds no information."""

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


class PositionalEdges(GraphTable):
    """Edges with places (``at`` in the metadata, in characters of the body) in a text of several
    passages. Methods raise ``GraphUnavailable`` for missing or damaged tables."""

    def any(self) -> bool:
        """Return True if such edges exist."""
        return bool(self._value(_ANY))

    def touching(self, ids: Sequence[str]) -> set[EdgeKey]:
        """Return the live edges with places from or to these nodes."""
        return {*self._rows(_TOUCHING, dumps(ids))}

    def within(self, passages: Sequence[int]) -> list[tuple[int, str, str, float]]:
        """Return ``(passage, relation, to, weight)`` of the live edges in these passages."""
        return self._rows(_WITHIN, dumps(passages))
