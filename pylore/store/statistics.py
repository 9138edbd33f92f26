"""Statistics of the graph: degrees, orphans, components, counted whole or brought up to date."""

from __future__ import annotations

from ..core.json import dumps
from .connection import EDGE_ENDS, apsw, ids_of, key_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import Any

    Pair = tuple[int, int]
    Shape = dict[str, Any]


FIELDS = ("ends", "max_degree", "max_degree_id", "orphans", "components", "dangling_edges")
"""``ends``: of live edges at live nodes, the sum of all degrees."""

_FAR = 20_000
"""Nodes that are looked at to learn what hangs together before all are counted instead."""

_LIVE_KEYS = "SELECT CAST(key AS TEXT) FROM nodes WHERE invalidated_at IS NULL"
# One long string reaches Python faster than as many rows.
_ENDS = (
    "SELECT CAST(from_key AS TEXT), group_concat(to_key) FROM graph_edges"
    " WHERE invalidated_at IS NULL GROUP BY from_key"
)
_LIVE = (
    "SELECT n.key FROM json_each(?) j CROSS JOIN nodes n ON n.key = j.value"
    " WHERE n.invalidated_at IS NULL"
)
_DEGREES = """
SELECT j.value,
  (SELECT count(*) FROM graph_edges WHERE from_key = j.value AND invalidated_at IS NULL)
  + (SELECT count(*) FROM graph_edges WHERE to_key = j.value AND invalidated_at IS NULL)
FROM json_each(?) j
"""
_BETWEEN = """
SELECT j.value ->> 0, j.value ->> 1, (SELECT count(*) FROM graph_edges
  WHERE from_key = j.value ->> 0 AND to_key = j.value ->> 1 AND invalidated_at IS NULL)
FROM json_each(?) j
"""
_AROUND = """
SELECT e.from_key, e.to_key FROM json_each(?1) j CROSS JOIN graph_edges e
ON e.from_key = j.value WHERE e.invalidated_at IS NULL
UNION ALL SELECT e.from_key, e.to_key FROM json_each(?1) j CROSS JOIN graph_edges e
ON e.to_key = j.value WHERE e.invalidated_at IS NULL
"""


def counted(connection: apsw.Connection) -> Shape:
    """Return the shape, by a look at every live node and edge."""
    keys = [key for (key,) in connection.execute(_LIVE_KEYS)]
    number_of = dict(zip(keys, range(len(keys)), strict=True)).get
    degrees, components, dangling = _count_edges(connection.execute(_ENDS), number_of, len(keys))
    most = max(degrees, default=0)
    hubs = [key for key, degree in zip(keys, degrees, strict=True) if degree == most]
    values = (
        sum(degrees), most, _first(connection, hubs) if most else None, degrees.count(0),
        components, dangling,
    )  # fmt: skip
    return dict(zip(FIELDS, values, strict=True))


def _count_edges(
    rows: Iterable[tuple[Any, ...]], number_of: Any, nodes: int
) -> tuple[list[int], int, int]:
    """Return degrees by number, components, dangling edges, counted in one pass.

    Components by union-find with path halving; it is written into the loop, since
    a call for each edge would double the time.
    """
    degrees = [0] * nodes
    parents = list(range(nodes))
    components, dangling = nodes, 0
    for key, ends in rows:
        others = [*map(number_of, ends.split(","))]
        a = number_of(key)
        if a is None:
            dangling += len(others)
        else:
            degrees[a] += len(others)
            while parents[a] != a:
                parents[a] = a = parents[parents[a]]
        for b in others:
            if b is None:
                dangling += a is not None
                continue
            degrees[b] += 1
            if a is None or parents[b] == a:
                continue
            while parents[b] != b:
                parents[b] = b = parents[parents[b]]
            if a != b:
                parents[b] = a
                components -= 1
    return degrees, components, dangling


def _first(connection: apsw.Connection, keys: Collection[object]) -> str:
    return min(ids_of(connection, [str(key) for key in keys]).values())


