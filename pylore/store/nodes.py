"""Rows of ``nodes``, ``types``, ``relations``, ``ratings`` and ``meta``."""

from __future__ import annotations

from ..core.errors import GraphUnavailable, LoreError, UsageError, nearest
from ..core.json import dumps, parse_object, require_storable
from ..core.model import Node
from ..core.text import fold
from ..core.vocabulary import LEARNING, NO_RECORDS, RECORDS, WORST_FIRST, types_named
from .connection import NEW_KEY, GraphFaults, GraphTable, Table, apsw
from .edges import COUNTED, follow_nodes
from .filter import in_status, narrow, where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from .filter import Scope

    Brief = tuple[str, str, str | None, int | None, int | None, float, float, str, str, int]
    """(type, title, file, first and last line, days since update, confidence, source, status,
    reads)"""

_READS = {"accessed_at": "nullif(r.last, '')", "access_count": "coalesce(r.count, 0)"}
FIELDS_OF_N = ", ".join([_READS.get(name, f"n.{name}") for name in Node.FIELDS])
"""Columns of ``WITH_READS``, in the order of ``Node.FIELDS``."""

WITH_READS = "nodes n LEFT JOIN reads r ON r.key = n.key"

NAMED = "json_each(?) j CROSS JOIN nodes n ON n.id = j.value"
"""The nodes of a JSON list of ids, in the order of the list."""

COLUMNS = tuple([name for name in Node.FIELDS if name not in _READS])
"""Columns of ``nodes`` that a ``Node`` has."""

_MEANT = f"""
SELECT CASE
  WHEN length(?1) < 3 AND lower(title) <> lower(?1) THEN NULL
  WHEN substr(id, instr(id, '-') + 1) = ?1 THEN 0
  WHEN substr(id, -length(?1)) = ?1 AND instr('/:.', substr(id, -length(?1) - 1, 1)) THEN 0
  WHEN substr(?1, instr(?1, '::'), 2) = '::'
    AND substr(id, instr(id, '-') + 1, instr(?1, '::')) = substr(?1, 1, instr(?1, '::'))
    AND substr(id, instr(?1, '::') - length(?1)) = '.' || substr(?1, instr(?1, '::') + 2) THEN 0
  WHEN lower(title) = lower(?1) AND type NOT IN {tuple(sorted(NO_RECORDS))}
    THEN 2 - (title = ?1) + 2 * (invalidated_at IS NOT NULL)
  WHEN instr(id, ?1) = 1 OR substr(id, instr(id, '-') + 1, length(?1)) = ?1 THEN 5
  WHEN substr(id, -length(?1)) = ?1 THEN 5 END AS rank, id
FROM nodes WHERE rank IS NOT NULL ORDER BY rank, id LIMIT ?2
"""

_SORTED = 5000
"""Maximum number of nodes of a list that are sorted, instead of read by the index of lists."""

INSERT_NODE = (
    f"INSERT INTO main.nodes({', '.join(COLUMNS)}, key)"
    f" VALUES ({', '.join('?' * len(COLUMNS))}, {NEW_KEY.format(id='?1')})"
)
"""Takes a row of ``rows_of``."""

_CONTENT = tuple(name for name in Node.FIELDS if name not in ("id", "updated_at", "stamps"))


