"""What a store says, in few bytes: for telling quickly where two stores differ.

SQLite puts the fields of a row together itself: to read a hundred thousand records as
objects takes several times as long.
"""

from __future__ import annotations

from ...core.model import EDGE_HISTORY
from ...system.json_encode import dumps
from ..anchor import ANCHOR_HISTORY
from .driver import apsw
from .keys import EDGE_ENDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_LATER = "CASE WHEN {c} > max({at}, coalesce(invalidated_at, '')) THEN {c} ELSE '' END"
"""A clock that no other time says; of one state there may be rows with it and without."""

_EXACT = "CAST({} * 4611686018427387904.0 AS INTEGER)"
"""A number from 0 to 1 in whole 1 / 2^62, since SQLites differ in how they write fractions."""

_CHANGE = "CASE change WHEN 'sync' THEN 'import' ELSE change END"
_EDGE_SAID = ("from_id", "to_id", "relation")
_ORDINARY = "status = 'confirmed' AND source = 'user_edit' AND invalidated_at IS NULL"
_BAR = " || '|' || "
_EDGES = f"(SELECT {EDGE_ENDS}, * FROM graph_edges LIMIT -1)"


def _joined(columns: Sequence[str]) -> str:
    return _BAR.join(f"coalesce({column}, '-')" for column in columns)


def _said(
    kind: str, short: Sequence[str], texts: Sequence[str], *, rare: str = "", ordinary: str = ""
) -> str:
    """Return an expression: what is short, the lengths of texts, and these, so that no two rows
    that differ share one. ``rare`` is left out of what is ``ordinary``: most rows are."""
    parts = [f"'{kind}'", _joined(short)] if short else [f"'{kind}'"]
    if rare:
        parts.append(f"CASE WHEN {ordinary} THEN '' ELSE {rare} END")
    lengths = [f"length({text})" for text in texts[:-1]]
    return f"CAST({_BAR.join([*parts, *lengths, ' || '.join(texts)])} AS BLOB)"


def _select(table: str, id: str, said: str, json: str = "") -> str:
    given = f"nullif({json}, '{{}}')" if json else "NULL"
    return f"SELECT {id}, {said}, {given} FROM {table}"


def _node(kind: str, id: str, short: Sequence[str]) -> str:
    fields = ("status", "source", _EXACT.format("confidence"), "line_start", "line_end",
              "invalidated_at", "length(file)", "length(category)")  # fmt: skip
    return _said(
        kind, short, (id, "title", "tags", "body"),
        rare=f"{_joined(fields)}{_BAR}coalesce(file, '') || coalesce(category, '')",
        ordinary=f"{_ORDINARY} AND confidence = 1"
                 " AND coalesce(line_start, line_end, file, category) IS NULL",
    )  # fmt: skip


def _edge(kind: str, short: Sequence[str]) -> str:
    return _said(
        kind, (_EXACT.format("weight"), *short), _EDGE_SAID,
        rare=_joined(("status", "source", "invalidated_at")), ordinary=_ORDINARY,
    )  # fmt: skip


_ANCHOR = (
    "node_id", "kind", "path", "detail", "root", "hash", "commit_id", "verdict", "reason",
    "created_at", "verified_at",
)  # fmt: skip
_QUERIES = (
    (_select("nodes", "id",
             _node("node", "id", ("created_at", "updated_at",
                                  _LATER.format(c="changed_at", at="updated_at"))),
             "data"), ("id",)),
    (_select(_EDGES, "from_id",
             _edge("edge", ("created_at", _LATER.format(c="changed_at", at="created_at"))),
             "metadata"), ("from_id", "to_id")),
    (_select("node_history", "node_id",
             _node("was", "node_id", ("updated_at", "made_at", "changed_at", _CHANGE)),
             "data"), ("node_id",)),
    (_select("edge_history", "from_id",
             _edge("edge was", ("made_at", "changed_at", _CHANGE)),
             "metadata"), ("from_id", "to_id")),
    (_select("anchors", "node_id", _said("anchor", (), _ANCHOR)), ("node_id",)),
    (_select("anchor_history", "node_id", _said("anchor was", (), ANCHOR_HISTORY)),
     ("node_id",)),
)  # fmt: skip

_IDS = f"""
  SELECT id FROM nodes UNION ALL SELECT from_id FROM {_EDGES}
  UNION ALL SELECT node_id FROM node_history UNION ALL SELECT from_id FROM edge_history
  UNION ALL SELECT node_id FROM anchors UNION ALL SELECT node_id FROM anchor_history
  UNION ALL SELECT id FROM purged UNION ALL SELECT id FROM proposed_purges
  UNION ALL SELECT node_id FROM ancestors"""

_UNUSUAL = f"""
  SELECT id FROM purged UNION SELECT id FROM proposed_purges
  UNION SELECT from_id FROM {_EDGES} WHERE to_id IN (SELECT id FROM purged)
  UNION SELECT from_id FROM edge_history WHERE to_id IN (SELECT id FROM purged)
  UNION SELECT node_id FROM ancestors
  UNION SELECT node_id FROM node_history GROUP BY node_id, made_at HAVING count(*) > 1
  UNION SELECT from_id FROM edge_history GROUP BY from_id, to_id, relation, made_at,
    CASE made_at WHEN '' THEN changed_at END HAVING count(*) > 1
  UNION SELECT node_id FROM anchor_history
    GROUP BY node_id, kind, path, detail, changed_at HAVING count(*) > 1
  UNION SELECT a.node_id FROM anchor_history h JOIN anchors a ON a.node_id = h.node_id
    AND a.kind = h.kind AND a.path = h.path AND a.detail = h.detail
    WHERE h.change IN ('removed', 'moved') AND a.created_at <= h.changed_at"""
"""Where what is told to others is not what each row says."""


class Contents:
    """What a store says of each id, access counts left out: for telling where two differ."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def rows(self, types: Sequence[str] = ()) -> Iterator[tuple[str, bytes, str | None]]:
        """Yield ``(id, what a row says, its JSON)``, in any order; None where that is ``{}``.

        A row is a node, an edge, an anchor, or a state that one of these has left; an edge is its
        ``from_id``'s. What an export tells alike, rows say alike, in every store. With ``types``,
        nodes of these and all of their edges.
        """
        for query, ends in _QUERIES:
            kept = " OR ".join(f"{_type(end)} IN (SELECT value FROM json_each(?1))" for end in ends)
            where, given = (f" WHERE {kept}", (dumps(list(types)),)) if types else ("", ())
            yield from self._db.execute(query + where, given)

    def ids(self) -> Iterator[str]:
        """Yield every id of which anything is said, some of them more than once."""
        for (id,) in self._db.execute(_IDS):
            yield id

    def unusual(self) -> set[str]:
        """Return the ids of which what is told to others is not what each row says."""
        return {str(id) for (id,) in self._db.execute(_UNUSUAL)}

    def past_edges(self, from_ids: Iterable[str]) -> Iterator[dict[str, object]]:
        """Yield the states that the edges from these nodes have left, as ``edges.history``."""
        for row in self._db.execute(
            f"SELECT {', '.join(EDGE_HISTORY)} FROM edge_history"
            " WHERE from_id IN (SELECT value FROM json_each(?))"
            " ORDER BY from_id, to_id, relation, changed_at, rowid",
            (dumps(list(from_ids)),),
        ):
            yield dict(zip(EDGE_HISTORY, row, strict=True))


def _type(id: str) -> str:
    return f"substr({id}, 1, instr({id}, '-') - 1)"
