"""The graph: edges, their history, and the neighbours of a frontier."""

from __future__ import annotations

from itertools import starmap

from ..core.json import dumps, require_json_object, require_storable
from ..core.model import Edge
from ..core.vocabulary import ANCHORED_TO, DEFINES, FILE_IDS, THING_IDS
from .connection import (
    EDGE_ENDS,
    ID_OF,
    KEY_OF,
    apsw,
    given_keys,
    ids_of,
    key_of,
    keys_of,
)
from .derived import COUNTED, count_ratings, drop_absent, rated_with
from .faults import GraphFaults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from ..core.model import EdgeKey


if TYPE_CHECKING:
    Neighbour = tuple[str, str, str, float, bool]
    """(node, neighbour, relation, weight, whether the edge leads from node to neighbour)"""

    Row = tuple[int, int, list[str]]
    """(key, whether the edges lead away, and relation, key and weight of each in turn)"""

    Bundle = tuple[str, bool, list[str], list[str], list[float]]
    """(node, whether the edges lead away from it, and for each: relation, neighbour, weight)"""

_REST = Edge.FIELDS[2:]
_READ = f"SELECT {EDGE_ENDS}, {', '.join(_REST)} FROM links"
_READS = {
    "accessed_at": "nullif(max(coalesce(accessed_at, ''), coalesce(r.last, '')), '')",
    "access_count": "max(access_count, coalesce(r.count, 0))",
}
_FACTS_OF = f"""
SELECT * FROM (SELECT {EDGE_ENDS}, {", ".join(_READS.get(name, name) for name in _REST)}
  FROM links LEFT JOIN reads r ON r.key = to_key
  WHERE from_key = ?1 AND (invalidated_at IS NULL OR status = 'superseded') LIMIT -1)
WHERE to_id GLOB 'entity-*' OR to_id GLOB 'concept-*'
ORDER BY invalidated_at IS NOT NULL OR status = 'superseded', weight DESC, relation, to_id LIMIT ?2
"""
_CONTENT = ("weight", "source", "status", "metadata", "ended_at")
_KEPT = ("created_at", "accessed_at", "access_count")
_GONE = "coalesce((SELECT invalidated_at FROM nodes WHERE key = {}), '')"
_OUT = f"coalesce(?{{ended}}, nullif(max({_GONE}, {_GONE}), ''))"
"""When an edge is out: it was ended then, or an end of it is forgotten since then. SQLite makes a
table for each ``IN`` of a row that it writes."""
_GIVEN = {
    **{name: f"?{number}" for number, name in enumerate(Edge.FIELDS, 1)},
    "invalidated_at": _OUT.format("?1", "?2", ended=Edge.FIELDS.index("ended_at") + 1),
}
INSERT_EDGE = (
    f"INSERT INTO main.links(from_key, to_key, {', '.join(_REST)})"
    f" VALUES ({', '.join(_GIVEN.values())})"
)
"""A row of ``edge_rows``: it is out when it was ended, or while an end of it is forgotten."""

_SETTLE = (
    f"{INSERT_EDGE} ON CONFLICT DO UPDATE SET"
    f" {', '.join(f'{name} = excluded.{name}' for name in _REST[1:])}"
)
_THESE = (
    f"SELECT from_key, to_key, {', '.join(_REST)} FROM json_each(?) j CROSS JOIN links"
    " ON from_key = json_extract(j.value, '$[0]') AND to_key = json_extract(j.value, '$[1]')"
    " AND relation = json_extract(j.value, '$[2]')"
)
_THIS = f"from_key = {KEY_OF.format('?1')} AND to_key = {KEY_OF.format('?2')} AND relation = ?3"

DANGLING = " UNION ".join(
    "SELECT from_key, to_key, relation FROM absent CROSS JOIN links"
    f" ON {end} = absent.key WHERE invalidated_at IS NULL"
    for end in ("from_key", "to_key")
)
"""A query: ``from_key, to_key, relation`` of live edges with an end that is not in the store."""