class Nodes(Table):
    """Reads and writes nodes. Ids are looked up literally, never as patterns."""

    def get(self, id: str) -> Node | None:
        """Return a node, forgotten or not."""
        return next(self._read("WHERE id = ?", id), None)

    def _read(self, rest: str, *given: object) -> Iterator[Node]:
        query = f"SELECT {FIELDS_OF_N} FROM {WITH_READS} {rest}"
        return map(node_of, self._db.execute(query, given))

    def require(self, id: str) -> Node:
        """Return a node, forgotten or not; raise LoreError for an unknown id."""
        node = self.get(id)
        if node is None:
            raise LoreError(f"no node '{id}': see 'lore search'")
        return node

    def require_live(self, id: str) -> Node:
        """Return a node; raise LoreError for an unknown id or a forgotten node."""
        node = self.require(id)
        if node.invalidated_at is not None:
            raise LoreError(f"'{id}' is forgotten: 'lore undo {id}' brings it back")
        return node

    def get_many(self, ids: Iterable[str]) -> dict[str, Node]:
        """Return the nodes in ``ids`` that exist, forgotten or not."""
        query = f"SELECT {FIELDS_OF_N} FROM {NAMED} LEFT JOIN reads r ON r.key = n.key"
        return {node.id: node for node in map(node_of, self._rows(query, dumps([*ids])))}

    def put(self, node: Node) -> str:
        """Write a node; return ``added``, ``updated`` or ``unchanged``, as for a change of only
        ``updated_at``. The node gets stamps, the change log the former values."""
        node.category = node.category or None  # an empty text would be lost in a line of an export
        old = self.get(node.id)
        if old is not None and all(getattr(old, name) == getattr(node, name) for name in _CONTENT):
            return "unchanged"
        require_storable([*rows_of([node])])
        if old is None or old.data != node.data:
            parse_object(node.data.encode(), 4 * len(node.data))
        from .changes import ChangeLog

        ChangeLog(self._db).record(old, node)
        self.settle([node])
        return "added" if old is None else "updated"

    def settle(self, nodes: Sequence[Node]) -> None:
        """Write nodes with the times and stamps they have, without a change log."""
        put_rows(self._db, nodes, COLUMNS[1:])
        self._db.executemany(
            "INSERT OR REPLACE INTO main.reads SELECT n.key, ?2, ?3 FROM main.nodes n"
            " LEFT JOIN main.reads r ON r.key = n.key WHERE n.id = ?1"
            " AND (coalesce(r.count, 0), coalesce(r.last, '')) <> (?2, ?3)",
            ((node.id, node.access_count, node.accessed_at or "") for node in nodes),
        )

    def invalidate(self, id: str, at: str | None) -> None:
        """Mark a node as forgotten at a time, or with None as live again."""
        node = self.get(id)
        if node is not None:
            node.invalidated_at = at
            self.put(node)

    def delete(self, id: str) -> None:
        """Delete a node with rows in ``documents`` and ``shown``, not edges, anchors, passages."""
        for statement in (
            "INSERT OR IGNORE INTO main.absent SELECT key, id FROM main.nodes WHERE id = ?",
            "DELETE FROM main.nodes WHERE id = ?",
            "DELETE FROM main.documents WHERE node_id = ?",
            "DELETE FROM main.shown WHERE ?1 IN (run_id, node_id)",
        ):
            self._db.execute(statement, (id,))

    def select(
        self, scope: Scope, limit: int, *, forgotten: bool = False, oldest_first: bool = False
    ) -> Iterator[Node]:
        """Yield at most ``limit`` live, or forgotten, nodes within ``scope``, by last update (the
        newest first) and id. They are read lazily."""
        first = None if forgotten else narrow(self._db, scope, _SORTED)
        condition, parameters = where(scope)
        if first is not None:
            condition, parameters = f"{first[0]} AND {condition}", first[1] + parameters
        query = (
            f"WHERE {condition} AND invalidated_at IS {'NOT ' if forgotten else ''}NULL"
            f" ORDER BY {'+' if first else ''}updated_at {'' if oldest_first else 'DESC'}, id"
        )
        return self._read(f"{query} LIMIT ?", *parameters, min(limit, 1 << 62))

    def all(self, *, live_only: bool = False) -> Iterator[Node]:
        """Yield all nodes, by id."""
        return self._read(f"{'WHERE invalidated_at IS NULL' if live_only else ''} ORDER BY id")

    def briefs(self, ids: Sequence[str]) -> dict[str, Brief]:
        """Return the fields that a search result shows, by id."""
        query = (
            "SELECT n.id, n.type, n.title, n.file, n.line_start, n.line_end,"
            " coalesce(julianday('now') - julianday(n.updated_at), 0.0),"
            f" n.confidence, n.source, n.status, coalesce(r.count, 0) FROM {NAMED}"
            " LEFT JOIN reads r ON r.key = n.key"
        )
        return {row[0]: row[1:] for row in self._rows(query, dumps(ids))}

    def hidden(self, statuses: Sequence[str], most: int) -> list[str] | None:
        """Return live nodes in these ``HIDDEN_STATUSES``; None for more than ``most``."""
        query = f"SELECT id FROM nodes n WHERE {in_status(statuses)} AND invalidated_at IS NULL"
        found = self._column(f"{query} LIMIT ?", most + 1 if most >= 0 else -1)
        return None if 0 <= most < len(found) else found

    def hidden_among(self, ids: Sequence[str], statuses: Sequence[str]) -> set[str]:
        """Return the nodes in ``ids`` that have any of these ``HIDDEN_STATUSES``."""
        query = (
            "SELECT j.value FROM json_each(?) j CROSS JOIN nodes named ON named.id = j.value"
            f" CROSS JOIN nodes n ON n.key = named.key AND {in_status(statuses)}"
        )
        return {*self._column(query, dumps(ids))}

    def anchored(self, ids: Sequence[str]) -> list[tuple[str, str, str, str, str, str]]:
        """Return ``(node, verdict, kind, root, path, stamp)`` of every anchor of these nodes; raise
        GraphUnavailable if the table is missing or damaged."""
        query = (
            "SELECT node_id, verdict, a.kind, a.root, a.path, stamp FROM json_each(?) j"
            " CROSS JOIN anchors a ON node_id = j.value WHERE gone_at IS NULL"
        )
        with GraphFaults():
            return self._rows(query, dumps(ids))

    def verdicts(self, ids: Sequence[str]) -> tuple[dict[str, str], list[str]]:
        """Return the worst verdict of each anchored node in ``ids``, and notes on failures."""
        found: dict[str, str] = {}
        try:
            for id, verdict, *_ in self.anchored(ids):
                found[id] = min(verdict, found.get(id, verdict), key=WORST_FIRST.index)
        except GraphUnavailable as error:
            return {}, [str(error)]
        return found, []

    def categories(self, ids: Sequence[str], tags: Sequence[str] = ()) -> dict[str, str]:
        """Return the category of each node in ``ids``, or the first tag in ``tags``."""
        query = (
            "SELECT n.id, coalesce(nullif(n.category, ''), (SELECT t.value FROM json_each(?2) t"
            " WHERE instr(' ' || n.tags || ' ', ' ' || t.value || ' ') ORDER BY t.key LIMIT 1))"
            f" AS found FROM {NAMED.replace('?', '?1')} WHERE found IS NOT NULL"
        )
        return dict(self._rows(query, dumps(ids), dumps(tags)))

    def beginning(self, id: str, length: int = 800) -> str:
        """Return the first characters of a node's body."""
        return self._value("SELECT substr(body, 1, ?) FROM nodes WHERE id = ?", length, id) or ""

    def match(self, scope: Scope, ids: Sequence[str]) -> set[str]:
        """Return the live nodes in ``ids`` that are within ``scope``."""
        condition, parameters = where(scope)
        query = f"SELECT n.id FROM {NAMED} WHERE n.invalidated_at IS NULL AND {condition}"
        return {*self._column(query, dumps(ids), *parameters)}

    def meant(self, text: str, limit: int) -> list[str]:
        """Return the ids that best match a text, by id: whole parts of ids (``auth.py`` of
        ``file-src/auth.py``, ``a.py::f`` of ``symbol-a.py::C.f``), or titles of live records, of
        forgotten records, or beginnings and ends of ids. The type before an id may be missing; case
        counts in ids. Texts of one or two characters are titles."""
        query = _MEANT
        if not text.isascii():  # SQLite's lower() is for ASCII
            self._db.create_scalar_function("folded", lambda *one: fold(str(one[0])), 1)
            query = query.replace("lower(", "folded(")
        rows = self._rows(query, text, limit)
        return [id for rank, id in rows if rank == rows[0][0]]

    def unknown_tags(self, tags: Iterable[str]) -> list[str]:
        """Return a note with the nearest tag for each tag that no live node has."""
        query = "SELECT DISTINCT tags FROM nodes WHERE tags <> '' AND invalidated_at IS NULL"
        known = sorted({tag for text in self._column(query) for tag in text.split(" ")})
        unknown = [tag for tag in tags if tag not in known]
        return [f"no record has the tag '{tag}'{nearest(tag, known)}" for tag in unknown]

    def outlines(
        self, types: Sequence[str] = ()
    ) -> Iterator[tuple[str, str, str, str, str, str | None]]:
        """Yield ``(id, type, title, status, tags, file)`` of live nodes, of these types, by id."""
        yield from self._db.execute(
            "SELECT id, type, title, status, tags, file FROM nodes WHERE invalidated_at IS NULL"
            " AND (?1 = '[]' OR type IN (SELECT value FROM json_each(?1))) ORDER BY id",
            (dumps(types),),
        )

    def documents(
        self, file: str | None = None, root: str | None = None, *, pruned: bool = False
    ) -> list[tuple[str, str]]:
        """Return ``(id, file)`` of live nodes made from files, or ``file``, not in other roots.
        ``pruned``: also nodes that were forgotten because the file was gone."""
        query = (
            "SELECT id, file FROM nodes WHERE file >= ifnull(?1, '')"
            " AND (invalidated_at IS NULL OR ?3 AND json_extract(data, '$._pruned') = 1)"
            " AND file <= ifnull(?1, char(1114111)) AND type NOT IN ('file', 'symbol')"
            " AND (source = 'file' OR json_extract(data, '$._stated') IS NOT NULL) AND 0 IS NOT"
            " (SELECT max(root = ?2) FROM documents WHERE node_id = id) ORDER BY +id"
        )
        return self._rows(query, file, root, pruned)

    def count_by_type(self) -> dict[str, int]:
        """Return type to the number of live nodes."""
        query = (  # reads indexes only
            "SELECT type, live FROM (SELECT type, count(*) - (SELECT count(*) FROM nodes f"
            " WHERE f.type = n.type AND f.invalidated_at IS NOT NULL) AS live"
            " FROM nodes n GROUP BY type) WHERE live > 0"
        )
        return dict(self._rows(query))


