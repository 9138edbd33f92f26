"""Keys: the numbers that stand for ids within search.db.

A node has one for as long as it is in the store, and what is the end of an edge and not in
the store has one in ``absent``. Both are given here, out of one row of numbers. Nothing
outside of this package sees a key of a node.
"""

from __future__ import annotations

from ...system.json_encode import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from .driver import apsw

_NEXT = (
    "1 + max((SELECT coalesce(max(key), 0) FROM main.nodes),"
    " (SELECT coalesce(max(key), 0) FROM main.absent))"
)

NEW_KEY = f"coalesce((SELECT key FROM absent WHERE id = {{id}}), {_NEXT})"
"""An expression: the key of a node that comes, with the mark of its id as ``id``."""

KEY_OF = "coalesce((SELECT key FROM nodes WHERE id = {0}), (SELECT key FROM absent WHERE id = {0}))"
"""An expression: the key of an id; NULL where nobody has named it."""

ID_OF = "coalesce((SELECT id FROM nodes WHERE key = {0}), (SELECT id FROM absent WHERE key = {0}))"
"""An expression: the id that a key stands for."""

EDGE_ENDS = f"{ID_OF.format('from_key')} AS from_id, {ID_OF.format('to_key')} AS to_id"
"""Two columns of a query on ``graph_edges``."""


_KEYS = "SELECT e.id, e.key FROM json_each(?) j CROSS JOIN {} e ON e.id = j.value"
_JOINED_IDS = (
    "SELECT group_concat(n.id, char(31)) FROM json_each(?) j CROSS JOIN nodes n ON n.key = j.value"
)
_IDS = f"SELECT CAST(j.value AS TEXT), {ID_OF.format('j.value')} FROM json_each(?) j"


def keys_of(connection: apsw.Connection, ids: Collection[str]) -> dict[str, int]:
    """Return the keys of those ids that have one, in their order, nodes first."""
    found = dict(connection.execute(_KEYS.format("nodes"), (_list(ids),)))
    if len(found) < len(ids):
        lacking = [id for id in ids if id not in found]
        found.update(connection.execute(_KEYS.format("absent"), (_list(lacking),)))
    return found


def key_of(connection: apsw.Connection, id: str) -> int | None:
    """Return the key of one id; None where nobody has named it."""
    return keys_of(connection, [id]).get(id)


def _list(ids: Iterable[str]) -> str:
    return f"[{','.join(map(quote, ids))}]"


def ids_of(connection: apsw.Connection, keys: Collection[str]) -> dict[str, str]:
    """Return the ids that these keys stand for, which are given in digits."""
    given = f"[{','.join(keys)}]"
    # One long string reaches Python faster than as many rows, and no id has this character.
    text: str | None = connection.execute(_JOINED_IDS, (given,)).get
    found = text.split("\x1f") if text else []
    if len(found) == len(keys):
        return dict(zip(keys, found, strict=True))
    return dict(connection.execute(_IDS, (given,)))


def given_keys(connection: apsw.Connection, ids: Iterable[str]) -> Mapping[str, int]:
    """Return the keys of these ids; what has none is absent, and gets one."""
    wanted = dict.fromkeys(ids)
    found = keys_of(connection, wanted.keys())
    lacking = [id for id in wanted if id not in found]
    if lacking:
        connection.executemany(
            f"INSERT INTO main.absent(key, id) SELECT {_NEXT}, ?", ((id,) for id in lacking)
        )
        found.update(keys_of(connection, lacking))
    return found


def drop_taken(connection: apsw.Connection) -> None:
    """Take those out of ``absent`` that have come; the trigger does it where it runs."""
    # Those that are absent are few, and a list of all keys is long.
    connection.execute(
        "DELETE FROM main.absent WHERE EXISTS (SELECT 1 FROM nodes n WHERE n.key = absent.key)"
    )
