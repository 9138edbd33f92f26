"""What a search.db that came from elsewhere holds beside lore's own schema.

SQLite keeps the text of every CREATE. Where each of them is, letter by letter, one that
lore writes, nothing in the store can call a function, compute a column or act by itself.
This is looked at whenever a store is opened: it takes a fifth of a millisecond, so no
list of stores that were looked at before is kept.
"""

from __future__ import annotations

import os

from ...core.errors import StoreError
from .driver import apsw
from .fulltext import COLUMNS, CREATE, TABLES, creating
from .vector_tables import OTHERS as VECTOR_TABLES
from .vector_tables import VECTORS
from .whole_text import WHOLE, creating_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

SCHEMA_FILES = (*(f"upgrades/version-{number}.sql" for number in (1, 2, 3, 4)), "schema.sql")
"""The text of each version of the schema, version 1 first."""

REMOTES = "remotes.sql"
"""The text of what stores have that sync with a hub, and others have not."""

FIRST_WHOLE = 4
"""The version from which on a text is all of its schema; before, what it adds."""

FIRST_FULLTEXT = "passages_fts"
"""The one full-text table of version 1."""

_MOST = 500
"""Rows of ``sqlite_schema`` that are looked at; lore's own are about 70."""

_OF_FULLTEXT = (
    "CREATE TABLE '{}_data'(id INTEGER PRIMARY KEY, block BLOB)",
    "CREATE TABLE '{}_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID",
    "CREATE TABLE '{}_docsize'(id INTEGER PRIMARY KEY, sz BLOB)",
    "CREATE TABLE '{}_config'(k PRIMARY KEY, v) WITHOUT ROWID",
    "CREATE TABLE '{}_content'(docid INTEGER PRIMARY KEY,"
    " 'c0title', 'c1body', 'c2tags', 'c3file', 'c4parts')",
    "CREATE TABLE '{}_segments'(blockid INTEGER PRIMARY KEY, block BLOB)",
    "CREATE TABLE '{}_segdir'(level INTEGER,idx INTEGER,start_block INTEGER,"
    "leaves_end_block INTEGER,end_block INTEGER,root BLOB,PRIMARY KEY(level, idx))",
    "CREATE TABLE '{}_docsize'(docid INTEGER PRIMARY KEY, size BLOB)",
    "CREATE TABLE '{}_stat'(id INTEGER PRIMARY KEY, value BLOB)",
)
"""What FTS5 and then FTS4 make for themselves beside a table."""

_TEXTS_OF_FTS5 = "CREATE TABLE '{}_content'(id INTEGER PRIMARY KEY, c0, c1, c2, c3, c4)"
"""The same, as long as versions 1 to 3 let FTS5 keep the texts."""

FORMER_CREATE = (
    "CREATE VIRTUAL TABLE {table} USING fts5({columns}, tokenize='unicode61 remove_diacritics 2')"
)
"""How versions 2 and 3 made a table of FTS5."""

_FIRST_CREATE = (
    "CREATE VIRTUAL TABLE passages_fts USING fts5({},"
    " tokenize='porter unicode61 remove_diacritics 2')",
    "CREATE VIRTUAL TABLE passages_fts USING fts4({},"
    " tokenize=unicode61 'remove_diacritics=2')",
    "CREATE VIRTUAL TABLE passages_fts USING fts5({})",
)  # fmt: skip

_OTHERS = (
    "CREATE TABLE sqlite_sequence(name,seq)",
    "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
    "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
)
_SIGNS = ("CREATE TABLE signs(key INTEGER PRIMARY KEY, sign BLOB NOT NULL)",)
"""What versions 1 to 3 had of vectors beside their table."""

_OF_VECTORS = tuple(
    VECTORS[0].format(name) for name in ("passages_vec", '"passages_vec"', "passages_vec_next")
)
"""Up to the number of bytes. A table that was given another name has it in quotes."""

_WAY_IN = "import an export that you trust into a new store"
_PLURALS = {"table": "tables", "index": "indexes", "trigger": "triggers", "view": "views"}
_NAMED = 5
"""How many of what is not lore's are named."""

_SPARED = ("graph_edges",)
"""What a plain search reads nothing of: it may have become a table of other columns."""


def schema_texts(files: Iterable[str]) -> Iterator[str]:
    """The texts of these files of the schema."""
    for name in files:
        with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
            yield file.read()


def created(*texts: str) -> Iterator[str]:
    """The CREATE statements of schema files, as SQLite keeps them; between them are comments."""
    for text in texts:
        for part in ("\n" + text).split("\nCREATE ")[1:]:
            yield "CREATE " + part[: f"{part}\n".rindex(";\n")]


def name_of(text: str) -> str:
    """The name of what a CREATE statement of a schema file makes."""
    return text.replace("(", " ").split(maxsplit=3)[2]


