"""Nodes: read, write and list rows of ``nodes``; types, relations, ratings and meta beside them."""

from __future__ import annotations

from ..core.errors import LoreError, UsageError, VerdictsUnavailable, nearest
from ..core.json import dumps, require_json_object, require_storable
from ..core.model import Node
from ..core.vocabulary import (
    LEARNING,
    NO_RECORDS,
    RECORDS,
    WORST_FIRST,
    types_named,
)
from .conditions import narrow, seldom, where
from .connection import NEW_KEY, apsw
from .derived import COUNTED, drop_taken, follow_nodes, leave_key
from .faults import GraphFaults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from .filter import Scope


if TYPE_CHECKING:
    Brief = tuple[str, str, str | None, int | None, int | None, float, float, str, str, int]
    """(type, title, file, first line, last line, days since the last update, confidence,
    source, status, accesses)"""

    NewPassage = tuple[str, str, str, int, int, str | None, str | None]
    """(id of the node, collection, heading, start, length, other end of a fact's edge, relation)"""

_READS = {"accessed_at": "nullif(r.last, '')", "access_count": "coalesce(r.count, 0)"}
FIELDS_OF_N = ", ".join([_READS.get(name, f"n.{name}") for name in Node.FIELDS])
"""Columns of ``WITH_READS``, in the order of ``Node.FIELDS``."""

WITH_READS = "nodes n LEFT JOIN reads r ON r.key = n.key"

COLUMNS = tuple([name for name in Node.FIELDS if name not in _READS])
"""Columns of ``nodes`` that a ``Node`` has."""

_SORTED = 5000
"""Nodes of a list that are rather found by another index and sorted."""

_LEAST_LIKE = 3
"""Letters that an id has in common with a wrong one, at the least, to be what was meant."""

INSERT_NODE = (
    f"INSERT INTO main.nodes({', '.join(COLUMNS)}, key)"
    f" VALUES ({', '.join('?' * len(COLUMNS))}, {NEW_KEY.format(id='?1')})"
)
"""A row of ``rows_of``."""

_CONTENT = tuple(name for name in Node.FIELDS if name not in ("id", "updated_at", "stamps"))


