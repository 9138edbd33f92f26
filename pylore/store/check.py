"""Checks of search.db for ``lore doctor``, and counts over the graph."""

from __future__ import annotations

from ..core.json import dumps
from ..core.vocabulary import HIDDEN, HIDDEN_STATUSES
from .connection import GraphTable, Table, apsw, ids_of
from .fulltext import FILES, MESSAGES, TABLES, TEXT
from .nodes import Nodes
from .vectors import TABLES as VECTOR_TABLES
from .vectors import Vectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

LIMIT = 100
"""Maximum number of faults that SQLite's check returns."""

_LIVE = "SELECT key FROM nodes n WHERE invalidated_at IS NULL"
_NODES = f"{_LIVE} AND (title <> '' OR {TEXT} <> '' OR tags <> '' OR file <> '')"
_FULLTEXT = (*TABLES.values(), FILES, MESSAGES)
# Both engines keep a row for each passage in these tables.
_INDEXED = " UNION ALL ".join(f"SELECT rowid FROM {table}_docsize" for table in TABLES.values())
_TEXTS = {
    ("nodes", "passages"): (_NODES, "SELECT node_key FROM passages WHERE relation IS NULL"),
    ("hidden nodes", "hidden passages"): (
        f"{_NODES} AND status IN {HIDDEN_STATUSES}",
        f"SELECT node_key FROM passages WHERE collection = '{HIDDEN}'",
    ),
    ("passages", "full text"): ("SELECT key FROM passages", f"SELECT * FROM ({_INDEXED})"),
    ("files", "full text"): (
        "SELECT key FROM code_files WHERE text IS NOT NULL",
        f"SELECT rowid FROM {FILES}_docsize",
    ),
    ("commits", "full text"): ("SELECT key FROM commits", f"SELECT rowid FROM {MESSAGES}_docsize"),
}
_EMBEDDED = "SELECT key FROM vectors WHERE length(embedding)"
_DIMENSION = "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'embedder_dimension'"
_VECTORS = {
    ("passages", "a vector"): (
        f"SELECT key FROM passages WHERE collection <> '{HIDDEN}'",
        "SELECT key FROM vectors",
    ),
    ("vectors", "a sketch"): (f"{_EMBEDDED} > 0", "SELECT key FROM sketches"),
    ("vectors", "the right length"): (f"{_EMBEDDED} > 0", f"{_EMBEDDED} = ({_DIMENSION})"),
}
"""Pairs of sets of keys that are equal in a sound store: names to queries."""


def sqlite_version() -> str:
    """Return the versions of apsw and SQLite."""
    return f"apsw {apsw.apsw_version()}, SQLite {apsw.sqlite_lib_version()}"


def vector_extension() -> str:
    """Return the version of sqlite-vec, and the file; raise StoreError if it does not load."""
    memory = apsw.Connection(":memory:")
    path = Vectors(memory).load_extension()
    return f"sqlite-vec {memory.execute('SELECT vec_version()').get}, {path}"


class Checks(Table):
    """Checks of a store; most return a list of faults."""

    derived = frozenset((*_FULLTEXT, *VECTOR_TABLES))
    """Tables that ``rebuild`` creates again from nodes and texts."""

    def damage(self, *, full: bool = False) -> list[str]:
        """Return faults that SQLite finds in the file, without full text. ``full`` also compares
        indexes with tables."""
        found = self._pragma(f"{'integrity' if full else 'quick'}_check({LIMIT})")
        return [line for line in found if not any(table in line for table in _FULLTEXT)]

    def fulltext_damage(self) -> list[str]:
        """Return faults of the full-text tables."""
        return [line for table in _FULLTEXT for line in self._pragma(f"quick_check({table})")]

    def unreadable(self) -> list[str]:
        """Return faults that SQLite does not check: text that is not UTF-8."""
        tables = self._column(
            "SELECT name FROM sqlite_schema WHERE sql GLOB 'CREATE TABLE *'"
            " AND NOT name GLOB '*[^a-z_]*' AND NOT name GLOB '*_fts_*'"
        )
        queries = {table: f"SELECT * FROM {table}" for table in tables}
        queries["texts of passages"] = f"SELECT {TEXT} FROM nodes n"
        found = []
        for table, query in queries.items():
            try:
                for _ in self._db.execute(query):
                    pass
            except UnicodeDecodeError:
                found.append(f"{table}: text that is not UTF-8")
            except apsw.SQLError:
                pass  # missing_statements has it
        return found

    def foreign_key_violations(self) -> list[str]:
        """Return a fault for each row with an unknown type or relation."""
        rows = self._rows("PRAGMA foreign_key_check")
        return [f"{table} names no row of {parent}" for table, _, parent, _ in rows]

    def unindexed(self) -> list[str]:
        """Return where nodes and full text differ, with counts."""
        return self._differences(_TEXTS)

    def unembedded(self) -> list[str]:
        """Return where passages and vectors differ, with counts."""
        return self._differences(_VECTORS)

    def _differences(self, pairs: dict[tuple[str, str], tuple[str, str]]) -> list[str]:
        found = []
        for (one, other), (ones, others) in pairs.items():
            for what, query in (
                (f"{one} without {other}", f"{ones} EXCEPT {others}"),
                (f"{other} without {one}", f"{others} EXCEPT {ones}"),
            ):
                count = self._value(f"SELECT count(*) FROM ({query})")
                found += [f"{count} {what}"] * (count > 0)
        return found

    def _pragma(self, name: str) -> list[str]:
        found = self._column(f"PRAGMA {name}")
        return [] if found == ["ok"] else found


# --- statistics

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


class Statistics(GraphTable):
    """Counts live nodes and edges."""

    def stats(self) -> dict[str, Any]:
        """Return counts over live nodes and edges, sorted by name; call this in a snapshot. An
        edge with an end that is not a live node is dangling: it counts for the degree of the other
        end, and connects nothing."""
        forgotten = self._value("SELECT count(*) FROM nodes WHERE invalidated_at IS NOT NULL")
        by_relation = self.count_by_relation()
        keys = self._column(_LIVE)
        degrees, components, dangling = _count_edges(self._db.execute(_ENDS), keys)
        most = max(degrees.values(), default=0)
        hubs = [str(key) for key, degree in degrees.items() if degree == most > 0]
        return {
            "nodes": len(keys),
            "nodes_by_type": Nodes(self._db).count_by_type(),
            "edges": sum(by_relation.values()),
            "edges_by_relation": by_relation,
            "mean_degree": round(sum(degrees.values()) / len(keys), 3) if keys else 0.0,
            "max_degree": most,
            "max_degree_id": min(ids_of(self._db, hubs).values(), default=None),
            "orphans": [*degrees.values()].count(0),
            "components": components,
            "dangling_edges": dangling,
            "forgotten_nodes": forgotten,
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
