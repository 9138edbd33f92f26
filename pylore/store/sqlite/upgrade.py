"""Bringing a store of an earlier version to this one.

Versions 2 and 3 were made by statements that add to the version before. Since version 4 a
version is one text, the newest schema.sql. Of a store from before, whatever is not in it goes,
what it lacks comes, and a table whose text is another one is made anew and filled from the old
one. A store of version 4 or later keeps its tables as they are, and gets what it lacks.
"""

from __future__ import annotations

import os

from ...core.errors import StoreError, StoreFull
from ...core.text import fact_sentence, identifier_parts
from ...core.vocabulary import COLLECTIONS, NAMES, RELATIONS, TYPES
from ...system.atomic_write import NewFile
from ...system.json_encode import dumps
from . import write_queue
from .driver import apsw
from .facts import SqliteFacts
from .foreign import (
    FIRST_FULLTEXT,
    FIRST_WHOLE,
    REMOTES,
    SCHEMA_FILES,
    created,
    name_of,
    schema_texts,
)
from .fulltext import COLUMNS, TABLES, SqliteFullText
from .keys import KEY_OF
from .nodes import SqliteNodes
from .packing import packed
from .reads import SqliteReads
from .statistics import COUNTED
from .tables import SqliteRatings
from .upgrade_vectors import quantise_vectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ADDED = SCHEMA_FILES[: FIRST_WHOLE - 1]
"""The texts of versions that add to the one before."""

_OLD = "before_"
"""What is put before the name of a table while its rows are taken over."""

_FILL = {
    "nodes": "INSERT INTO nodes(key, {columns}) SELECT rowid, {columns} FROM {old} ORDER BY rowid",
    "graph_edges": "INSERT INTO graph_edges(from_key, to_key, {columns})"
    f" SELECT {KEY_OF.format('from_id')}, {KEY_OF.format('to_id')}, {{columns}} FROM {{old}}",
    "passages": "INSERT INTO passages(key, node_key, collection)"
    " SELECT p.key, n.key, p.collection FROM {old} p CROSS JOIN nodes n ON n.id = p.node_id",
    "ratings": "INSERT INTO ratings SELECT n.key, r.helpful, r.rated FROM {old} r"
    " CROSS JOIN nodes n ON n.id = r.node_id",
    "": "INSERT INTO {table}({columns}) SELECT {columns} FROM {old}",
}
"""How a table is filled from the one before; without a name: any other."""

_ABSENT = f"""
INSERT INTO absent SELECT (SELECT coalesce(max(key), 0) FROM nodes) + row_number() OVER (), id
FROM (SELECT DISTINCT from_id AS id FROM {_OLD}graph_edges
      WHERE from_id NOT IN (SELECT id FROM nodes)
      UNION SELECT DISTINCT to_id FROM {_OLD}graph_edges
      WHERE to_id NOT IN (SELECT id FROM nodes))
"""


_SUBJECTS = 1000
"""Things whose facts are indexed together."""

_PASSAGES = 1000
"""Passages that are indexed together."""

_ROOM = 2
"""Times its size that a store takes meanwhile: a copy, and the log of what is written."""


def keep_before(path: str, version: int) -> None:
    """Puts a copy of a store beside it, ``search.db.version-N``, in the place of an older one.

    The caller holds the lock of writers and has written nothing.

    Raises:
        StoreFull: the disk has no room for the copy and for what comes after it.
    """
    from .backup import copy_pages  # which opens stores, and so may come here

    size = sum(os.path.getsize(name) for name in (path, f"{path}-wal") if os.path.exists(name))
    disk = os.statvfs(os.path.dirname(path) or ".")
    free = disk.f_bavail * disk.f_frsize
    if free < _ROOM * size:
        raise StoreFull(
            f"{path}: is of an older lore, to bring it to this one takes {_mb(_ROOM * size)} MB,"
            f" and {_mb(free)} MB are free: free some space"
        )
    place = f"{os.path.realpath(path)}.version-{version}"
    write_queue.tell(f"bringing the store to this version of lore; as it was: {place}")
    with NewFile(place) as beside:
        reader = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            copy_pages(reader, beside, place)
        finally:
            reader.close()