_NO_LIVE_NODE = (
    "SELECT j.value FROM json_each(?) j WHERE NOT EXISTS"
    " (SELECT 1 FROM nodes n WHERE n.id = j.value AND n.invalidated_at IS NULL)"
)

_THINGS_LEADING_TO = f"""
SELECT s.id FROM (SELECT {KEY_OF.format("?1")} AS key) n CROSS JOIN links e
ON e.to_key = n.key CROSS JOIN nodes s ON s.key = e.from_key WHERE s.type IN ('entity', 'concept')
"""
_JOINED = (
    "links e JOIN nodes a ON a.key = e.from_key JOIN nodes b ON b.key = e.to_key"
    " WHERE e.invalidated_at IS NULL AND instr(e.metadata, '\"forced\"') = 0"
)

_FEW_RELATIONS = 2
"""Looked up each by itself. Of 80 results of a context, contradictions and successions take 0.6 ms
so, and 3.2 where all edges are read and others dropped (10,000 nodes)."""

_CHUNK = 1000
"""Edges whose ends are looked up together."""

# A row holds many edges as text: one long string reaches Python faster than as
# many rows. Names of relations have no control characters, so this one separates.
_SEPARATOR = "\x1f"

# The edges of a node, any of them, up to a limit: one look-up a node and direction.
_SOME = """
SELECT f.value, {outgoing}, (
  SELECT group_concat(relation || char(31) || {other} || char(31) || weight, char(31)) FROM (
    SELECT relation, {other}, weight FROM links
    WHERE {this} = f.value AND invalidated_at IS NULL LIMIT :limit)) AS ends
FROM json_each(:frontier) f
"""
# The strongest edges of a node and relation: one look-up each, however many there are.
_STRONGEST = """
SELECT f.value, {outgoing}, (
  SELECT group_concat(r.value || char(31) || {other} || char(31) || weight, char(31)) FROM (
    SELECT {other}, weight FROM links
    WHERE {this} = f.value AND relation = r.value AND invalidated_at IS NULL
    ORDER BY weight DESC, {other} LIMIT :limit)) AS ends
FROM json_each(:frontier) f CROSS JOIN json_each(:relations) r
"""

# Records that are anchored to symbols of a file, and not to the file.
_ANCHORED = f"""
SELECT f.value, 0, (
  SELECT group_concat(relation || char(31) || from_key || char(31) || weight, char(31)) FROM (
    SELECT a.relation, a.from_key, max(a.weight) AS weight
    FROM links d CROSS JOIN links a ON a.to_key = d.to_key
    WHERE d.from_key = f.value AND d.relation = '{DEFINES}' AND d.invalidated_at IS NULL
    AND a.relation = '{ANCHORED_TO}' AND a.invalidated_at IS NULL
    AND NOT EXISTS (
      SELECT 1 FROM links o WHERE o.from_key = a.from_key AND o.to_key = f.value
      AND o.relation = '{ANCHORED_TO}' AND o.invalidated_at IS NULL)
    GROUP BY a.from_key ORDER BY weight DESC, a.from_key LIMIT :limit)) AS ends
FROM json_each(:frontier) f WHERE ends IS NOT NULL AND EXISTS (
  SELECT 1 FROM links WHERE relation = '{ANCHORED_TO}' AND invalidated_at IS NULL)
"""

_INTO_FILES = """
SELECT {from_id}, j.value, e.weight FROM json_each(:paths) j CROSS JOIN {nodes} n
ON n.id = 'file-' || j.value CROSS JOIN links e ON e.to_key = n.key
WHERE e.relation = :relation AND e.invalidated_at IS NULL
UNION ALL SELECT {from_id}, j.value, e.weight FROM json_each(:paths) j CROSS JOIN {nodes} n
ON n.id > 'symbol-' || j.value || '::' AND n.id < 'symbol-' || j.value || ':;'
CROSS JOIN links e ON e.to_key = n.key
WHERE e.relation = :relation AND e.invalidated_at IS NULL
"""


