"""Rows derived from nodes and edges: when an edge is out of force, and ratings."""

from __future__ import annotations

from ..core.json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from .connection import apsw


_GONE = "coalesce((SELECT invalidated_at FROM main.nodes WHERE key = {}), '')"
OUT_SINCE = f"coalesce({{ended}}, nullif(max({_GONE}, {_GONE}), ''))"
"""When an edge went out of force: when it was ended, or an end of it forgotten."""

COUNTED = (
    "SELECT from_key, sum(weight) AS helpful, count(*) AS rated FROM {}"
    " WHERE relation = 'used_in_run' AND invalidated_at IS NULL"
    " AND json_type(metadata, '$.rating') IS NOT 'null' GROUP BY from_key"
)
"""A query: the rows of ``ratings`` of a table of edges."""


def follow_nodes(db: apsw.Connection, ids: Iterable[str]) -> None:
    """Update the edges of nodes that were forgotten or restored."""
    out = OUT_SINCE.format("e.from_key", "e.to_key", ended="ended_at")
    for id in ids:
        key = db.execute("SELECT key FROM main.nodes WHERE id = ?", (id,)).get
        db.execute(
            f"UPDATE main.links AS e SET invalidated_at = {out}"
            " WHERE from_key = ?1 OR to_key = ?1", (key,),
        )  # fmt: skip
        count_ratings(db, rated_with(db, key))


def rated_with(db: apsw.Connection, key: int) -> list[int]:
    """Return the key of a rated node, or the keys of the nodes rated in a run."""
    rows = db.execute(
        "SELECT from_key FROM main.links WHERE to_key = ?1 AND relation = 'used_in_run'"
        " UNION SELECT from_key FROM main.links WHERE from_key = ?1 AND relation = 'used_in_run'",
        (key,),
    )
    return [rated for (rated,) in rows]


def count_ratings(db: apsw.Connection, keys: Collection[int]) -> None:
    """Count the ratings of nodes again."""
    if not keys:
        return
    given = (dumps([*keys]),)
    these = "json_each(?) j CROSS JOIN main.links ON from_key = j.value"
    db.execute("DELETE FROM main.ratings WHERE node_key IN (SELECT value FROM json_each(?))", given)
    db.execute(f"INSERT INTO main.ratings {COUNTED.format(these)}", given)
