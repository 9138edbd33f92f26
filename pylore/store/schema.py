"""Making the tables of a new store."""

from __future__ import annotations

import os

from ..core.errors import StoreError
from ..core.vocabulary import RELATIONS, TYPES
from .connection import apsw
from .fulltext import COLUMNS, TABLES, WHOLE, FullText, engine_of
from .vector_tables import OTHERS, VECTORS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


SCHEMA, REMOTES = "schema.sql", "remotes.sql"
"""The text of what every store has, and of what those have beside it that sync with a hub."""


def schema_text(name: str) -> str:
    """Return the text of one file of the schema."""
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return file.read()


def created(text: str) -> Iterator[str]:
    """Yield the CREATE statements of a schema file, as SQLite keeps them; between them are
    comments."""
    for part in ("\n" + text).split("\nCREATE ")[1:]:
        yield "CREATE " + part[: f"{part}\n".rindex(";\n")]


def name_of(text: str) -> str:
    """Return the name of what a CREATE statement of a schema file makes."""
    return text.replace("(", " ").split(maxsplit=3)[2]


def create_schema(connection: apsw.Connection, fulltext: str) -> None:
    """Make all tables of an empty database; the caller holds a transaction."""
    for _ in connection.execute(schema_text(SCHEMA)):
        pass
    connection.executemany("INSERT INTO types(name, description) VALUES (?, ?)", TYPES.items())
    connection.executemany(
        "INSERT INTO relations(name, weight, backward_weight, description) VALUES (?, ?, ?, ?)",
        ((name, *row) for name, row in RELATIONS.items()),
    )
    FullText(connection).renew(fulltext)


_MOST = 500
"""Rows of ``sqlite_schema`` that are looked at; lore's own are about 70."""

_OF_VECTORS = tuple(
    VECTORS[0].format(name) for name in ("passages_vec", '"passages_vec"', "passages_vec_next")
)
"""Up to the number of bytes. A table that was given another name has it in quotes."""

_OF_SQLITE = (
    "CREATE TABLE sqlite_sequence(name,seq)",
    "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
    "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
)
_SHADOWS = {
    "fts5": """\
CREATE TABLE '{0}_data'(id INTEGER PRIMARY KEY, block BLOB)
CREATE TABLE '{0}_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID
CREATE TABLE '{0}_docsize'(id INTEGER PRIMARY KEY, sz BLOB, origin INTEGER)
CREATE TABLE '{0}_config'(k PRIMARY KEY, v) WITHOUT ROWID""",
    "fts4": """\
CREATE TABLE '{0}_content'(docid INTEGER PRIMARY KEY, {1})
CREATE TABLE '{0}_segments'(blockid INTEGER PRIMARY KEY, block BLOB)
CREATE TABLE '{0}_segdir'(level INTEGER,idx INTEGER,start_block INTEGER,\
leaves_end_block INTEGER,end_block INTEGER,root BLOB,PRIMARY KEY(level, idx))
CREATE TABLE '{0}_docsize'(docid INTEGER PRIMARY KEY, size BLOB)
CREATE TABLE '{0}_stat'(id INTEGER PRIMARY KEY, value BLOB)""",
}
"""Engine to the tables that SQLite makes for a full-text table: its name, its columns."""

_PLURALS = {"table": "tables", "index": "indexes", "trigger": "triggers", "view": "views"}
_NAMED = 5
"""How many of what is not lore's are named."""

_SPARED = ("graph_edges",)
"""What a plain search reads nothing of: it may have become a table of other columns."""

_own: frozenset[str] = frozenset()


def own_statements(schema: str = "") -> frozenset[str]:
    """Return the text of every statement that a store may have, tables of vectors aside."""
    return frozenset(_written(schema or schema_text(SCHEMA)))


def _written(schema: str) -> Iterator[str]:
    yield from created(schema)
    yield from created(schema_text(REMOTES))
    yield from OTHERS
    yield from _OF_SQLITE
    for table, columns in (*((table, COLUMNS) for table in TABLES.values()), *WHOLE.items()):
        kept = ", ".join([f"'c{at}{name}'" for at, name in enumerate(columns)])
        for engine, shadows in _SHADOWS.items():
            yield engine_of(engine).create(table, columns)
            yield from shadows.format(table, kept).split("\n")


def _current() -> frozenset[str]:
    global _own
    if not _own:
        _own = own_statements()
    return _own


def foreign_objects(
    connection: apsw.Connection,
    spared: Collection[str] = _SPARED,
    own: frozenset[str] = frozenset(),
) -> dict[str, str]:
    """Return name to kind (``table``, ``index``, ``trigger``, ``view``) of what lore did not make.

    ``own``: the statements of lore's schema; the current one's if empty. A table with nothing but
    names of columns does no harm: it is none of these, unless it is in the place of one of
    lore's that is not ``spared``.
    """
    own = own or _current()
    rows = connection.execute(f"SELECT type, name, sql FROM sqlite_schema LIMIT {_MOST}")
    found = [(str(kind), str(name), str(sql)) for kind, name, sql in rows
             if not _is_own(name, sql, own)]  # fmt: skip
    if not found:
        return {}
    tables = {name_of(one).strip("'").lower() for one in own if one.startswith("CREATE TABLE")}
    return {
        name: kind
        for kind, name, sql in found
        if not _is_plain(kind, name, sql) or (name not in spared and name.lower() in tables)
    }


def refuse_foreign(
    connection: apsw.Connection, path: str, own: frozenset[str] = frozenset()
) -> None:
    """Check that the schema is lore's own.

    Raises:
        StoreError: it is not.
    """
    found = foreign_objects(connection, own=own)
    if found:
        kinds = " and ".join(_PLURALS[kind] for kind in _PLURALS if kind in found.values())
        more = ", …" if len(found) > _NAMED else ""
        names = ", ".join([*sorted(found)][:_NAMED]) + more
        raise StoreError(f"{path}: has {kinds or 'things'} that are not lore's ({names}): "
                         "import an export that you trust into a new store")  # fmt: skip


def foreign_triggers(connection: apsw.Connection) -> list[str]:
    """Return the names of the triggers that are not, letter by letter, those of the schema."""
    rows = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
    return sorted(str(name) for name, sql in rows if not _is_own(name, sql, _current()))


def _is_own(name: object, sql: object, own: frozenset[str]) -> bool:
    if sql is None:
        return str(name).startswith("sqlite_autoindex_")
    return isinstance(sql, str) and (sql in own or _holds_vectors(sql))


def _holds_vectors(sql: str) -> bool:
    """Return whether it makes a table of vectors, of any dimension."""
    end = VECTORS[1]
    return any(
        sql.startswith(create) and sql.endswith(end) and sql[len(create) : -len(end)].isdecimal()
        for create in _OF_VECTORS
    )


def _is_plain(kind: str, name: str, sql: str) -> bool:
    """Return whether it is a table with nothing but names of columns."""
    bare = sql.startswith(f"CREATE TABLE {name}(") and sql.count("(") == 1 and sql.endswith(")")
    return kind == "table" and bare and name.isidentifier()