def node_of(row: tuple[Any, ...]) -> Node:
    """Return a node of a row in the order of ``Node.FIELDS``."""
    node = Node(*row)
    node.tags = tuple(str(row[8]).split())
    return node


def put_rows(db: apsw.Connection, nodes: Sequence[Node], columns: Iterable[str]) -> None:
    """Insert nodes, and update these columns of existing nodes."""
    query = f"SELECT n.id, n.invalidated_at FROM {NAMED.replace('nodes', 'main.nodes')}"
    gone = dict(db.execute(query, (dumps([node.id for node in nodes]),)))
    updates = ", ".join(f"{name} = excluded.{name}" for name in columns)
    db.executemany(f"{INSERT_NODE} ON CONFLICT(id) DO UPDATE SET {updates}", rows_of(nodes))
    new = [(node.id,) for node in nodes if node.id not in gone]
    db.executemany("DELETE FROM main.absent WHERE id = ?", new)  # they have taken over the keys
    follow_nodes(db, (one.id for one in nodes if one.invalidated_at != gone.get(one.id)))


def rows_of(nodes: Iterable[Node]) -> Iterator[list[Any]]:
    """Yield nodes as rows of the table, in the order of ``COLUMNS``."""
    for node in nodes:
        values = [getattr(node, name) for name in COLUMNS]
        values[8] = " ".join(node.tags)
        yield values


