"""Keys: the numbers that stand for ids within search.db.

A node has one for as long as it is in the store, and what is the end of an edge and not in
the store has one in ``absent``. Both are given here, out of one row of numbers. Nothing
outside of this package sees a key of a node.
"""

from __future__ import annotations

from ...system.json_encode import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .driver import apsw

_NEXT = (
    "1 + max((SELECT coalesce(max(key), 0) FROM nodes), (SELECT coalesce(max(key), 0) FROM absent))"
)

NEW_KEY = f"coalesce((SELECT key FROM absent WHERE id = {{id}}), {_NEXT})"
"""An expression: the key of a node that comes, with the mark of its id as ``id``."""

KEY_OF = "coalesce((SELECT key FROM nodes WHERE id = {0}), (SELECT key FROM absent WHERE id = {0}))"
"""An expression: the key of an id; NULL where nobody has named it."""

ID_OF = "coalesce((SELECT id FROM nodes WHERE key = {0}), (SELECT id FROM absent WHERE key = {0}))"
"""An expression: the id that a key stands for."""

EDGE_ENDS = f"{ID_OF.format('from_key')} AS from_id, {ID_OF.format('to_key')} AS to_id"
"""Two columns of a query on ``graph_edges``."""


def keys_of(connection: apsw.Connection, ids: Iterable[str]) -> dict[str, int]:
    """The keys of those ids that have one."""
    rows = connection.execute(
        "SELECT id, key FROM (SELECT j.value AS id, " + KEY_OF.format("j.value") + " AS key"
        " FROM json_each(?) j LIMIT -1) WHERE key IS NOT NULL",
        (dumps([*ids]),),
    )
    return dict(rows)


def ids_of(connection: apsw.Connection, keys: Iterable[int]) -> dict[int, str]:
    """The ids that these keys stand for."""
    rows = connection.execute(
        f"SELECT j.value, {ID_OF.format('j.value')} FROM json_each(?) j", (dumps([*keys]),)
    )
    return dict(rows)


def given_keys(connection: apsw.Connection, ids: Iterable[str]) -> Mapping[str, int]:
    """The keys of these ids; what has none is absent, and gets one."""
    wanted = dict.fromkeys(ids)
    found = keys_of(connection, wanted)
    lacking = [id for id in wanted if id not in found]
    if lacking:
        connection.executemany(
            f"INSERT INTO absent(key, id) SELECT {_NEXT}, ?", ((id,) for id in lacking)
        )
        found.update(keys_of(connection, lacking))
    return found


def drop_taken(connection: apsw.Connection) -> None:
    """Takes those out of ``absent`` that have come; the trigger does it where it runs."""
    connection.execute("DELETE FROM absent WHERE key IN (SELECT key FROM nodes)")