class Nodes:
    """Reads and writes nodes. Ids are looked up as they are, never as patterns."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def get(self, id: str) -> Node | None:
        """Return one node, invalidated or not."""
        rows = self._db.execute(f"SELECT {FIELDS_OF_N} FROM {WITH_READS} WHERE id = ?", (id,))
        return next(map(node_of, rows), None)

    def require(self, id: str) -> Node:
        """Return one node, forgotten or not.

        Raises:
            LoreError: there is none; the message has likely ones.
        """
        node = self.get(id)
        if node is None:
            likely = self.ids_like(id, 3)
            hint = f" (did you mean {', '.join(likely)}?)" if likely else ""
            raise LoreError(f"no node '{id}'{hint}: see 'lore list'")
        return node

    def require_live(self, id: str) -> Node:
        """Return a node that is not forgotten.

        Raises:
            LoreError: there is none, or it is forgotten.
        """
        node = self.require(id)
        if node.invalidated_at is not None:
            raise LoreError(f"'{id}' is forgotten: 'lore undo {id}' brings it back")
        return node

    def get_many(self, ids: Iterable[str]) -> dict[str, Node]:
        """Return those of ``ids`` that exist, invalidated or not."""
        rows = self._db.execute(
            f"SELECT {FIELDS_OF_N} FROM json_each(?) j CROSS JOIN nodes n ON n.id = j.value"
            " LEFT JOIN reads r ON r.key = n.key",
            (dumps(list(ids)),),
        )
        return {node.id: node for node in map(node_of, rows)}

    def holds(self, node: Node) -> bool:
        """Return whether a ``put`` of this node would change nothing."""
        old = self.get(node.id)
        return old is not None and _is_same(old, node)

    def put(self, node: Node) -> str:
        """Write a node whole: ``added``, ``updated``, or ``unchanged``.

        ``updated_at`` alone does not make a node another one. What it has been stays in its
        history, but for what the index of code made. The node gets its clock and its stamps.
        """
        old = self.get(node.id)
        if old is not None and _is_same(old, node):
            return "unchanged"
        require_storable([*rows_of([node])])
        if old is None or old.data != node.data:
            require_json_object(node.data)
        self._stamp(old, node)
        updates = ", ".join(f"{name} = excluded.{name}" for name in COLUMNS[1:])
        self._db.execute(
            f"{INSERT_NODE} ON CONFLICT(id) DO UPDATE SET {updates}",
            next(rows_of([node])),
        )
        if old is None:
            drop_taken(self._db, [node.id])
        if node.invalidated_at != (old.invalidated_at if old is not None else None):
            follow_nodes(self._db, [node.id])
        if (node.access_count, node.accessed_at) != (
            (old.access_count, old.accessed_at) if old is not None else (0, None)
        ):
            put_reads(self._db, [node])
        return "added" if old is None else "updated"

    def settle(self, nodes: Sequence[Node]) -> None:
        """Write nodes whole, with every time and stamp that they have; the past is the caller's."""
        put_rows(self._db, nodes, COLUMNS[1:])
        put_reads(self._db, nodes)

    def _stamp(self, old: Node | None, node: Node) -> None:
        """Make a node later than what it was before, and than when that was deleted for good."""
        from .changes import ChangeLog

        ChangeLog(self._db).record(old, node)

    def invalidate(self, id: str, at: str | None) -> None:
        """Mark a node as forgotten at this time; None takes the mark away."""
        from ..core.stamps import is_indexed

        node = self.get(id)
        if node is None:
            return
        if is_indexed(node):  # of which there are many, and no history
            self._db.execute("UPDATE main.nodes SET invalidated_at = ? WHERE id = ?", (at, id))
            follow_nodes(self._db, [id])
            return
        node.invalidated_at = at
        self.put(node)

    def confirm(self, ids: Sequence[str]) -> None:
        """Make these nodes confirmed ones; they are no newer for it."""
        from copy import copy

        for id, old in self.get_many(ids).items():
            node = copy(old)
            node.status = "confirmed"
            self._stamp(old, node)
            self._db.execute(
                "UPDATE main.nodes SET status = ?, stamps = ? WHERE id = ?",
                (node.status, node.stamps, id),
            )

    def delete(self, id: str) -> None:
        """Delete a node for good, with what is known of its file and of what runs were shown; its
        edges, anchors and passages are the caller's."""
        leave_key(self._db, id)
        self._db.execute("DELETE FROM main.nodes WHERE id = ?", (id,))
        self._db.execute("DELETE FROM main.documents WHERE node_id = ?", (id,))
        self._db.execute("DELETE FROM main.shown WHERE run_id = ?1 OR node_id = ?1", (id,))

    def select(
        self, scope: Scope, limit: int, *, forgotten: bool = False, oldest_first: bool = False
    ) -> Iterator[Node]:
        """Yield live nodes within ``scope``, newest update first, those of one time by id.

        ``forgotten``: those instead of live ones. At most ``limit``, or ``ALL``. They are read as
        they are asked for: the first ones are there before the last ones are looked at.
        """
        # Few are sorted; many come in the order of the index that lists have.
        first = None if forgotten else narrow(self._db, scope, _SORTED)
        condition, parameters = where(scope)
        if first is not None:
            condition, parameters = f"{first[0]} AND {condition}", first[1] + parameters
        rows = self._db.execute(
            f"SELECT {FIELDS_OF_N} FROM {WITH_READS} WHERE {condition}"
            f" AND invalidated_at IS {'NOT ' if forgotten else ''}NULL"
            f" ORDER BY {'+' if first else ''}updated_at {'' if oldest_first else 'DESC'}, id"
            " LIMIT ?",
            (*parameters, limit),
        )
        return map(node_of, rows)

    def all(self, *, live_only: bool = False) -> Iterator[Node]:
        """Return every node, by id."""
        condition = " WHERE invalidated_at IS NULL" if live_only else ""
        rows = self._db.execute(f"SELECT {FIELDS_OF_N} FROM {WITH_READS}{condition} ORDER BY id")
        return map(node_of, rows)

    def briefs(self, ids: Sequence[str]) -> dict[str, Brief]:
        """Return what a result says of its node, for each of these ids."""
        rows = self._db.execute(
            "SELECT n.id, n.type, n.title, n.file, n.line_start, n.line_end,"
            " coalesce(julianday('now') - julianday(n.updated_at), 0.0),"
            " n.confidence, n.source, n.status, coalesce(r.count, 0)"
            " FROM json_each(?) j JOIN nodes n ON n.id = j.value"
            " LEFT JOIN reads r ON r.key = n.key",
            (dumps(ids),),
        )
        return {row[0]: row[1:] for row in rows}

    def hidden(self, statuses: Sequence[str], most: int) -> list[str] | None:
        """Return live nodes in one of these statuses, of ``HIDDEN_STATUSES``; None where there may
        be more than ``most``."""
        hidden = seldom(statuses)
        if most >= 0:
            query = f"SELECT count(*) FROM (SELECT 1 FROM nodes n WHERE {hidden} LIMIT ?)"
            if self._db.execute(query, (most + 1,)).get > most:
                return None
        rows = self._db.execute(
            f"SELECT n.id FROM nodes n WHERE {hidden} AND n.invalidated_at IS NULL"
        )
        return [str(id) for (id,) in rows]

    def hidden_among(self, ids: Sequence[str], statuses: Sequence[str]) -> set[str]:
        """Return those of ``ids`` that are in one of these statuses, of ``HIDDEN_STATUSES``."""
        rows = self._db.execute(
            "SELECT j.value FROM json_each(?) j CROSS JOIN nodes named ON named.id = j.value"
            f" CROSS JOIN nodes n ON n.key = named.key AND {seldom(statuses)}",
            (dumps(ids),),
        )
        return {str(id) for (id,) in rows}

    def anchored(self, ids: Sequence[str]) -> list[tuple[str, str, str, str, str, str]]:
        """Return ``(node, verdict, kind, root, path, stamp)`` of every anchor of these nodes.

        Raises:
            VerdictsUnavailable: there is no table of anchors, or another one.
        """
        try:
            rows: list[tuple[str, str, str, str, str, str]] = self._db.execute(  # type: ignore[assignment]
                "SELECT a.node_id, a.verdict, a.kind, a.root, a.path, a.stamp"
                " FROM json_each(?) j CROSS JOIN anchors a ON a.node_id = j.value"
                " WHERE a.gone_at IS NULL",
                (dumps(ids),),
            ).fetchall()
        except apsw.SQLError as error:
            message = f"the verdicts cannot be read ({error}): run 'lore doctor'"
            raise VerdictsUnavailable(message) from None
        return rows

    def verdicts(self, ids: Sequence[str]) -> tuple[dict[str, str], list[str]]:
        """Return the kept verdict on each of these nodes that has anchors, that of the anchor that
        holds least; and a note where the anchors cannot be read."""
        found: dict[str, str] = {}
        try:
            for id, verdict, *_ in self.anchored(ids):
                found[id] = min(verdict, found.get(id, verdict), key=WORST_FIRST.index)
        except VerdictsUnavailable as error:
            return {}, [str(error)]
        return found, []

    def categories(self, ids: Sequence[str], tags: Sequence[str] = ()) -> dict[str, str]:
        """Return the category of each of these ids that has one, or else the first of ``tags`` it
        has."""
        rows = self._db.execute(
            "SELECT n.id, coalesce(nullif(n.category, ''), (SELECT t.value FROM json_each(?2) t"
            " WHERE instr(' ' || n.tags || ' ', ' ' || t.value || ' ') ORDER BY t.key LIMIT 1))"
            " AS found FROM json_each(?1) j CROSS JOIN nodes n ON n.id = j.value"
            " WHERE found IS NOT NULL",
            (dumps(ids), dumps(tags)),
        )
        return dict(rows)

    def files(self, beginning: str) -> list[str]:
        """Return the paths that begin so and have a live node."""
        rows = self._db.execute(
            "SELECT substr(id, 6) FROM nodes WHERE id >= 'file-' || ?1"
            " AND id < 'file-' || ?1 || char(1114111) AND invalidated_at IS NULL",
            (beginning,),
        )
        return [str(path) for (path,) in rows]

    def symbol_lines(self, keys: Sequence[int]) -> dict[int, tuple[int | None, int | None]]:
        """Return first and last line of the symbol that each of these passages is of, if it is of
        one."""
        rows = self._db.execute(
            "SELECT p.key, n.line_start, n.line_end FROM json_each(?) j CROSS JOIN passages p"
            " ON p.key = j.value JOIN nodes n ON n.key = p.node_key WHERE n.type = 'symbol'",
            (dumps(keys),),
        )
        return {key: (first, last) for key, first, last in rows}

    def beginning(self, id: str, length: int = 800) -> str:
        """Return the first characters of a node's text."""
        return (
            self._db.execute("SELECT substr(body, 1, ?) FROM nodes WHERE id = ?", (length, id)).get
            or ""
        )

    def match(self, scope: Scope, ids: Sequence[str]) -> set[str]:
        """Return those of ``ids`` that are live and within ``scope``."""
        condition, parameters = where(scope)
        rows = self._db.execute(
            "SELECT n.id FROM json_each(?) j CROSS JOIN nodes n ON n.id = j.value"
            f" WHERE n.invalidated_at IS NULL AND {condition}",
            (dumps(ids), *parameters),
        )
        return {id for (id,) in rows}

    def ids_like(self, text: str, limit: int) -> list[str]:
        """Return ids that contain ``text``, or else begin as it does: what a wrong id may have
        meant."""
        beginning = text[: max(text.find("-") + 3, len(text) * 2 // 3)]
        for part, place in ((text, "> 0"), (beginning, "IN (1, instr(id, '-') + 1)")):
            if len(part) < _LEAST_LIKE:
                continue
            rows = self._db.execute(
                f"SELECT id FROM nodes WHERE instr(id, ?1) {place} ORDER BY instr(id, ?1), id"
                " LIMIT ?2",
                (part, limit),
            ).fetchall()
            if rows:
                return [str(id) for (id,) in rows]
        return []

    def ids_at(self, part: str, limit: int) -> list[str]:
        """Return ids that begin or end so, or behind their type; those that end with a whole part
        (``ends_with_part``) first, then by id."""
        rows = self._db.execute(
            "SELECT id FROM nodes WHERE instr(id, ?1) = 1"
            " OR substr(id, instr(id, '-') + 1, length(?1)) = ?1 OR substr(id, -length(?1)) = ?1"
            " ORDER BY substr(id, instr(id, '-') + 1) <> ?1"
            " AND (substr(id, -length(?1)) <> ?1 OR instr('/:.',"
            " substr(id, -length(?1) - 1, 1)) = 0), id LIMIT ?2",
            (part, limit),
        )
        return [str(id) for (id,) in rows]

    def ids_titled(self, title: str, limit: int) -> list[str]:
        """Return records with this title in any case, live ones if there are any, by id."""
        wanted = title.lower()
        rows = self._db.execute(
            "SELECT id, title, invalidated_at IS NULL FROM nodes WHERE length(title) = ?"
            f" AND type NOT IN ({', '.join(map(repr, sorted(NO_RECORDS)))}) ORDER BY id",
            (len(title),),
        )
        found = [(str(id), live) for id, name, live in rows if str(name).lower() == wanted]
        lives = [id for id, live in found if live]
        return (lives or [id for id, _ in found])[:limit]

    def unknown_tags(self, tags: Iterable[str]) -> list[str]:
        """Return a note for each of these tags that no live node has, with the nearest one."""
        rows = self._db.execute(
            "SELECT DISTINCT tags FROM nodes WHERE tags <> '' AND invalidated_at IS NULL"
        )
        known = sorted({tag for (text,) in rows for tag in str(text).split(" ")})
        return [
            f"no record has the tag '{tag}'{nearest(tag, known)}" for tag in tags
            if tag not in known
        ]  # fmt: skip

    def outlines(
        self, types: Sequence[str] = ()
    ) -> Iterator[tuple[str, str, str, str, str, str | None]]:
        """Yield ``(id, type, title, status, tags, file)`` of live nodes, by id; no types mean
        all."""
        yield from self._db.execute(
            "SELECT id, type, title, status, tags, file FROM nodes WHERE invalidated_at IS NULL"
            " AND (?1 = '[]' OR type IN (SELECT value FROM json_each(?1))) ORDER BY id",
            (dumps(types),),
        )

    def documents(self, file: str | None = None) -> list[tuple[str, str]]:
        """Return ``(id, file)`` of every live node that was made from a file, or from this one."""
        rows: list[tuple[str, str]] = self._db.execute(  # type: ignore[assignment]
            "SELECT id, file FROM nodes"
            f" WHERE {'file IS NOT NULL' if file is None else 'file = ?'}"
            " AND invalidated_at IS NULL AND type != 'file'"
            " AND (source = 'file' OR json_extract(data, '$._stated') IS NOT NULL) ORDER BY id",
            () if file is None else (file,),
        ).fetchall()
        return rows

    def count_by_type(self) -> dict[str, int]:
        """Return type to the number of its live nodes."""
        return dict(
            self._db.execute(  # each count from an index alone
                "SELECT type, live FROM (SELECT type, count(*) - (SELECT count(*) FROM nodes f"
                " WHERE f.type = n.type AND f.invalidated_at IS NOT NULL) AS live"
                " FROM nodes n GROUP BY type) WHERE live > 0"
            )
        )

    # --- passages: what full text and vectors index of a node

    def new_passages(self, rows: Sequence[NewPassage]) -> list[int]:
        """Write passages; return their keys."""
        last: int = self._db.execute("SELECT coalesce(max(key), 0) FROM main.passages").get
        keys = list(range(last + 1, last + 1 + len(rows)))
        self._db.executemany(
            "INSERT INTO main.passages VALUES (?, (SELECT key FROM nodes WHERE id = ?), ?, ?, ?, ?,"
            " (SELECT key FROM nodes WHERE id = ?), ?)",
            ((key, *row) for key, row in zip(keys, rows, strict=True)),
        )
        return keys

    def passages(self, ids: Sequence[str]) -> list[tuple[int, str]]:
        """Return key and full-text collection of the passages of these nodes, by key."""
        rows: list[tuple[int, str]] = self._db.execute(  # type: ignore[assignment]
            "SELECT p.key, p.collection FROM json_each(?) j CROSS JOIN nodes n ON n.id = j.value"
            " CROSS JOIN passages p ON p.node_key = n.key ORDER BY p.key",
            (dumps(ids),),
        ).fetchall()
        return rows

    def first_passages(self, ids: Sequence[str]) -> dict[str, int]:
        """Return the key of the first passage of each of these nodes that has one."""
        rows = self._db.execute(
            "SELECT n.id, min(p.key) FROM json_each(?) j CROSS JOIN nodes n ON n.id = j.value"
            " CROSS JOIN passages p ON p.node_key = n.key GROUP BY n.id",
            (dumps(ids),),
        )
        return dict(rows)

    def remove_passages(self, keys: Iterable[int]) -> None:
        """Forget passages; their indexed rows are the caller's to remove."""
        self._db.executemany("DELETE FROM main.passages WHERE key = ?", ((key,) for key in keys))

    def remove_all_passages(self) -> None:
        """Forget every passage; the caller has made both indexes empty."""
        self._db.execute("DELETE FROM main.passages")


def _is_same(one: Node, other: Node) -> bool:
    return all(getattr(one, name) == getattr(other, name) for name in _CONTENT)


def node_of(row: tuple[object, ...]) -> Node:
    """Return a node of its row, in the order of ``Node.FIELDS``."""
    node = Node(*row)  # type: ignore[arg-type]
    node.tags = tuple(str(row[8]).split())
    return node


def put_reads(db: apsw.Connection, nodes: Iterable[Node]) -> None:
    """Write how often, and when last, nodes were read, where they say another count."""
    db.executemany(
        "INSERT OR REPLACE INTO main.reads SELECT n.key, ?2, ?3 FROM main.nodes n"
        " LEFT JOIN main.reads r ON r.key = n.key WHERE n.id = ?1"
        " AND (coalesce(r.count, 0), coalesce(r.last, '')) <> (?2, ?3)",
        ((node.id, node.access_count, node.accessed_at or "") for node in nodes),
    )


def put_rows(db: apsw.Connection, nodes: Sequence[Node], columns: Iterable[str]) -> None:
    """Write nodes; of those that are there these columns."""
    rows = db.execute(
        "SELECT n.id, n.invalidated_at FROM json_each(?) j CROSS JOIN main.nodes n"
        " ON n.id = j.value",
        (dumps([node.id for node in nodes]),),
    )
    gone = dict(rows)
    updates = ", ".join(f"{name} = excluded.{name}" for name in columns)
    db.executemany(f"{INSERT_NODE} ON CONFLICT(id) DO UPDATE SET {updates}", rows_of(nodes))
    drop_taken(db, (node.id for node in nodes if node.id not in gone))
    follow_nodes(db, (one.id for one in nodes if one.invalidated_at != gone.get(one.id)))


def rows_of(nodes: Iterable[Node]) -> Iterator[list[Any]]:
    """Yield nodes as rows of the table, in the order of ``COLUMNS``."""
    from operator import attrgetter  # writing alone needs it

    fields = attrgetter(*COLUMNS)
    for node in nodes:
        values = list(fields(node))
        values[8] = " ".join(node.tags)
        yield values


class Meta:
    """Facts about the store itself: whose vectors it holds, which full-text engine."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def all(self) -> dict[str, str]:
        """Return every key with its value."""
        return dict(self._db.execute("SELECT key, value FROM meta"))

    def get(self, key: str) -> str | None:
        """Return the value of one key, if it is set."""
        row: str | None = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).get
        return row

    def set(self, key: str, value: str | None) -> None:
        """Set one key; None takes it away."""
        if value is None:
            self._db.execute("DELETE FROM meta WHERE key = ?", (key,))
        else:
            self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


class Types:
    """The node types that this store knows."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def all(self) -> dict[str, str]:
        """Return name to description."""
        return dict(self._db.execute("SELECT name, description FROM types ORDER BY name"))

    def require(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return ``names`` if these types are known; ``records`` and ``learning`` are several.

        Raises:
            UsageError: one of them is not; the message has the nearest one.
        """
        asked = [*names]
        known = list(self.all()) if asked else []
        wanted = types_named(asked, known)
        for name in wanted:
            if name not in known:
                names = [RECORDS, LEARNING, *known]
                raise UsageError(f"unknown type '{name}'{nearest(name, names)}: "
                                 f"one of {', '.join(names)}")  # fmt: skip
        return tuple(wanted)

    def declared(self) -> dict[str, tuple[str, str]]:
        """Return the types that somebody has declared: name to (when, description)."""
        rows = self._db.execute(
            "SELECT name, declared_at, description FROM types WHERE declared_at > '' ORDER BY name"
        )
        return {name: (at, text) for name, at, text in rows}

    def declare(self, name: str, description: str, at: str = "") -> None:
        """Add a type, or give a known one another description; ``at``: at this time.

        Without one it is now, and later than what was declared before.
        """
        if not at and self.all().get(name) == description:
            return
        self._db.execute(
            "INSERT INTO main.types VALUES (?1, ?2, ?3)"
            " ON CONFLICT(name) DO UPDATE SET description = ?2, declared_at = ?3",
            (name, description, at or _later(self.declared().get(name))),
        )


class Relations:
    """The relations that this store knows, with their weights."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def all(self) -> dict[str, tuple[float, float, str]]:
        """Return name to (weight, weight walked backwards, description)."""
        rows = self._db.execute(
            "SELECT name, weight, coalesce(backward_weight, weight), description"
            " FROM relations ORDER BY name"
        )
        return {name: (weight, backward, text) for name, weight, backward, text in rows}

    def declared(self) -> dict[str, tuple[str, tuple[float, float, str]]]:
        """Return the relations that somebody has declared: name to (when, as ``all``)."""
        rows = self._db.execute("SELECT name, declared_at FROM relations WHERE declared_at > ''")
        at = dict(rows)
        return {name: (at[name], one) for name, one in self.all().items() if name in at}

    def declare(
        self, name: str, weight: float, backward: float, description: str, at: str = ""
    ) -> None:
        """Add a relation, or give a known one another weight and description; ``at``: at this
        time. Without one it is now, and later than what was declared before."""
        if not at and self.all().get(name) == (weight, backward, description):
            return
        self._db.execute(
            "INSERT INTO main.relations(name, weight, backward_weight, description, declared_at)"
            " VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT(name) DO UPDATE"
            " SET weight = ?2, backward_weight = ?3, description = ?4, declared_at = ?5",
            (name, weight, backward, description, at or _later(self.declared().get(name))),
        )


def _later(declared: tuple[str, object] | None) -> str:
    from ..core.stamps import next_clock
    from ..core.times import now

    return next_clock(declared[0] if declared else "", now())


_COUNTED = COUNTED.format("links")
_TOLERANCE = 1e-6
"""Sums of floats, added up one by one as they came and went, differ in their last digits."""
_WRONG = f"""
  WITH counted(node_key, helpful, rated) AS ({_COUNTED})
  SELECT count(*) FROM (
    SELECT r.node_key FROM ratings r LEFT JOIN counted c ON c.node_key = r.node_key
    WHERE c.node_key IS NULL OR c.rated IS NOT r.rated OR NOT abs(c.helpful - r.helpful) <= ?
    UNION
    SELECT c.node_key FROM counted c LEFT JOIN ratings r ON r.node_key = c.node_key
    WHERE r.node_key IS NULL)"""


class Ratings:
    """How nodes were rated: sums over their live, rated ``used_in_run`` edges."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def of(self, ids: Sequence[str]) -> dict[str, tuple[float, int]]:
        """Return (sum of the weights, number of ratings) of those of ``ids`` that were rated.

        Raises:
            GraphUnavailable: the table is missing or damaged.
        """
        with GraphFaults():
            rows: list[tuple[str, float, int]] = self._db.execute(  # type: ignore[assignment]
                "SELECT n.id, r.helpful, r.rated FROM json_each(?) j"
                " CROSS JOIN nodes n ON n.id = j.value CROSS JOIN ratings r ON r.node_key = n.key",
                (dumps(ids),),
            ).fetchall()
        return {id: (helpful, rated) for id, helpful, rated in rows}

    def recount(self) -> None:
        """Count all of them anew; the caller holds a transaction."""
        self._db.execute("DELETE FROM main.ratings")
        self._db.execute(f"INSERT INTO main.ratings {_COUNTED}")

    def wrong(self) -> int:
        """Return how many nodes have other ratings than their edges say."""
        number: int = self._db.execute(_WRONG, (_TOLERANCE,)).get
        return number