def followed(connection: apsw.Connection, kept: Shape) -> Shape | None:
    """Return ``kept`` with what the table ``changed`` has; None where it does not say enough."""
    return _Changes(connection).follow(kept)


class _Changes:
    """What has changed since: nodes and edges that have come, and that are gone."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._nodes: dict[int, int] = {}  # 1: has come to life, -1: has left it
        self._edges: dict[Pair, int] = {}  # how many more there are than before
        for a, b, more in connection.execute(
            "SELECT CAST(from_key AS INT), CAST(to_key AS INT), sum(CAST(more AS INT))"
            " FROM changed GROUP BY 1, 2"
        ):
            if b is None:
                self._nodes[a] = more
            else:
                self._edges[a, b] = more
        self._touched = {*self._nodes, *_ends(self._edges)}
        for pair in self._around([key for key, more in self._nodes.items() if more]):
            self._edges.setdefault(pair, 0)
        for a, b in [*self._edges]:
            self._edges.setdefault((b, a), 0)
        keys = {*self._touched, *_ends(self._edges)}
        self._now = self._live(keys)
        self._before = {key for key in keys if (key in self._now) > self._nodes.get(key, 0)}
        self._degrees: dict[int, int] = dict(connection.execute(_DEGREES, (_list(self._touched),)))

    def follow(self, kept: Shape) -> Shape | None:
        hub = self._hub(kept)
        dangling, came, went = self._links()
        parts = self._parts({*_ends(came), *_ends(went)}, came)
        if hub is None or parts is None:
            return None
        now, before = self._degrees_of_then()
        apart = sum(self._nodes.values()) - _joined(came, parts) + _joined(went, parts)
        values = (
            kept["ends"] + sum(now) - sum(before), *hub,
            kept["orphans"] + now.count(0) - before.count(0),
            kept["components"] + apart, kept["dangling_edges"] + dangling,
        )  # fmt: skip
        return dict(zip(FIELDS, values, strict=True))

    def _degrees_of_then(self) -> tuple[list[int], list[int]]:
        """Return the degrees of what was touched and is live, and of what was live before."""
        more = dict.fromkeys(self._touched, 0)
        for pair, number in self._edges.items():
            if number:
                for end in pair:
                    more[end] += number
        now = [self._degrees[key] for key in self._touched & self._now]
        return now, [self._degrees[key] - more[key] for key in self._touched & self._before]

    def _hub(self, kept: Shape) -> tuple[int, str | None] | None:
        """Return the most edges of a node, and which; None where the one of before has lost
        some."""
        most, id = kept["max_degree"], kept["max_degree_id"]
        degrees = {key: self._degrees[key] for key in self._touched & self._now}
        highest = max(degrees.values(), default=0)
        if id is not None:
            key = key_of(self._db, id)
            if key is None or (key in self._touched and degrees.get(key, 0) < most):
                id = None
                if highest <= most:
                    return None
        if highest < most or not highest:
            return most, id
        ids = [_first(self._db, [key for key in degrees if degrees[key] == highest])]
        return highest, min(ids if id is None or highest > most else [*ids, id])

    def _links(self) -> tuple[int, set[Pair], set[Pair]]:
        """Return how many more edges dangle; the pairs of nodes that are linked now and were not,
        and those that were and are not."""
        now, before = self._now, self._before
        dangling = 0
        links: dict[Pair, list[int]] = {}
        for a, b, number in self._db.execute(_BETWEEN, (dumps([*map(list, self._edges)]),)):
            earlier = number - self._edges[a, b]
            link = links.setdefault((min(a, b), max(a, b)), [0, 0])
            if a in now and b in now:
                link[0] += number
            else:
                dangling += number
            if a in before and b in before:
                link[1] += earlier
            else:
                dangling -= earlier
        came = {pair for pair, (new, old) in links.items() if new and not old}
        return dangling, came, {pair for pair, (new, old) in links.items() if old and not new}

    def _parts(self, ends: set[int], without: set[Pair]) -> dict[int, int] | None:
        """Return which of these nodes hang together but for some links: node to part.

        From each of them at once, the smallest search first, until all but one have found
        all that there is, or each other. None where that is too far.
        """
        parts = {end: end for end in ends}
        seen = {end: end for end in ends & self._now}
        open_ends = {end: [end] for end in seen}
        while len(open_ends) > 1:
            if len(seen) > _FAR:
                return None
            part = min(open_ends, key=lambda name: len(open_ends[name]))
            found = self._beyond(open_ends.pop(part), without)
            new = self._live(found - seen.keys())
            seen.update(dict.fromkeys(new, part))
            frontier = [*new]
            for other in {_root(parts, seen[key]) for key in found & seen.keys()} - {part}:
                parts[other] = part
                frontier += open_ends.pop(other, [])
            if frontier:
                open_ends[part] = frontier
        return {end: _root(parts, end) for end in ends}

    def _beyond(self, keys: list[int], without: set[Pair]) -> set[int]:
        links = {(min(pair), max(pair)) for pair in self._around(keys)}
        return {*_ends(links - without)}

    def _around(self, keys: Iterable[int]) -> Iterator[Pair]:
        yield from self._db.execute(_AROUND, (_list(keys),))

    def _live(self, keys: Iterable[int]) -> set[int]:
        return {key for (key,) in self._db.execute(_LIVE, (_list(keys),))}


def _joined(links: set[Pair], parts: dict[int, int]) -> int:
    """Return how many fewer parts there are with these links."""
    parts = {**parts, **{part: part for part in parts.values()}}
    number = 0
    for a, b in links:
        one, other = _root(parts, a), _root(parts, b)
        if one != other:
            parts[one] = other
            number += 1
    return number


def _root(parts: dict[int, int], key: int) -> int:
    while parts[key] != key:
        key = parts[key]
    return key


def _ends(pairs: Iterable[Pair]) -> Iterator[int]:
    return (end for pair in pairs for end in pair)


def _list(keys: Iterable[int]) -> str:
    return f"[{','.join(map(str, keys))}]"


_KEPT = """
SELECT item.key, item.value FROM meta, json_each(meta.value) AS item WHERE meta.key = 'stats'
"""
_WATCHED = """
SELECT 9 = count(*) FROM sqlite_schema WHERE type = 'trigger' AND name GLOB 'stats_*'
"""
_EDGES = "SELECT from_key, to_key, relation, invalidated_at FROM graph_edges LIMIT 1"
_COUNTS = "SELECT what, name, number FROM counts WHERE number > 0 AND typeof(number) = 'integer'"
COUNTED = (
    "SELECT iif(invalidated_at IS NULL, 'nodes', 'forgotten') AS what, type AS name,"
    " count(*) AS number FROM nodes GROUP BY what, name"
    " UNION ALL SELECT 'edges', relation, count(*) FROM graph_edges"
    " WHERE invalidated_at IS NULL GROUP BY relation"
)
"""What ``counts`` has to hold."""

_STATISTICS_DEGREES = """
WITH sure AS (
  SELECT from_key, to_key FROM graph_edges WHERE invalidated_at IS NULL
  AND (weight >= ?1 OR relation NOT IN (SELECT value FROM json_each(?2))))