def _mb(size: int) -> int:
    return -(-size // 1_000_000)


def upgrade_schema(connection: apsw.Connection, version: int) -> None:
    """Brings the tables of ``version`` to the newest; the caller holds a transaction.

    Relations whose weights are still those that version 1 began with get today's.

    Raises:
        StoreError: a table of another program has the name of one that is to be made.
    """
    for text in schema_texts(_ADDED[version:]):
        for _ in connection.execute(text):
            pass
    connection.executemany("INSERT OR IGNORE INTO types VALUES (?, ?)", TYPES.items())
    if version < 2:
        _name_collections(connection)
    for name, (weight, backward, description) in RELATIONS.items():
        old = FIRST_WEIGHTS.get(name, weight) if version < 2 else weight
        connection.execute(
            "INSERT INTO relations(name, weight, backward_weight, description)"
            " VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET weight = ?2, backward_weight = ?3"
            " WHERE weight = ?5 AND backward_weight IS ?5",
            (name, weight, backward, description, old),
        )
    connection.executemany(
        "UPDATE relations SET description = ?3 WHERE name = ?1 AND description = ?2",
        ((name, former, RELATIONS[name][2]) for name, former in FORMER_ENDS.items()),
    )
    if version >= FIRST_WHOLE:
        _add_what_lacks(connection, version)
        return
    _make_whole(connection)
    _index_anew(connection, version)
    if version < 2:
        SqliteRatings(connection).recount()
    quantise_vectors(connection)
    _state_facts(connection)


def _texts(*files: str) -> dict[str, str]:
    """Name to CREATE statement."""
    return {name_of(text): text for text in created(*schema_texts(files))}


def _add_what_lacks(connection: apsw.Connection, version: int) -> None:
    wanted, former = _texts(SCHEMA_FILES[-1]), _texts(SCHEMA_FILES[version - 1])
    present = _present(connection)
    if "touched" in present:
        of_remotes = _texts(REMOTES)
        wanted, former = {**wanted, **of_remotes}, {**former, **of_remotes}
    for name, text in present.items():
        kind = text.split(maxsplit=2)[1]
        if kind == "TABLE" and name.lower() in wanted and name.lower() not in former:
            raise StoreError(
                f"{connection.filename}: has a table '{name}' of another program's, and lore is to"
                " make one of that name: put what it has elsewhere"
            )
        if kind in ("INDEX", "VIEW", "TRIGGER") and text != wanted.get(name):
            connection.execute(f'DROP {kind} "{name}"')
    for kind in ("TABLE", "INDEX", "VIEW", "TRIGGER"):
        _create(connection, wanted, kind)


def _make_whole(connection: apsw.Connection) -> None:
    wanted, earlier = _texts(SCHEMA_FILES[-1]), _texts(*_ADDED)
    replaced = []
    for name, text in _present(connection).items():
        kind = text.split(maxsplit=2)[1]
        if kind == "TRIGGER" or (kind == "INDEX" and text != wanted.get(name)):
            connection.execute(f'DROP {kind} "{name}"')
        elif kind == "TABLE" and name in earlier and text != wanted.get(name):
            connection.execute(f"ALTER TABLE {name} RENAME TO {_OLD}{name}")
            replaced.append(name)
    _create(connection, wanted, "TABLE")
    _take_over(connection, [name for name in wanted if name in replaced])
    for name in replaced:
        connection.execute(f"DROP TABLE {_OLD}{name}")
    for kind in ("INDEX", "VIEW", "TRIGGER"):
        _create(connection, wanted, kind)
    _pack_facts(connection)
    count_all(connection)


def _state_facts(connection: apsw.Connection) -> None:
    """Lets full text find facts by their sentences; vectors come with 'lore embed --missing'."""
    reads = SqliteReads(connection)
    nodes, facts = SqliteNodes(connection, reads), SqliteFacts(connection, reads)
    fulltext = SqliteFullText(connection)
    subjects = facts.subjects()
    for start in range(0, len(subjects), _SUBJECTS):
        stated = facts.of(subjects[start : start + _SUBJECTS])
        texts = [fact_sentence(*words) for _, *words in stated]
        keys = nodes.new_passages([edge[0] for edge, *_ in stated], NAMES)
        facts.add((key, edge, text)
                  for key, (edge, *_), text in zip(keys, stated, texts, strict=True))  # fmt: skip
        fulltext.add(NAMES, (
            (key, "", text, "", "", identifier_parts(text))
            for key, text in zip(keys, texts, strict=True)
        ))  # fmt: skip


def _present(connection: apsw.Connection) -> dict[str, str]:
    rows = connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
    return {str(name): str(text) for name, text in rows}


def _create(connection: apsw.Connection, wanted: dict[str, str], kind: str) -> None:
    present = _present(connection)
    for name, text in wanted.items():
        if name not in present and text.split(maxsplit=2)[1] == kind:
            connection.execute(text)


def _take_over(connection: apsw.Connection, tables: list[str]) -> None:
    for table in tables:
        old = _columns(connection, _OLD + table)
        if table == "graph_edges" and not {"from_id", "to_id", "relation"}.issubset(old):
            continue  # another program's: a plain search never cared
        columns = [name for name in _columns(connection, table) if name in old]
        if table == "graph_edges":
            connection.execute(_ABSENT)
        connection.execute(
            _FILL.get(table, _FILL[""]).format(
                table=table, old=_OLD + table, columns=", ".join(columns)
            )
        )


def _columns(connection: apsw.Connection, table: str) -> list[str]:
    rows = connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
    return [str(name) for (name,) in rows]


def _pack_facts(connection: apsw.Connection) -> None:
    paths = connection.execute("SELECT path FROM code_files WHERE language <> ''").fetchall()
    for (path,) in paths:
        facts = connection.execute("SELECT facts FROM code_files WHERE path = ?", (path,)).get
        connection.execute("UPDATE code_files SET facts = ? WHERE path = ?", (packed(facts), path))


def count_all(connection: apsw.Connection) -> None:
    """Counts anew what triggers keep in step; the caller holds a transaction."""
    connection.execute("DELETE FROM meta WHERE key = 'stats'")
    connection.execute("DELETE FROM counts")
    connection.execute(f"INSERT INTO counts {COUNTED}")


def _name_collections(connection: apsw.Connection) -> None:
    """Version 1 had one full-text table for all."""
    connection.executemany(
        "UPDATE passages SET collection = ? WHERE node_id IN (SELECT id FROM nodes WHERE type = ?)",
        ((collection, type) for type, collection in COLLECTIONS.items()),
    )


def _index_anew(connection: apsw.Connection, version: int) -> None:
    """From the one full-text table of version 1, or those of FTS5 with texts of their own."""
    fulltext = SqliteFullText(connection)
    tables = dict.fromkeys(TABLES, FIRST_FULLTEXT)
    if version > 1:
        tables = {collection: _OLD + table for collection, table in TABLES.items()}
        for table in TABLES.values() if fulltext.engine == "fts5" else ():
            connection.execute(f"ALTER TABLE {table} RENAME TO {_OLD}{table}")
    if version < 2 or fulltext.engine == "fts5":
        fulltext.create(fulltext.engine)
        for collection, table in tables.items():
            _add_all(connection, fulltext, collection, table)
        for table in {*tables.values()}:
            connection.execute(f"DROP TABLE {table}")
    for collection in TABLES:
        fulltext.count_words(collection)


def _add_all(
    connection: apsw.Connection, fulltext: SqliteFullText, collection: str, table: str
) -> None:
    keys: list[tuple[int]] = connection.execute(  # type: ignore[assignment]
        "SELECT key FROM passages WHERE collection = ? ORDER BY key", (collection,)
    ).fetchall()
    texts = ", ".join(f"coalesce(f.{name}, '')" for name in COLUMNS)
    for start in range(0, len(keys), _PASSAGES):
        rows: list[Any] = connection.execute(
            f"SELECT f.rowid, {texts} FROM json_each(?) j"
            f" CROSS JOIN {table} f ON f.rowid = j.value",
            (dumps([key for (key,) in keys[start : start + _PASSAGES]]),),
        ).fetchall()
        fulltext.add(collection, rows)


FORMER_ENDS = {
    "calls": "symbol -> symbol", "derived_from": "record -> record, task, run",
    "instantiates": "symbol -> symbol", "mentions": "doc -> entity",
    "used_in_run": "record -> run",
}  # fmt: skip
"""What some relations lead from and to, as stores of versions 1 to 4 have it."""

FIRST_WEIGHTS = {
    "anchored_to": 1.0, "calls": 0.7, "co_changes_with": 0.7, "contradicts": 0.8, "defines": 0.8,
    "depends_on": 0.6, "derived_from": 0.9, "implements": 1.0, "imports": 0.6, "inherits": 0.7,
    "instantiates": 0.7, "invalidated_by": 0.2, "learned_from": 0.9, "links_to": 0.7,
    "mentions": 0.6, "part_of": 0.6, "relates_to": 0.7, "similar_to": 0.6, "summarized_by": 0.4,
    "supersedes": 0.5, "used_in_run": 0.3,
}  # fmt: skip
"""The weights, the same in both directions, that stores of version 1 began with."""
