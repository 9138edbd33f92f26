"""The graph: edges, their history, and the neighbours of a frontier."""

from __future__ import annotations

from itertools import islice, starmap

from ..core.json import dumps, parse_object, require_storable
from ..core.model import Edge
from ..core.vocabulary import ANCHORED_TO, DEFINES, FILE_IDS, THING_IDS
from .connection import (
    EDGE_ENDS,
    ID_OF,
    KEY_OF,
    GraphTable,
    apsw,
    given_keys,
    ids_of,
    key_of,
    keys_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import Any

    from ..core.model import EdgeKey

    Neighbour = tuple[str, str, str, float, bool]
    """(node, neighbour, relation, weight, True if the edge leads from node to neighbour)"""

    Bundle = tuple[str, bool, list[str], list[str], list[float]]
    """(node, True if the edges lead away from it, relations, neighbours, weights)"""

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
_GONE = "coalesce((SELECT invalidated_at FROM main.nodes WHERE key = {}), '')"
_OUT_SINCE = f"coalesce({{ended}}, nullif(max({_GONE}, {_GONE}), ''))"
"""When an edge went out of force: when it was ended, or an end of it forgotten."""

COUNTED = (
    "SELECT from_key AS node_key, sum(weight) AS helpful, count(*) AS rated FROM {}"
    " WHERE relation = 'used_in_run' AND invalidated_at IS NULL"
    " AND json_type(metadata, '$.rating') IS NOT 'null' GROUP BY from_key"
)
"""A query: the rows of ``ratings`` of a table of edges."""

_CONTENT = ("weight", "source", "status", "metadata", "ended_at")
_KEPT = ("created_at", "accessed_at", "access_count")
_GIVEN = {
    **{name: f"?{number}" for number, name in enumerate(Edge.FIELDS, 1)},
    "invalidated_at": _OUT_SINCE.format("?1", "?2", ended=f"?{Edge.FIELDS.index('ended_at') + 1}"),
}
INSERT_EDGE = (
    f"INSERT INTO main.links(from_key, to_key, {', '.join(_REST)})"
    f" VALUES ({', '.join(_GIVEN.values())})"
)
"""Takes a row of ``edge_rows``."""

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

_DANGLING = " UNION ".join(
    "SELECT from_key, to_key, relation FROM absent CROSS JOIN links"
    f" ON {end} = absent.key WHERE invalidated_at IS NULL"
    for end in ("from_key", "to_key")
)
_CHUNK = 1000
"""Edges in a chunk; the ends of a chunk are looked up together."""

# A row holds many edges as text, because one long string reaches Python faster than many rows.
# Names of relations have no control characters.
_SEPARATOR = "\x1f"

# Any edges of a node, up to a limit: one look-up for each node and direction.
_SOME = """
SELECT f.value, {outgoing}, (
  SELECT group_concat(relation || char(31) || {other} || char(31) || weight, char(31)) FROM (
    SELECT relation, {other}, weight FROM links
    WHERE {this} = f.value AND invalidated_at IS NULL
    AND +relation IN (SELECT value FROM json_each(:relations)) LIMIT :limit)) AS ends
FROM json_each(:frontier) f
"""
# The strongest edges of a node and relation: one look-up for each, however many edges there are.
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

_INTO_FILES = f"""
SELECT {ID_OF.format("e.from_key")}, j.value, e.weight FROM json_each(:paths) j
CROSS JOIN (SELECT key, id FROM nodes UNION ALL SELECT key, id FROM absent) n ON {{named}}
CROSS JOIN links e ON e.to_key = n.key
WHERE e.relation = :relation AND e.invalidated_at IS NULL
"""
_FILES_EDGES = " UNION ALL ".join(
    _INTO_FILES.format(named=named)
    for named in (
        "n.id = 'file-' || j.value",
        "n.id > 'symbol-' || j.value || '::' AND n.id < 'symbol-' || j.value || ':;'",
    )
)


def _both_ways(half: str) -> str:
    out = half.format(outgoing=1, this="from_key", other="to_key")
    into = half.format(outgoing=0, this="to_key", other="from_key")
    # LIMIT -1 keeps SQLite from computing the inner query a second time for the WHERE.
    return f"SELECT * FROM ({out} UNION ALL {into} LIMIT -1) WHERE ends IS NOT NULL"


_SOME_EDGES = _both_ways(_SOME)
_STRONGEST_EDGES = _both_ways(_STRONGEST)


class Edges(GraphTable):
    """Reads and writes edges. An edge is identified by ``(from_id, to_id, relation)``. An edge with
    a forgotten end is out of force until the end is restored."""

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self.stated: set[EdgeKey] = set()
        """Edges from things, which may state facts; ``Index.keep_facts`` empties it."""

    def _read(self, condition: str, *given: object) -> list[Edge]:
        return [*starmap(Edge, self._rows(f"{_READ} WHERE {condition}", *given))]

    def neighbours(
        self, frontier: Sequence[str], relations: Sequence[str], limit: int
    ) -> list[Neighbour]:
        """Return the edges of ``bundles`` as rows, without anchors to the symbols of a file."""
        return [
            (node, other, relation, weight, outgoing)
            for node, outgoing, *ends in self._bundles(frontier, relations, limit)
            for relation, other, weight in zip(*ends, strict=True)
        ]

    def bundles(self, ids: Sequence[str], relations: Sequence[str], limit: int) -> list[Bundle]:
        """Return the live edges of nodes, at both ends, in two or three queries. At most
        ``limit`` edges (or ``ALL``) for each node, relation and direction, the strongest first,
        then by age of their ends. A file also has an edge from each record anchored to a symbol in
        it."""
        found = self._bundles(ids, relations, limit)
        files = [id for id in ids if id.startswith(FILE_IDS)]
        if files and {DEFINES, ANCHORED_TO}.issubset(relations):
            found += self._bundles(files, relations, limit, _ANCHORED)
        return found

    def _bundles(
        self, frontier: Sequence[str], relations: Sequence[str], limit: int, query: str = ""
    ) -> list[Bundle]:
        named = {key: id for id, key in keys_of(self._db, frontier).items()}
        given = {"relations": dumps(relations), "limit": limit}

        def read(query: str, keys: Iterable[int]) -> list[tuple[int, bool, list[str]]]:
            rows = self._rows(query, frontier=dumps([*keys]), **given)
            return [(key, outgoing == 1, ends.split(_SEPARATOR)) for key, outgoing, ends in rows]

        found = read(query or _SOME_EDGES, named)
        hubs = {key for key, _, ends in found if len(ends) >= 3 * limit >= 0}
        if hubs and not query:
            found = [row for row in found if row[0] not in hubs]
            found += read(_STRONGEST_EDGES, sorted(hubs, key=named.__getitem__))
        ids = ids_of(self._db, {other for *_, ends in found for other in ends[1::3]})
        return [
            (
                named[key],
                outgoing,
                ends[::3],
                [ids[other] for other in ends[1::3]],
                [*map(float, ends[2::3])],
            )
            for key, outgoing, ends in found
        ]

    def into_files(self, paths: Sequence[str], relation: str) -> list[tuple[str, str, float]]:
        """Return ``(node, path, weight)`` of the live edges to these files or their symbols."""
        return self._rows(_FILES_EDGES, paths=dumps(paths), relation=relation)

    def get(self, from_id: str, to_id: str, relation: str) -> Edge | None:
        """Return an edge, in force or not."""
        return next(iter(self._read(_THIS, from_id, to_id, relation)), None)

    def get_many(self, keys: Sequence[EdgeKey]) -> dict[EdgeKey, Edge]:
        """Return the edges in ``keys`` that exist, in force or not."""
        known = keys_of(self._db, {id for key in keys for id in key[:2]})
        given = [(known.get(from_id), known.get(to_id), name) for from_id, to_id, name in keys]
        ids = {key: id for id, key in known.items()}
        rows = self._rows(_THESE, dumps(given))
        return {(ids[a], ids[b], rest[0]): Edge(ids[a], ids[b], *rest) for a, b, *rest in rows}

    def put(self, edge: Edge) -> str:
        """Write an edge; return ``added``, ``updated`` or ``unchanged``."""
        old = self.get(*edge.key)
        if old is not None and all(getattr(old, f) == getattr(edge, f) for f in _CONTENT):
            return "unchanged"
        require_storable([edge.weight, edge.metadata])
        if old is None or old.metadata != edge.metadata:
            parse_object(edge.metadata.encode(), 4 * len(edge.metadata))
        self.put_many([edge])
        return "added" if old is None else "updated"

    def replace_all(self, edges: Iterable[Edge]) -> None:
        """Replace all edges, without history; count the ratings again afterwards."""
        self._db.execute("DELETE FROM main.links")
        self._db.executemany(INSERT_EDGE, edge_rows(self._db, edges))

    def put_many(self, edges: Iterable[Edge]) -> None:
        """Write edges; the change log gets the former values."""
        from ..core.stamps import has_history
        from .changes import ChangeLog

        changes = ChangeLog(self._db)
        rest = iter(edges)
        while chunk := [*islice(rest, _CHUNK)]:
            purged = changes.deleted([id for edge in chunk for id in edge.key[:2]])
            held = self.get_many([edge.key for edge in chunk])
            new = []
            for edge in chunk:
                old = held.get(edge.key)
                for name in _KEPT if old is not None else ():
                    setattr(edge, name, getattr(old, name))
                if old is None and not {*edge.key[:2]} & purged.keys():
                    edge.stamps = ""
                    new += [edge] * has_history(edge)
                else:
                    changes.record(old, edge)
            changes.add(new)
            self.settle(chunk)

    def settle(self, edges: Iterable[Edge]) -> None:
        """Write edges with the stamps they have, without a change log."""
        edges = [*edges]
        self.stated.update(edge.key for edge in edges if edge.from_id.startswith(THING_IDS))
        self._db.executemany(_SETTLE, edge_rows(self._db, edges))
        rated = {edge.from_id for edge in edges if edge.relation == "used_in_run"}
        if rated:
            count_ratings(self._db, keys_of(self._db, rated).values())

    def with_relation(self, relation: str) -> list[Edge]:
        """Return the edges of a relation, in force or not, by from and to."""
        return self._read("relation = ? ORDER BY from_id, to_id", relation)

    def of(self, id: str, *, forgotten: bool = False) -> list[Edge]:
        """Return the live edges of a node in both directions; with ``forgotten``, all of them."""
        live = "" if forgotten else " AND invalidated_at IS NULL"
        query = f"(from_key = ?1 OR to_key = ?1){live} ORDER BY relation, from_id, to_id"
        return self._read(query, key_of(self._db, id))

    def leading(self, from_id: str, relation: str) -> list[Edge]:
        """Return the edges of a relation from a node that were not ended, by to."""
        query = "from_key = ? AND relation = ? AND ended_at IS NULL ORDER BY to_id"
        return self._read(query, key_of(self._db, from_id), relation)

    def facts_of(self, id: str, limit: int) -> list[Edge]:
        """Return ``limit`` edges between things from ``id``, with reads of objects: live ones
        first."""
        return [*starmap(Edge, self._rows(_FACTS_OF, key_of(self._db, id), limit))]

    def all(self, *, live_only: bool = False) -> Iterator[Edge]:
        """Yield all edges, by from, to, relation."""
        live = " WHERE invalidated_at IS NULL" if live_only else ""
        query = f"{_READ}{live} ORDER BY from_id, to_id, relation"
        return starmap(Edge, self._db.execute(query))

    def outlines(self, relations: Sequence[str]) -> list[tuple[str, str, str, float, str]]:
        """Return ``(from, to, relation, weight, status)`` of live edges, by from, to, relation."""
        return self._rows(
            f"SELECT {EDGE_ENDS}, relation, weight, status FROM links WHERE invalidated_at IS NULL"
            " AND relation IN (SELECT value FROM json_each(?)) ORDER BY from_id, to_id, relation",
            dumps(relations),
        )

    def invalidate(self, key: tuple[str, str, str], at: str | None, status: str = "") -> None:
        """End an edge at a time; None puts it in force again."""
        edge = self.get(*key)
        if edge is not None:
            edge.ended_at, edge.status = at, status or edge.status
            self.put(edge)

    def drop_derived(self, keys: Iterable[EdgeKey]) -> None:
        """Delete edges of source ``system``."""
        self._db.executemany(f"DELETE FROM main.links WHERE {_THIS} AND source = 'system'", keys)

    def delete_node(self, id: str) -> None:
        """Delete all edges of a node."""
        edges = self.of(id, forgotten=True)
        self.stated.update(edge.key for edge in edges if edge.from_id.startswith(THING_IDS))
        key = key_of(self._db, id)
        if key is not None:
            rated = rated_with(self._db, key)
            self._db.execute("DELETE FROM main.links WHERE from_key = ?1 OR to_key = ?1", (key,))
            count_ratings(self._db, rated)

    def dangling(self) -> list[EdgeKey]:
        """Return the live edges with an end that is not in the store."""
        return self._rows(f"SELECT {EDGE_ENDS}, relation FROM ({_DANGLING}) ORDER BY 1, 2, 3")

    def type_pairs(
        self, relations: Sequence[str]
    ) -> dict[tuple[str, str, str], tuple[int, str, str]]:
        """Return ``(relation, type, type)`` to the number of live edges that join nodes of these
        types, and the ends of an example. Edges that were ``forced`` do not count."""
        query = (
            "SELECT e.relation, a.type, b.type, count(*), min(a.id), b.id FROM links e"
            " JOIN nodes a ON a.key = e.from_key JOIN nodes b ON b.key = e.to_key"
            " WHERE e.invalidated_at IS NULL AND instr(e.metadata, '\"forced\"') = 0"
            " AND e.relation IN (SELECT value FROM json_each(?)) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
        )
        return {row[:3]: row[3:] for row in self._rows(query, dumps(relations))}


def edge_rows(connection: apsw.Connection, edges: Iterable[Edge]) -> Iterator[list[Any]]:
    """Yield edges as rows of ``INSERT_EDGE``; unknown ends become absent nodes."""
    rest = iter(edges)
    while chunk := [*islice(rest, _CHUNK)]:
        keys = given_keys(connection, (id for edge in chunk for id in edge.key[:2]))
        for edge in chunk:
            values = [getattr(edge, name) for name in _REST]
            yield [keys[edge.from_id], keys[edge.to_id], *values]


def follow_nodes(db: apsw.Connection, ids: Iterable[str]) -> None:
    """Update the edges of nodes that were forgotten or restored."""
    out = _OUT_SINCE.format("e.from_key", "e.to_key", ended="ended_at")
    for id in ids:
        key = db.execute("SELECT key FROM main.nodes WHERE id = ?", (id,)).get
        touching = "from_key = ?1 OR to_key = ?1"
        db.execute(f"UPDATE main.links AS e SET invalidated_at = {out} WHERE {touching}", (key,))
        count_ratings(db, rated_with(db, key))


def rated_with(db: apsw.Connection, key: int) -> list[int]:
    """Return the key of a rated node, or the keys of the nodes rated in a run."""
    half = "SELECT from_key FROM main.links WHERE {} = ?1 AND relation = 'used_in_run'"
    query = f"{half.format('to_key')} UNION {half.format('from_key')}"
    return [rated for (rated,) in db.execute(query, (key,))]


def count_ratings(db: apsw.Connection, keys: Collection[int]) -> None:
    """Count the ratings of nodes again."""
    if not keys:
        return
    given = (dumps([*keys]),)
    these = "json_each(?) j CROSS JOIN main.links ON from_key = j.value"
    db.execute("DELETE FROM main.ratings WHERE node_key IN (SELECT value FROM json_each(?))", given)
    db.execute(f"INSERT INTO main.ratings {COUNTED.format(these)}", given)