def _both_ways(half: str) -> str:
    out = half.format(outgoing=1, this="from_key", other="to_key")
    into = half.format(outgoing=0, this="to_key", other="from_key")
    # LIMIT -1 keeps SQLite from computing the inner query a second time for the WHERE.
    return f"SELECT * FROM ({out} UNION ALL {into} LIMIT -1) WHERE ends IS NOT NULL"


_SOME_EDGES = _both_ways(_SOME)
_STRONGEST_EDGES = _both_ways(_STRONGEST)
_FILES_EDGES = " UNION ALL ".join(
    _INTO_FILES.format(nodes=nodes, from_id=ID_OF.format("e.from_key"))
    for nodes in ("nodes", "absent")
)


def _only(ends: list[str], wanted: frozenset[str]) -> list[str]:
    """Return those edges, of ``_rows``, whose relation is wanted."""
    if wanted.issuperset(ends[::3]):
        return ends
    return [
        part
        for at in range(0, len(ends), 3) if ends[at] in wanted
        for part in ends[at : at + 3]
    ]  # fmt: skip


class Edges:
    """Reads and writes edges. An edge is one ``(from_id, to_id, relation)``.

    An edge with a forgotten end is out until that is back, and has not changed.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self.stated: set[str] = set()
        """Things whose facts may be others by what was written here: ``Index.keep_facts``
        empties it."""

    def neighbours(
        self, frontier: Sequence[str], relations: Sequence[str], limit: int
    ) -> list[Neighbour]:
        """Return ``bundles``, an edge an item; of few relations these edges alone are read."""
        few = limit >= 0 and len(relations) <= _FEW_RELATIONS
        return [
            (node, other, relation, weight, outgoing)
            for node, outgoing, names, others, weights in self._bundles(
                frontier, relations, limit, strongest=few
            )
            for relation, other, weight in zip(names, others, weights, strict=True)
        ]

    def bundles(
        self, frontier: Sequence[str], relations: Sequence[str], limit: int
    ) -> list[Bundle]:
        """Return both ends' live edges of a whole frontier, in one query.

        At most ``limit`` edges, the strongest, a node, a relation and a direction, of equal
        ones those to what the store has known longest: an index has them in that order, so
        that a hub costs no more than its limit. ``ALL`` sets no limit. Nodes with more
        edges than that are asked about once more, all of them together. An anchor to a symbol
        counts as one to its file: a file has an edge from each record that is anchored so.

        Raises:
            GraphUnavailable: the graph's tables are missing or damaged.
        """
        found = self._bundles(frontier, relations, limit)
        files = [id for id in frontier if id.startswith(FILE_IDS)]
        if files and {DEFINES, ANCHORED_TO}.issubset(relations):
            with GraphFaults():
                named = {key: id for id, key in keys_of(self._db, files).items()}
                found += self._named(self._rows(_ANCHORED, [*named], relations, limit), named)
        return found

    def _bundles(
        self,
        frontier: Sequence[str],
        relations: Sequence[str],
        limit: int,
        *,
        strongest: bool = False,
    ) -> list[Bundle]:
        with GraphFaults():
            named = {key: id for id, key in keys_of(self._db, frontier).items()}
            if strongest:
                found = self._rows(_STRONGEST_EDGES, [*named], relations, limit)
            else:
                found = self._rows(_SOME_EDGES, [*named], relations, limit)
                hubs = {key for key, _, ends in found if len(ends) >= 3 * limit >= 0}
                wanted = frozenset(relations)
                found = [
                    (key, outgoing, _only(ends, wanted))
                    for key, outgoing, ends in found
                    if key not in hubs
                ]
                if hubs:
                    by_id = sorted(hubs, key=named.__getitem__)
                    found += self._rows(_STRONGEST_EDGES, by_id, relations, limit)
            return self._named(found, named)

    def _named(self, found: Sequence[Row], named: Mapping[int, str]) -> list[Bundle]:
        """Return rows as bundles: ids in place of keys."""
        ids = ids_of(self._db, {other for _, _, ends in found for other in ends[1::3]})
        id_of = ids.__getitem__
        return [
            (named[key], outgoing == 1, ends[::3], [*map(id_of, ends[1::3])],
             [*map(float, ends[2::3])])
            for key, outgoing, ends in found
        ]  # fmt: skip

    def _rows(
        self, sql: str, keys: Sequence[int], relations: Sequence[str], limit: int
    ) -> list[Row]:
        """Return key and direction, and of each edge relation, key of the other end, weight."""
        given = {"frontier": dumps(keys), "relations": dumps(relations), "limit": limit}
        rows: Iterable[Any] = self._db.execute(sql, given).fetchall()
        return [(key, outgoing, ends.split(_SEPARATOR)) for key, outgoing, ends in rows]

    def into_files(self, paths: Sequence[str], relation: str) -> list[tuple[str, str, float]]:
        """Return ``(node, path, weight)`` of live edges that lead to these files or to symbols in
        them.

        Raises:
            GraphUnavailable: the graph's tables are missing or damaged.
        """
        with GraphFaults():
            rows: list[tuple[str, str, float]] = self._db.execute(  # type: ignore[assignment]
                _FILES_EDGES, {"paths": dumps(paths), "relation": relation}
            ).fetchall()
        return rows

    def get(self, from_id: str, to_id: str, relation: str) -> Edge | None:
        """Return one edge, invalidated or not."""
        rows = self._db.execute(f"{_READ} WHERE {_THIS}", (from_id, to_id, relation))
        return next(starmap(Edge, rows), None)

    def get_many(self, keys: Sequence[EdgeKey]) -> dict[EdgeKey, Edge]:
        """Return those of these edges that exist, invalidated or not."""
        found = {}
        for start in range(0, len(keys), _CHUNK):
            chunk = keys[start : start + _CHUNK]
            known = keys_of(self._db, {id for key in chunk for id in key[:2]})
            given = [(known.get(from_id), known.get(to_id), name) for from_id, to_id, name in chunk]
            id_of = {key: id for id, key in known.items()}
            rows = self._db.execute(_THESE, (dumps(given),))
            for a, b, *rest in rows:
                edge = Edge(id_of[a], id_of[b], *rest)
                found[edge.key] = edge
        return found

    def put(self, edge: Edge) -> str:
        """Write an edge whole: ``added``, ``updated``, or ``unchanged``."""
        old = self.get(*edge.key)
        if old is not None and all(getattr(old, f) == getattr(edge, f) for f in _CONTENT):
            return "unchanged"
        require_storable(edge.weight)
        if old is None or old.metadata != edge.metadata:
            require_json_object(edge.metadata)
        self.put_many([edge])
        return "added" if old is None else "updated"

    def replace_all(self, edges: Iterable[Edge]) -> None:
        """Put these edges in place of all that there are, invalidated ones too."""
        self._db.execute("DELETE FROM main.links")
        self._db.executemany(INSERT_EDGE, edge_rows(self._db, edges))
        drop_absent(self._db)
        self._db.execute("DELETE FROM main.ratings")
        self._db.execute(f"INSERT INTO main.ratings {COUNTED.format('main.links')}")

    def put_many(self, edges: Iterable[Edge]) -> None:
        """Write edges whole; what they replace stays in their past."""
        from itertools import islice

        rest = iter(edges)
        while chunk := [*islice(rest, _CHUNK)]:
            held = self.get_many([edge.key for edge in chunk])
            self._record(chunk, held)
            self.settle(chunk)

    def _record(self, edges: Sequence[Edge], held: Mapping[EdgeKey, Edge]) -> None:
        """Give edges their stamps, and keep what those that are there leave."""
        from ..core.stamps import has_history
        from .changes import ChangeLog

        changes = ChangeLog(self._db)
        purged = changes.deleted()
        new = []
        for edge in edges:
            old = held.get(edge.key)
            if old is not None:
                for name in _KEPT:
                    setattr(edge, name, getattr(old, name))
            if old is None and not {*edge.key[:2]} & purged.keys():
                edge.stamps = ""
                new += [edge] * has_history(edge)
            else:
                changes.record(old, edge)
        if new:
            changes.add(new)

    def settle(self, edges: Iterable[Edge]) -> None:
        """Write edges whole, with the stamps that they have."""
        edges = [*edges]
        self.stated.update(edge.from_id for edge in edges if edge.from_id.startswith(THING_IDS))
        self._db.executemany(_SETTLE, edge_rows(self._db, edges))
        rated = {edge.from_id for edge in edges if edge.relation == "used_in_run"}
        if rated:
            count_ratings(self._db, keys_of(self._db, rated).values())

    def with_relation(self, relation: str) -> Iterator[Edge]:
        """Return every edge of one relation, invalidated or not, by from and to."""
        rows = self._db.execute(f"{_READ} WHERE relation = ? ORDER BY from_id, to_id", (relation,))
        return starmap(Edge, rows)

    def of(self, id: str, *, forgotten: bool = False) -> list[Edge]:
        """Return the live edges of one node, both directions; with ``forgotten``, all of them."""
        live = "" if forgotten else " AND invalidated_at IS NULL"
        rows = self._db.execute(
            f"{_READ} WHERE from_key = ?1{live} UNION {_READ} WHERE to_key = ?1{live}"
            " ORDER BY relation, from_id, to_id",
            (key_of(self._db, id),),
        )
        return [*starmap(Edge, rows)]

    def between(self, from_id: str, to_id: str) -> list[Edge]:
        """Return the live edges from one node to another."""
        keys = keys_of(self._db, (from_id, to_id))
        rows = self._db.execute(
            f"{_READ} WHERE from_key = ? AND to_key = ? AND invalidated_at IS NULL"
            " ORDER BY relation",
            (keys.get(from_id), keys.get(to_id)),
        )
        return [*starmap(Edge, rows)]

    def leading(self, from_id: str, relation: str) -> list[Edge]:
        """Return the edges of one relation that lead away from a node and have not ended, by to;
        those to what is forgotten, too."""
        rows = self._db.execute(
            f"{_READ} WHERE from_key = ? AND relation = ? AND ended_at IS NULL ORDER BY to_id",
            (key_of(self._db, from_id), relation),
        )
        return [*starmap(Edge, rows)]

    def facts_of(self, id: str, limit: int) -> list[Edge]:
        """Return at most ``limit`` edges from a thing to things, live or superseded, read as often
        as their objects: live ones first, the surest first, then by relation and to."""
        rows = self._db.execute(_FACTS_OF, (key_of(self._db, id), limit))
        return [*starmap(Edge, rows)]

    def all(self, *, live_only: bool = False) -> Iterator[Edge]:
        """Return every edge, by from, to, relation."""
        condition = "invalidated_at IS NULL" if live_only else "1"
        return starmap(Edge, self._by_id(", ".join(_REST), condition))

    def outlines(self, relations: Sequence[str]) -> Iterator[tuple[str, str, str, float, str]]:
        """Yield ``(from, to, relation, weight, status)`` of live edges, by from, to, relation."""
        yield from self._by_id(
            "relation, weight, status",
            "invalidated_at IS NULL AND relation IN (SELECT value FROM json_each(?))",
            dumps(relations),
        )

    def _by_id(self, columns: str, condition: str, *given: str) -> Iterator[tuple[Any, ...]]:
        """Yield ``(from_id, to_id, columns)`` of edges in the order of ids. Edges that begin at
        what is not in the store come in between."""
        found = [
            self._db.execute(
                f"SELECT end_id, {ID_OF.format('to_key')} AS to_id, {columns}"
                f" FROM (SELECT id AS end_id, key AS end_key FROM {ends})"
                f" CROSS JOIN links ON from_key = end_key WHERE {condition}"
                " ORDER BY end_id, to_id, relation",
                given,
            )
            for ends in ("nodes", "absent")
        ]
        from heapq import merge  # who reads all edges can wait for it

        yield from merge(*found, key=_edge_key)

    def invalidate(self, key: tuple[str, str, str], at: str | None, status: str = "") -> None:
        """End an edge at this time; None for ``at``: it stands again."""
        edge = self.get(*key)
        if edge is not None:
            edge.ended_at, edge.status = at, status or edge.status
            self.put(edge)

    def drop_derived(self, keys: Iterable[EdgeKey]) -> None:
        """Delete edges that nobody made and that are derived no more."""
        self._db.executemany(f"DELETE FROM main.links WHERE {_THIS} AND source = 'system'", keys)
        drop_absent(self._db)

    def note_ends(self, id: str) -> None:
        """Note that a thing was forgotten or is back: what its links state is no more, or again."""
        if id.startswith(THING_IDS):
            self.stated.add(id)
            rows = self._db.execute(_THINGS_LEADING_TO, (id,))
            self.stated.update(str(other) for (other,) in rows)

    def delete_node(self, id: str) -> int:
        """Take all edges of a node away for good; return how many there were."""
        self.note_ends(id)
        key = key_of(self._db, id)
        if key is None:
            return 0
        rated = rated_with(self._db, key)
        self._db.execute("DELETE FROM main.links WHERE from_key = ?1 OR to_key = ?1", (key,))
        number = self._db.changes()
        count_ratings(self._db, rated)
        drop_absent(self._db)
        return number

    def dangling(self, limit: int = -1) -> list[tuple[str, str, str]]:
        """Return live edges with an end that is not a live node."""
        rows: list[tuple[str, str, str]] = self._db.execute(  # type: ignore[assignment]
            f"SELECT {EDGE_ENDS}, relation FROM ({DANGLING})"
            " ORDER BY from_id, to_id, relation LIMIT ?",
            (limit,),
        ).fetchall()
        return rows

    def type_pairs(self, relations: Sequence[str]) -> dict[tuple[str, str, str], int]:
        """Return ``(relation, type, type)`` to how many live edges of it join nodes of these types.

        What has ``"forced"`` in its metadata, or an end that is not in the store, does not count.
        """
        rows = self._db.execute(
            f"SELECT e.relation, a.type, b.type, count(*) FROM {_JOINED}"
            " AND e.relation IN (SELECT value FROM json_each(?)) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
            (dumps(relations),),
        )
        return {row[:3]: row[3] for row in rows}

    def first_between(self, relation: str, from_type: str, to_type: str) -> tuple[str, str]:
        """Return the ends of the first one, by ids, of those that ``type_pairs`` counts."""
        from_id, to_id = self._db.execute(
            f"SELECT a.id, b.id FROM {_JOINED} AND e.relation = ? AND a.type = ? AND b.type = ?"
            " ORDER BY 1, 2 LIMIT 1",
            (relation, from_type, to_type),
        ).get
        return from_id, to_id

    def dangling_among(self, keys: Iterable[EdgeKey]) -> list[EdgeKey]:
        """Return those of these edges that are live and have an end that is not a live node, by
        key."""
        keys = sorted(keys)
        lost = self.without_nodes(keys)
        some = [key for key in keys if not lost.isdisjoint(key[:2])]
        held = self.get_many(some)
        return [key for key in some if key in held and held[key].invalidated_at is None]

    def without_nodes(self, keys: Iterable[EdgeKey]) -> set[str]:
        """Return those ends of these edges that are no live nodes."""
        ends = [*{id for key in keys for id in key[:2]}]
        found: set[str] = set()
        for start in range(0, len(ends), _CHUNK):
            rows = self._db.execute(_NO_LIVE_NODE, (dumps(ends[start : start + _CHUNK]),))
            found.update(str(id) for (id,) in rows)
        return found


def _edge_key(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return row[:3]


def edge_rows(connection: apsw.Connection, edges: Iterable[Edge]) -> Iterator[list[Any]]:
    """Yield edges as rows of the table, in the order of ``Edge.FIELDS``; their ends get keys."""
    from itertools import islice
    from operator import attrgetter  # writing alone needs these

    fields = attrgetter(*Edge.FIELDS)
    rest = iter(edges)
    while chunk := list(islice(rest, _CHUNK)):
        keys = given_keys(connection, (id for edge in chunk for id in edge.key[:2]))
        for edge in chunk:
            values = list(fields(edge))
            values[:2] = keys[edge.from_id], keys[edge.to_id]
            yield values
