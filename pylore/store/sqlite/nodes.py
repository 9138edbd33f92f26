"""The table of nodes, and the passages that belong to each of them."""

from __future__ import annotations

from ...core.errors import LoreError, VerdictsUnavailable, nearest
from ...core.model import Node
from ...core.vocabulary import HIDDEN_STATUSES
from ...system.json_encode import dumps
from .conditions import narrow, seldom, where
from .driver import apsw
from .keys import NEW_KEY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from ..filter import Scope
    from .access_journal import AccessJournal
    from .read_cache import ReadCache

    Brief = tuple[str, str, str | None, int | None, int | None, float, float, str, str, int]
    """(type, title, file, first line, last line, days since the last update, confidence,
    source, status, accesses)"""

_FIELDS = ", ".join(Node.__slots__)
_SORTED = 5000
"""Nodes of a list that are rather found by another index and sorted."""

_KEPT = 100_000
"""Nodes of which is kept whether they are live."""

_HIDDEN_STATUSES = "SELECT " + " || ".join(
    f"iif(EXISTS (SELECT 1 FROM nodes n WHERE {seldom((one,))}), '{one} ', '')"
    for one in HIDDEN_STATUSES
)

_LEAST_LIKE = 3
"""Letters that an id has in common with a wrong one, at the least, to be what was meant."""

INSERT_NODE = (
    f"INSERT INTO main.nodes({_FIELDS}, key)"
    f" VALUES ({', '.join('?' * len(Node.__slots__))}, {NEW_KEY.format(id='?1')})"
)
"""A row of ``rows_of``."""

_FIELDS_OF_N = ", ".join(f"n.{name}" for name in Node.__slots__)
_CONTENT = tuple(name for name in Node.__slots__ if name not in ("id", "updated_at", "changed_at"))

_INDEXED = ("title", "body", "tags", "file")


