"""One scope's view of search.db: what belongs to others is as if it were not there.

The queries of this package name tables without a schema, and SQLite looks for such a name among
temporary objects first. So a temporary view of the same name stands before each table: every
query reads through it, caps and counts too, and a connection without a scope has none of them.
What writes names ``main.`` instead, and temporary triggers refuse what is not the scope's own.

It stays: a condition in each of some 200 statements would be forgotten in one of them.
"""

from __future__ import annotations

from ..core.ids import COMMON, MARK
from .changes import SEPARATOR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .connection import apsw


_SEEN = {
    "nodes": ("id",),
    "absent": ("id",),
    "relations": ("name",),
    "anchors": ("node_id",),
    "purged": ("id",),
    "documents": ("node_id",),
    "shown": ("run_id", "node_id"),
}
"""Table to its columns that say whose a row is."""

_CONTENT = (
    "id, type, title, body, source, confidence, category, tags, file, line_start, line_end, data,"
    " invalidated_at"
)
_EDGE = "from_key, to_key, relation, weight, source, status, metadata, ended_at"


def keep_to(connection: apsw.Connection, scope: str) -> None:
    """Let a connection see what is common or of this scope, and change what is of it.

    Without a scope it sees and changes everything.
    """
    rows = connection.execute("SELECT type, name FROM sqlite_temp_schema").fetchall()
    for kind, name in rows:
        if kind in ("view", "trigger"):
            connection.execute(f'DROP {kind} IF EXISTS temp."{name}"')
    if scope:
        for statement in (*_views(scope), *_guards(scope)):
            connection.execute(statement)


def _seen(column: str, scope: str) -> str:
    # No name of a scope has what GLOB or a text of SQL would take for more than a letter.
    return f"(instr({column}, '{MARK}') = 0 OR {_own(column, scope)})"


def _own(column: str, scope: str) -> str:
    return f"{column} GLOB '*{MARK}{scope}'"


def _id_meets(condition: str, key: str) -> str:
    """Return whether the id of a key, which is known as ``id``, meets a condition; 0: it has
    none."""
    found = (f"(SELECT {condition} FROM main.{table} WHERE key = {key})"
             for table in ("nodes", "absent"))  # fmt: skip
    return f"coalesce({', '.join(found)}, 0)"


def _edge_seen(edge: str, scope: str) -> str:
    ends = (_id_meets(_seen("id", scope), f"{edge}.{end}") for end in ("from_key", "to_key"))
    return " AND ".join((_seen(f"{edge}.relation", scope), *ends))


def _edge_own(edge: str, scope: str) -> str:
    """Return a condition: all of it is seen, and one of its names at least is the scope's."""
    ends = (_id_meets(_own("id", scope), f"{edge}.{end}") for end in ("from_key", "to_key"))
    one = " OR ".join((_own(f"{edge}.relation", scope), *ends))
    return f"{_edge_seen(edge, scope)} AND ({one})"


def _views(scope: str) -> Iterator[str]:
    for table, names in _SEEN.items():
        condition = " AND ".join(_seen(name, scope) for name in names)
        yield f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} WHERE {condition}"
    for table in ("past", "added"):
        yield (f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} t"
               f" WHERE {_thing_seen('t.thing', scope)}")  # fmt: skip
    yield (f"CREATE TEMP VIEW links AS SELECT * FROM main.links e WHERE {_edge_seen('e', scope)}")
    # A fact is a passage of its subject, which may be seen where the fact is not.
    yield (
        "CREATE TEMP VIEW passages AS SELECT * FROM main.passages p"
        f" WHERE {_id_meets(_seen('id', scope), 'p.node_key')} AND (p.relation IS NULL OR"
        f" ({_seen('p.relation', scope)} AND {_id_meets(_seen('id', scope), 'p.to_key')}))"
    )
    yield (
        "CREATE TEMP VIEW ratings AS SELECT from_key AS node_key, sum(weight) AS helpful,"
        " count(*) AS rated FROM links WHERE relation = 'used_in_run'"
        " AND invalidated_at IS NULL AND json_type(metadata, '$.rating') IS NOT 'null'"
        " GROUP BY from_key"
    )
    # What is not decided yet is nobody else's business, and what is common is of no scope.
    yield (
        f"CREATE TEMP VIEW candidates AS SELECT * FROM main.candidates WHERE {_own('id', scope)}"
    )
    # What a command did to a link that is not seen, as the other end was forgotten, is another's.
    of_it = " OR ".join(
        f"EXISTS (SELECT 1 FROM main.{table} t WHERE t.command = c.id"
        f" AND {_thing_seen('t.thing', scope)} AND instr(t.thing || '{SEPARATOR}',"
        f" '{MARK}{scope}{SEPARATOR}'))"
        for table in ("past", "added")
    )
    yield f"CREATE TEMP VIEW commands AS SELECT * FROM main.commands c WHERE {of_it}"


def _thing_seen(thing: str, scope: str) -> str:
    """Return a condition: none of the names in the key of a thing is of another scope."""
    others = f"replace({thing} || '{SEPARATOR}', '{MARK}{scope}{SEPARATOR}', '')"
    return f"instr({others}, '{MARK}') = 0"


def _guards(scope: str) -> Iterator[str]:
    """Yield triggers that refuse to write what is not of the scope, whatever command it comes
    from."""
    own_id, own_node = (
        {row: _own(f"{row}.{name}", scope) for row in ("new", "old")} for name in ("id", "node_id")
    )
    edge = {row: _edge_own(row, scope) for row in ("new", "old")}
    guards = [
        ("INSERT", "nodes", own_id["new"]),
        (f"UPDATE OF {_CONTENT}", "nodes", own_id["old"]),
        ("UPDATE OF status", "nodes",
         f"({own_id['old']} OR (old.status = 'staged' AND new.status = 'confirmed'))"),
        ("DELETE", "nodes", own_id["old"]),
        ("INSERT", "absent", _seen("new.id", scope)),
        ("INSERT", "links", edge["new"]),
        (f"UPDATE OF {_EDGE}", "links", edge["old"]),
        ("DELETE", "links", edge["old"]),
        ("INSERT", "anchors", own_node["new"]),
        ("DELETE", "anchors", own_node["old"]),
        ("UPDATE", "anchors", own_node["old"]),
        ("INSERT", "documents", own_node["new"]),
        ("UPDATE", "documents", own_node["old"]),
        ("INSERT", "purged", own_id["new"]),
        ("INSERT", "shown", _own("new.run_id", scope)),
        ("INSERT", "relations", _own("new.name", scope)),
        ("INSERT", "types", "0"),
        ("INSERT", "candidates", own_id["new"]),
        ("UPDATE", "candidates", own_id["old"]),
        ("DELETE", "candidates", own_id["old"]),
    ]  # fmt: skip
    for number, (what, table, allowed) in enumerate(guards):
        yield (
            f"CREATE TEMP TRIGGER own_{number} BEFORE {what} ON main.{table}"
            f" WHEN NOT ({allowed}) BEGIN SELECT RAISE(ABORT, '{COMMON}'); END"
        )
