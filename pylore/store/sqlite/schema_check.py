"""What a search.db that came from elsewhere holds beside lore's own schema.

SQLite keeps the text of every CREATE. Where each of them is, letter by letter, one that
lore writes, nothing in the store can call a function, compute a column or act by itself.
This is looked at whenever a store is opened: it takes a fifth of a millisecond, so no
list of stores that were looked at before is kept.
"""

from __future__ import annotations

from _blake2 import blake2b

from ...core.errors import StoreError
from .driver import apsw
from .known_schema import HASHES, TABLES
from .vector_tables import VECTORS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection


_MOST = 500
"""Rows of ``sqlite_schema`` that are looked at; lore's own are about 70."""

_OF_VECTORS = tuple(
    VECTORS[0].format(name) for name in ("passages_vec", '"passages_vec"', "passages_vec_next")
)
"""Up to the number of bytes. A table that was given another name has it in quotes."""

_PLURALS = {"table": "tables", "index": "indexes", "trigger": "triggers", "view": "views"}
_NAMED = 5
"""How many of what is not lore's are named."""

_SPARED = ("graph_edges",)
"""What a plain search reads nothing of: it may have become a table of other columns."""


def schema_hash(sql: str) -> str:
    """The hash of one statement of a schema, of 64 bits, in hexadecimal digits."""
    return blake2b(sql.encode("utf-8", "replace"), digest_size=8).hexdigest()


def foreign_objects(
    connection: apsw.Connection, spared: Collection[str] = _SPARED
) -> dict[str, str]:
    """Name to kind (``table``, ``index``, ``trigger``, ``view``) of what lore did not make.

    A table with nothing but names of columns does no harm: it is none of these, unless it
    is in the place of one of lore's that is not ``spared``.
    """
    rows = connection.execute(f"SELECT type, name, sql FROM sqlite_schema LIMIT {_MOST}")
    return {
        str(name): str(kind)
        for kind, name, sql in rows
        if not _is_own(str(name), sql) and not _is_harmless(str(kind), str(name), str(sql), spared)
    }


def refuse_foreign(connection: apsw.Connection, path: str) -> None:
    """Goes on where the schema is lore's own.

    Raises:
        StoreError: it is not.
    """
    found = foreign_objects(connection)
    if found:
        kinds = " and ".join(_PLURALS[kind] for kind in _PLURALS if kind in found.values())
        more = ", …" if len(found) > _NAMED else ""
        names = ", ".join([*sorted(found)][:_NAMED]) + more
        raise StoreError(f"{path}: has {kinds or 'things'} that are not lore's ({names}): "
                         "import an export that you trust into a new store")  # fmt: skip


def foreign_triggers(connection: apsw.Connection) -> list[str]:
    """The names of the triggers that are not, letter by letter, those of the schema."""
    rows = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
    return sorted(str(name) for name, sql in rows if not _is_own(str(name), sql))


def _is_own(name: str, sql: object) -> bool:
    if sql is None:
        return name.startswith("sqlite_autoindex_")
    return isinstance(sql, str) and (schema_hash(sql) in HASHES or holds_vectors(sql))


def holds_vectors(sql: str) -> bool:
    """Whether it is a table of vectors, of any dimension."""
    end = VECTORS[1]
    return any(
        sql.startswith(create) and sql.endswith(end) and sql[len(create) : -len(end)].isdecimal()
        for create in _OF_VECTORS
    )


def _is_harmless(kind: str, name: str, sql: str, spared: Collection[str]) -> bool:
    """Whether it is a plain table that stands in for none of lore's own."""
    bare = sql.startswith(f"CREATE TABLE {name}(") and sql.count("(") == 1 and sql.endswith(")")
    if kind != "table" or not bare or not name.isidentifier():
        return False
    return name in spared or name.lower() not in TABLES