SELECT key, sum(o) AS o, sum(i) AS i FROM (
  SELECT from_key AS key, count(*) AS o, 0 AS i FROM sure GROUP BY from_key
  UNION ALL
  SELECT to_key, 0, count(*) FROM sure GROUP BY to_key)
GROUP BY key
"""


class Statistics:
    """Reads the graph as a whole; a node or an edge counts while it is live."""

    def __init__(self, connection: apsw.Connection, *, scoped: bool = False) -> None:
        self._db = connection
        self._scoped = scoped

    def stats(self) -> dict[str, Any]:
        """Return counts over live nodes and edges, in one snapshot of the store.

        ``nodes, nodes_by_type, edges, edges_by_relation, mean_degree, max_degree, max_degree_id,
        orphans, components, dangling_edges, forgotten_nodes``, in this order, those by name sorted.
        An edge with an end that is not a live node is dangling: it counts for the degree of its
        other end, and connects nothing.

        The triggers ``stats_*`` keep what can be counted row by row, and note what the rest has to
        follow. A store that cannot be written keeps nothing.
        """
        found: dict[str, Any] = {}
        try:
            with self._db:
                watched = self._watched()
                kept = self._kept() if watched else None
                shape = kept and self._followed(kept)
                if shape is None:
                    shape = counted(self._db)
                found = self._with_counts(shape)
                if watched and shape is not kept:
                    self._keep(shape)
        except apsw.Error:
            if not found:
                raise
        return found

    def _watched(self) -> bool:
        # What is kept has been counted over everything.
        return not self._scoped and bool(self._db.execute(_WATCHED).get)

    def _kept(self) -> dict[str, Any] | None:
        kept = dict(self._db.execute(_KEPT))
        whole = kept.keys() == {*FIELDS} and all(
            isinstance(value, str | None if name == "max_degree_id" else int)
            for name, value in kept.items()
        )
        return kept if whole else None

    def _followed(self, kept: dict[str, Any]) -> dict[str, Any] | None:
        if self._db.execute("SELECT 1 FROM changed LIMIT 1").get is None:
            return kept
        return followed(self._db, kept)

    def _keep(self, shape: dict[str, Any]) -> None:
        # A reader that becomes a writer never waits for another one: SQLite says so at once.
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('stats', ?)", (dumps(shape),))
        self._db.execute("DELETE FROM changed")

    def _counts(self) -> dict[str, dict[str, int]]:
        self._db.execute(_EDGES)  # says so where they cannot be read
        found: dict[str, dict[str, int]] = {"nodes": {}, "forgotten": {}, "edges": {}}
        for what, name, number in self._db.execute(_COUNTS if self._watched() else COUNTED):
            found.setdefault(str(what), {})[str(name)] = number
        return found

    def _with_counts(self, shape: dict[str, Any]) -> dict[str, Any]:
        counts = self._counts()
        nodes = sum(counts["nodes"].values())
        return {
            "nodes": nodes,
            "nodes_by_type": dict(sorted(counts["nodes"].items())),
            "edges": sum(counts["edges"].values()),
            "edges_by_relation": dict(sorted(counts["edges"].items())),
            "mean_degree": round(shape["ends"] / nodes, 3) if nodes else 0.0,
            **{name: shape[name] for name in FIELDS[1:]},
            "forgotten_nodes": sum(counts["forgotten"].values()),
        }

    def nodes(self) -> Iterator[tuple[str, str]]:
        """Yield ``(id, type)`` of every live node."""
        yield from self._db.execute("SELECT id, type FROM nodes WHERE invalidated_at IS NULL")

    def edges(self) -> Iterator[tuple[str, str, str]]:
        """Yield ``(from, to, relation)`` of every live edge."""
        yield from self._db.execute(
            f"SELECT {EDGE_ENDS}, relation FROM graph_edges WHERE invalidated_at IS NULL"
        )

    def count_by_relation(self) -> dict[str, int]:
        """Return relation to the number of its live edges."""
        return self._counts()["edges"]

    def hubs(
        self, limit: int, least: float = 0, unsure: Iterable[str] = ()
    ) -> list[tuple[str, str, str, int, int]]:
        """Return ``(id, type, title, edges out, edges in)`` of the nodes with most edges.

        Those of a relation of ``unsure`` count from a weight of ``least`` on.
        """
        rows: list[tuple[str, str, str, int, int]] = self._db.execute(  # type: ignore[assignment]
            f"SELECT n.id, n.type, n.title, d.o, d.i FROM ({_STATISTICS_DEGREES}) AS d"
            " JOIN nodes AS n ON n.key = d.key WHERE n.invalidated_at IS NULL"
            " ORDER BY d.o + d.i DESC, n.id LIMIT ?3",
            (least, dumps(sorted(unsure)), limit),
        ).fetchall()
        return rows

    def orphans(self, types: Sequence[str], limit: int) -> list[tuple[str, str, str]]:
        """Return ``(id, type, title)`` of nodes without an edge, by id; no types mean all of
        them."""
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