class Types(Table):
    """The types of nodes in this store."""

    def all(self) -> dict[str, str]:
        """Return name to description."""
        return dict(self._rows("SELECT name, description FROM types ORDER BY name"))

    def require(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return these types, with ``records`` and ``learning`` expanded; raise UsageError with the
        nearest type for an unknown one."""
        asked = [*names]
        known = self.all() if asked else {}
        wanted = types_named(asked, known)
        for name in wanted:
            if name not in known:
                names = [RECORDS, LEARNING, *known]
                hint = f"{nearest(name, names)}: one of {', '.join(names)}"
                raise UsageError(f"unknown type '{name}'{hint}")
        return tuple(wanted)

    def declared(self) -> dict[str, tuple[str, str]]:
        """Return the declared types: name to (time, description)."""
        rows = self._rows("SELECT name, declared_at, description FROM types WHERE declared_at > ''")
        return {name: (at, text) for name, at, text in sorted(rows)}

    def declare(self, name: str, description: str, at: str = "") -> None:
        """Add or change a type. Without ``at``, the time is now, later than the last declaration;
        a declaration of a store elsewhere, at a time, has no effect if it is earlier."""
        rows = self._rows("SELECT declared_at, description FROM types WHERE name = ?", name)
        was, old = next(iter(rows), ("", None))
        if (at, description) > (was, old) if at else old != description:
            from ..core.times import now_after

            row = (name, description, at or now_after(was))
            self._db.execute("INSERT OR REPLACE INTO main.types VALUES (?, ?, ?)", row)


_RELATION = "weight, coalesce(backward_weight, weight), description"


class Relations(GraphTable):
    """The relations in this store, with their weights."""

    def all(self) -> dict[str, tuple[float, float, str]]:
        """Return name to (weight, backward weight, description)."""
        rows = self._rows(f"SELECT name, {_RELATION} FROM relations ORDER BY name")
        return {name: (weight, backward, text) for name, weight, backward, text in rows}

    def declared(self) -> dict[str, tuple[str, tuple[float, float, str]]]:
        """Return the declared relations: name to (time, row of ``all``)."""
        at = dict(self._rows("SELECT name, declared_at FROM relations WHERE declared_at > ''"))
        return {name: (at[name], one) for name, one in self.all().items() if name in at}

    def declare(
        self, name: str, weight: float, backward: float, description: str, at: str = ""
    ) -> None:
        """Add or change a relation. ``at`` is as in ``Types.declare``."""
        query = f"SELECT declared_at, {_RELATION} FROM relations WHERE name = ?"
        given = (weight, backward, description)
        was, *old = next(iter(self._rows(query, name)), ("",))
        if (at, given) > (was, tuple(old)) if at else given != tuple(old):
            from ..core.times import now_after

            row = (name, weight, description, backward, at or now_after(was))
            self._db.execute("INSERT OR REPLACE INTO main.relations VALUES (?, ?, ?, ?, ?)", row)


class Ratings(GraphTable):
    """Ratings of nodes: sums over their live, rated ``used_in_run`` edges."""

    def of(self, ids: Sequence[str]) -> dict[str, tuple[float, int]]:
        """Return (sum of the weights, number of ratings) of the rated nodes in ``ids``."""
        query = (
            f"SELECT n.id, r.helpful, r.rated FROM {NAMED}"
            " CROSS JOIN ratings r ON r.node_key = n.key"
        )
        return {id: (helpful, rated) for id, helpful, rated in self._rows(query, dumps(ids))}

    def recount(self) -> None:
        """Count all ratings again."""
        self._db.execute("DELETE FROM main.ratings")
        self._db.execute(f"INSERT INTO main.ratings {COUNTED.format('links')}")