class Nodes:
    """Reads and writes nodes. Ids are looked up as they are, never as patterns."""

    def __init__(self, connection: apsw.Connection, reads: AccessJournal) -> None:
        self._db = connection
        self._reads = reads
        self.cache: ReadCache | None = None

    def get(self, id: str) -> Node | None:
        """Return one node, invalidated or not."""
        rows = self._db.execute(f"SELECT {_FIELDS} FROM nodes WHERE id = ?", (id,))
        return next(self._nodes(rows), None)

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

    def get_many(self, ids: Iterable[str]) -> dict[str, Node]:
        """Return those of ``ids`` that exist, invalidated or not."""
        rows = self._db.execute(
            f"SELECT {_FIELDS_OF_N} FROM json_each(?) j CROSS JOIN nodes n ON n.id = j.value",
            (dumps(list(ids)),),
        )
        return {node.id: node for node in self._nodes(rows)}

    def holds(self, node: Node) -> bool:
        """Return whether a ``put`` of this node would change nothing."""
        old = self.get(node.id)
        return old is not None and _is_same(old, node)

    def put(self, node: Node) -> str:
        """Write a node whole: ``added``, ``updated``, or ``unchanged``.

        ``updated_at`` alone does not make a node another one.
        """
        old = self.get(node.id)
        if old is not None and _is_same(old, node):
            return "unchanged"
        if old is not None and any(getattr(old, name) != getattr(node, name) for name in _INDEXED):
            from .passage_texts import remember_texts

            remember_texts(self._db, texts_of([node]))
        updates = ", ".join(f"{name} = excluded.{name}" for name in (*_CONTENT, "updated_at"))
        self._db.execute(
            f"{INSERT_NODE} ON CONFLICT(id) DO UPDATE SET {updates}",
            next(rows_of([node])),
        )
        return "added" if old is None else "updated"

    def invalidate(self, id: str, at: str | None) -> None:
        """Mark a node as forgotten at this time; None takes the mark away."""
        self._db.execute("UPDATE main.nodes SET invalidated_at = ? WHERE id = ?", (at, id))

    def delete(self, id: str) -> None:
        """Delete a node for good; its edges, anchors and passages are the caller's."""
        from .passage_texts import remember_texts

        remember_texts(self._db, [(id, None, None, None, None)])
        self._db.execute("DELETE FROM main.nodes WHERE id = ?", (id,))

    def select(
        self, scope: Scope, limit: int, *, forgotten: bool = False, oldest_first: bool = False
    ) -> Iterator[Node]:
        """Yield live nodes within ``scope``, newest update first, those of one time by id.

        ``forgotten``: those instead of live ones. At most ``limit``, or ``ALL``. They are read as
        they are asked for: the first ones are there before the last ones are looked at.
        """
        # Few are sorted; many come in the order of the index that lists have.
        first = None if forgotten else narrow(self._db, scope, _SORTED)
        condition, parameters = where(scope, type="n.type" if first else "+n.type")
        if first is not None:
            condition, parameters = f"{first[0]} AND {condition}", first[1] + parameters
        rows = self._db.execute(
            f"SELECT {_FIELDS} FROM nodes n WHERE {condition}"
            f" AND invalidated_at IS {'NOT ' if forgotten else ''}NULL"
            f" ORDER BY {'+' if first else ''}updated_at {'' if oldest_first else 'DESC'}, id"
            " LIMIT ?",
            (*parameters, limit),
        )
        return self._nodes(rows)

    def all(self, *, live_only: bool = False) -> Iterator[Node]:
        """Return every node, by id."""
        condition = " WHERE invalidated_at IS NULL" if live_only else ""
        return self._nodes(self._db.execute(f"SELECT {_FIELDS} FROM nodes{condition} ORDER BY id"))

    def _nodes(self, rows: Iterable[tuple[object, ...]]) -> Iterator[Node]:
        pending = self._reads.pending()
        for row in rows:
            node = _node(row)
            if pending is not None:
                pending.add_to(node)
            yield node

    def briefs(self, ids: Sequence[str]) -> dict[str, Brief]:
        """Return what a result says of its node, for each of these ids."""
        rows = self._db.execute(
            "SELECT n.id, n.type, n.title, n.file, n.line_start, n.line_end,"
            " coalesce(julianday('now') - julianday(n.updated_at), 0.0),"
            " n.confidence, n.source, n.status, n.access_count"
            " FROM json_each(?) j JOIN nodes n ON n.id = j.value",
            (dumps(ids),),
        )
        pending = self._reads.pending()
        if pending is None:
            return {row[0]: row[1:] for row in rows}
        return {row[0]: (*row[1:-1], row[-1] + pending.of_node(row[0])[0]) for row in rows}

    def hidden_statuses(self, shown: Sequence[str] = ()) -> tuple[str, ...]:
        """Return those of ``HIDDEN_STATUSES`` that nodes are in, less ``shown``: mostly none."""
        held: str | None = self._db.execute(_HIDDEN_STATUSES).get
        return tuple(one for one in held.split() if one not in shown) if held else ()

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
                " FROM json_each(?) j CROSS JOIN anchors a ON a.node_id = j.value",
                (dumps(ids),),
            ).fetchall()
        except apsw.SQLError as error:
            message = f"the verdicts cannot be read ({error}): run 'lore doctor'"
            raise VerdictsUnavailable(message) from None
        return rows

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
        place = self.cache.place if self.cache else None
        if place is None or scope or scope.excluded or scope.hides:
            return self._match(scope, ids)
        live: dict[str, bool] = place.setdefault("live", {})
        fresh = [id for id in ids if id not in live]
        if fresh:
            if len(live) + len(fresh) > _KEPT:
                live.clear()
                fresh = [*ids]
            live.update(dict.fromkeys(fresh, False))
            live.update(dict.fromkeys(self._match(scope, fresh), True))
        return {id for id in ids if live[id]}

    def _match(self, scope: Scope, ids: Sequence[str]) -> set[str]:
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
            self._db.execute(
                "SELECT type, count(*) FROM nodes WHERE invalidated_at IS NULL GROUP BY type"
            )
        )

    # --- passages: what full text and vectors index of a node

    def new_passages(self, ids: Sequence[str], collection: str) -> list[int]:
        """Return keys for new passages, one for each of these ids of nodes."""
        last: int = self._db.execute("SELECT coalesce(max(key), 0) FROM main.passages").get
        keys = list(range(last + 1, last + 1 + len(ids)))
        self._db.executemany(
            "INSERT INTO main.passages(key, node_key, collection)"
            " VALUES (?, (SELECT key FROM nodes WHERE id = ?), ?)",
            ((key, id, collection) for key, id in zip(keys, ids, strict=True)),
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
        from .passage_texts import forget_texts

        self._db.executemany("DELETE FROM main.passages WHERE key = ?", ((key,) for key in keys))
        forget_texts(self._db)

    def remove_all_passages(self) -> None:
        """Forget every passage; the caller has made both indexes empty."""
        self._db.execute("DELETE FROM main.passages")


def _is_same(one: Node, other: Node) -> bool:
    return all(getattr(one, name) == getattr(other, name) for name in _CONTENT)


def _node(row: tuple[object, ...]) -> Node:
    node = Node(*row)  # type: ignore[arg-type]
    node.tags = tuple(str(row[8]).split())
    return node


def texts_of(nodes: Iterable[Node]) -> Iterator[tuple[str, str, str, str, str | None]]:
    """Return id, title, body, tags and file of nodes, as the table has them."""
    return ((node.id, node.title, node.body, " ".join(node.tags), node.file) for node in nodes)


def rows_of(nodes: Iterable[Node]) -> Iterator[list[Any]]:
    """Yield nodes as rows of the table, in the order of ``Node.__slots__``."""
    from operator import attrgetter  # writing alone needs it

    fields = attrgetter(*Node.__slots__)
    for node in nodes:
        values = list(fields(node))
        values[8] = " ".join(node.tags)
        yield values
