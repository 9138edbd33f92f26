"""Rows that follow from a change of nodes and edges: edges out of force, ratings, absent ends."""

from __future__ import annotations

from ..core.json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from .connection import apsw


_GONE = "coalesce((SELECT invalidated_at FROM main.nodes WHERE key = {}), '')"
_FOLLOW = f"""
UPDATE main.links AS e SET invalidated_at = coalesce(ended_at,
  nullif(max({_GONE.format("e.from_key")}, {_GONE.format("e.to_key")}), ''))
WHERE from_key = ?1 OR to_key = ?1
"""
COUNTED = (
    "SELECT from_key, sum(weight), count(*) FROM {} WHERE relation = 'used_in_run'"
    " AND invalidated_at IS NULL AND json_type(metadata, '$.rating') IS NOT 'null'"
    " GROUP BY from_key"
)
"""A query: the rows of ``ratings``, of a table of edges with a condition."""

_RATED_WITH = """
SELECT from_key FROM main.links WHERE to_key = ?1 AND relation = 'used_in_run'
UNION SELECT from_key FROM main.links WHERE from_key = ?1 AND relation = 'used_in_run'
"""
_LEFT = "SELECT 1 FROM main.links WHERE {} = main.absent.key"


def follow_nodes(db: apsw.Connection, ids: Iterable[str]) -> None:
    """Let edges be out while an end of them is forgotten, after these nodes were, or are back."""
    for id in ids:
        key = db.execute("SELECT key FROM main.nodes WHERE id = ?", (id,)).get
        db.execute(_FOLLOW, (key,))
        count_ratings(db, rated_with(db, key))


def rated_with(db: apsw.Connection, key: int) -> list[int]:
    """Return the keys of a node that was rated; of a run those of all that were rated in it."""
    return [rated for (rated,) in db.execute(_RATED_WITH, (key,))]


def count_ratings(db: apsw.Connection, keys: Collection[int]) -> None:
    """Count the ratings of nodes by their edges."""
    if not keys:
        return
    given = (dumps([*keys]),)
    these = "json_each(?) j CROSS JOIN main.links ON from_key = j.value"
    db.execute("DELETE FROM main.ratings WHERE node_key IN (SELECT value FROM json_each(?))", given)
    db.execute(f"INSERT INTO main.ratings {COUNTED.format(these)}", given)


def drop_taken(db: apsw.Connection, ids: Iterable[str]) -> None:
    """Take nodes that have come out of ``absent``: they have taken their keys over."""
    db.executemany("DELETE FROM main.absent WHERE id = ?", ((id,) for id in ids))


def leave_key(db: apsw.Connection, id: str) -> None:
    """Keep the key of a node that goes, if edges lead to it."""
    db.execute(
        "INSERT OR IGNORE INTO main.absent SELECT key, id FROM main.nodes n WHERE id = ?"
        " AND (EXISTS (SELECT 1 FROM main.links WHERE from_key = n.key)"
        " OR EXISTS (SELECT 1 FROM main.links WHERE to_key = n.key))",
        (id,),
    )


def drop_absent(db: apsw.Connection) -> None:
    """Forget absent nodes that no edge leads to any more."""
    db.execute(
        f"DELETE FROM main.absent WHERE NOT EXISTS ({_LEFT.format('from_key')})"
        f" AND NOT EXISTS ({_LEFT.format('to_key')})"
    )