def foreign_objects(
    connection: apsw.Connection, version: int, spared: Collection[str] = _SPARED
) -> dict[str, str]:
    """Name to kind (``table``, ``index``, ``trigger``, ``view``) of what lore did not make.

    A store of version 1 that has what version 2 adds was not left so by lore either. A
    table with nothing but names of columns does no harm: it is none of these, unless it
    is in the place of one of lore's that is not ``spared``.
    """
    rows = connection.execute(f"SELECT type, name, sql FROM sqlite_schema LIMIT {_MOST}")
    known = _known(version)
    unknown = [
        (str(kind), str(name), str(sql))
        for kind, name, sql in rows
        if sql not in known and not (sql is None and str(name).startswith("sqlite_autoindex_"))
    ]
    return {
        name: kind
        for kind, name, sql in unknown
        if not _holds_vectors(sql) and not _is_harmless(kind, name, sql, known, spared)
    }


def refuse_foreign(connection: apsw.Connection, path: str, version: int) -> None:
    """Goes on where the schema is lore's own.

    Raises:
        StoreError: it is not, or it is that of another version than it says.
    """
    found = foreign_objects(connection, version)
    if not found:
        return
    if version < len(SCHEMA_FILES) and not foreign_objects(connection, len(SCHEMA_FILES)):
        what = f"says that it is of version {version}, and is of a later one"
    else:
        kinds = " and ".join(_PLURALS[kind] for kind in _PLURALS if kind in found.values())
        more = ", …" if len(found) > _NAMED else ""
        names = ", ".join([*sorted(found)][:_NAMED]) + more
        what = f"has {kinds or 'things'} that are not lore's ({names})"
    raise StoreError(f"{path}: {what}: {_WAY_IN}")


def foreign_triggers(connection: apsw.Connection) -> list[str]:
    """The names of the triggers that are not, letter by letter, those of the schema."""
    rows = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
    found = {str(name): sql for name, sql in rows}
    known = _known(len(SCHEMA_FILES)) if found else ()
    return sorted(name for name, sql in found.items() if sql not in known)


def _known(version: int) -> frozenset[str]:
    if version != len(SCHEMA_FILES):
        return statements(version)
    from .known_schema import STATEMENTS  # the same, without the work: every search opens a store

    return STATEMENTS


def statements(version: int) -> frozenset[str]:
    """Every text that ``sqlite_schema`` of a store of this version may have."""
    whole = version >= FIRST_WHOLE
    files = [*schema_texts(SCHEMA_FILES[version - 1 if whole else 0 : version])]
    if version == len(SCHEMA_FILES):
        files += schema_texts([REMOTES])
    altered = _altered(created(*files), files)
    of_vectors = VECTOR_TABLES if whole else _SIGNS
    return frozenset((*altered, *_of_fulltext(version), *of_vectors, *_OTHERS))


def _altered(created: Iterable[str], files: Iterable[str]) -> Iterator[str]:
    """Statements with the columns that later files add, as ALTER TABLE leaves them."""
    added: dict[str, str] = {}
    for file in files:
        for part in ("\n" + file).split("\nALTER TABLE ")[1:]:
            table, _, column = part.partition(";")[0].partition(" ADD COLUMN ")
            added[table] = f"{added.get(table, '')}, {column}"
    for text in created:
        table = text.removeprefix("CREATE TABLE ").partition("(")[0]
        column = added.get(table, "")
        end = text.find(",\n  PRIMARY KEY (")  # SQLite adds columns before it
        end = text.rfind(")") if end < 0 else end
        yield text[:end] + column + text[end:] if column else text


def _of_fulltext(version: int) -> Iterator[str]:
    columns = ", ".join(COLUMNS)
    tables = TABLES.values() if version > 1 else (FIRST_FULLTEXT,)
    if version >= FIRST_WHOLE:
        for engine in CREATE:
            yield from creating(engine)
    for table in tables if version < FIRST_WHOLE else ():
        for create in (FORMER_CREATE, CREATE["fts4"]) if version > 1 else _FIRST_CREATE:
            yield create.format(columns, table=table, columns=columns)
        yield _TEXTS_OF_FTS5.format(table)
    for table in tables:
        for create in _OF_FULLTEXT:
            yield create.format(table)
    for table, names in WHOLE.items() if version > FIRST_WHOLE else ():
        for engine in CREATE:
            yield creating_whole(engine, table)
        own = ", ".join(f"'c{number}{name}'" for number, name in enumerate(names))
        for create in _OF_FULLTEXT:
            yield create.partition(" 'c0title'")[0].format(table) + (
                f" {own})" if "'c0title'" in create else ""
            )


def _holds_vectors(sql: str) -> bool:
    """Whether it is a table of vectors, of any dimension."""
    end = VECTORS[1]
    return any(
        sql.startswith(create) and sql.endswith(end) and sql[len(create) : -len(end)].isdecimal()
        for create in _OF_VECTORS
    )


def _is_harmless(
    kind: str, name: str, sql: str, known: frozenset[str], spared: Collection[str]
) -> bool:
    """Whether it is a plain table that stands in for none of lore's own."""
    bare = sql.startswith(f"CREATE TABLE {name}(") and sql.count("(") == 1 and sql.endswith(")")
    if kind != "table" or not bare or not name.isidentifier():
        return False
    own = f"create table {name.lower()}("
    return name in spared or not any(text.lower().startswith(own) for text in known)
