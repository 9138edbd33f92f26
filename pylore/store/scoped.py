"""The view of search.db in a scope, without the rows of other scopes.

Queries of this package name tables without a schema, and SQLite looks for such a name among
temporary objects first. So a temporary view stands before each table, and every query reads
through it. Writes name ``main.``, and temporary triggers refuse rows of other scopes. A condition
in each of some 200 statements would be forgotten in one of them.
"""

from __future__ import annotations

from ..core.ids import COMMON, MARK
from .changes import SEPARATOR
from .edges import COUNTED

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
"""Table to the columns with ids."""

_EDGE = "from_key, to_key, relation, weight, source, status, metadata, ended_at"


def keep_to(connection: apsw.Connection, scope: str) -> None:
    """Let a connection see common and a scope's rows, and change the scope's; all if empty."""
    rows = connection.execute("SELECT type, name FROM sqlite_temp_schema").fetchall()
    for kind, name in rows:
        if kind in ("view", "trigger"):
            connection.execute(f'DROP {kind} IF EXISTS temp."{name}"')
    if scope:
        for table, condition in _visible(scope).items():
            query = f"SELECT * FROM main.{table} x WHERE {condition}"
            connection.execute(f"CREATE TEMP VIEW {table} AS {query}")
        connection.execute(f"CREATE TEMP VIEW ratings AS {COUNTED.format('links')}")
        for number, (what, table, allowed) in enumerate(_guards(scope)):
            connection.execute(
                f"CREATE TEMP TRIGGER own_{number} BEFORE {what} ON main.{table}"
                f" WHEN NOT ({allowed}) BEGIN SELECT RAISE(ABORT, '{COMMON}'); END"
            )


def _seen(column: str, scope: str) -> str:
    # Names of scopes have no special characters of GLOB or SQL.
    return f"(instr({column}, '{MARK}') = 0 OR {_own(column, scope)})"


def _own(column: str, scope: str) -> str:
    return f"{column} GLOB '*{MARK}{scope}'"


def _thing_seen(thing: str, scope: str) -> str:
    """Return a condition: no part of the key of a thing is of a different scope."""
    others = f"replace({thing} || '{SEPARATOR}', '{MARK}{scope}{SEPARATOR}', '')"
    return f"instr({others}, '{MARK}') = 0"


def _id_meets(condition: str, key: str) -> str:
    """Return a condition on the ``id`` of a key; 0 without an id."""
    found = f"(SELECT {condition} FROM main.{{}} WHERE key = {key})"
    return f"coalesce({found.format('nodes')}, {found.format('absent')}, 0)"


def _edge_seen(edge: str, scope: str) -> str:
    ends = (_id_meets(_seen("id", scope), f"{edge}.{end}") for end in ("from_key", "to_key"))
    return " AND ".join((_seen(f"{edge}.relation", scope), *ends))


def _edge_own(edge: str, scope: str) -> str:
    """Return a condition: the edge is seen, and an end or the relation is the scope's own."""
    ends = (_id_meets(_own("id", scope), f"{edge}.{end}") for end in ("from_key", "to_key"))
    one = " OR ".join((_own(f"{edge}.relation", scope), *ends))
    return f"{_edge_seen(edge, scope)} AND ({one})"


def _visible(scope: str) -> dict[str, str]:
    """Return table to the condition of the rows x that the scope sees."""
    visible = {
        table: " AND ".join(_seen(f"x.{name}", scope) for name in names)
        for table, names in _SEEN.items()
    }
    thing, node = _thing_seen("x.thing", scope), _seen("id", scope)
    # A fact may be hidden although its subject is seen.
    fact = f"{_seen('x.relation', scope)} AND {_id_meets(node, 'x.to_key')}"
    # A change of a link whose other end was forgotten, and is not seen, is of another scope.
    change = (
        f"t.command = x.id AND {_thing_seen('t.thing', scope)}"
        f" AND instr(t.thing || '{SEPARATOR}', '{MARK}{scope}{SEPARATOR}')"
    )
    return visible | {
        "past": thing,
        "added": thing,
        "links": _edge_seen("x", scope),
        "passages": f"{_id_meets(node, 'x.node_key')} AND (x.relation IS NULL OR {fact})",
        "candidates": _own("x.id", scope),  # a common candidate is of no scope
        "commands": f"EXISTS (SELECT 1 FROM main.past t WHERE {change})"
        f" OR EXISTS (SELECT 1 FROM main.added t WHERE {change})",
    }


def _guards(scope: str) -> Iterator[tuple[str, str, str]]:
    """Yield event, table and the condition under which a row may be written."""
    for table, column in (("anchors", "node_id"), ("documents", "node_id"), ("candidates", "id")):
        for what, row in (("INSERT", "new"), ("UPDATE", "old"), ("DELETE", "old")):
            yield what, table, _own(f"{row}.{column}", scope)
    for what, row in (("INSERT", "new"), (f"UPDATE OF {_EDGE}", "old"), ("DELETE", "old")):
        yield what, "links", _edge_own(row, scope)
    yield "UPDATE", "nodes", _own("old.id", scope)
    yield "DELETE", "nodes", _own("old.id", scope)
    yield "INSERT", "absent", _seen("new.id", scope)
    yield "INSERT", "types", "0"
    for column in ("nodes.id", "purged.id", "shown.run_id", "relations.name"):
        table, _, name = column.partition(".")
        yield "INSERT", table, _own(f"new.{name}", scope)
