"""Checks of search.db for ``lore doctor``; they only read."""

from __future__ import annotations

import json

from ..core.vocabulary import HIDDEN, HIDDEN_STATUSES
from .connection import apsw, is_sound
from .facts import OF_NO_FACT, WITHOUT_PASSAGE
from .faults import Whatever
from .fulltext import BODY, FILES, MESSAGES, OF_PASSAGES, TABLES, TITLE, FullText, quoted
from .schema import empty_store, other_statements
from .vectors import TABLES as VECTOR_TABLES
from .vectors import Vectors

LIMIT = 100
"""The most findings that are asked of SQLite's own check."""

# FTS5 and FTS4 both keep a row a passage in these tables of theirs.
_INDEXED = (
    "WITH indexed(key) AS ("
    + " UNION ALL ".join(f"SELECT rowid FROM {table}_docsize" for table in TABLES.values())
    + ") "
)
_LIVE_WITHOUT_PASSAGES = """
  SELECT id FROM nodes WHERE invalidated_at IS NULL
  AND (title <> '' OR body <> '' OR tags <> '' OR file <> '')
  AND NOT EXISTS (SELECT 1 FROM passages WHERE node_key = nodes.key)"""
_PASSAGES_WITHOUT_NODES = """
  SELECT key FROM passages WHERE NOT EXISTS
  (SELECT 1 FROM nodes n WHERE n.key = passages.node_key AND invalidated_at IS NULL)"""
_PASSAGES_WITHOUT_TEXT = """
  SELECT key FROM passages EXCEPT SELECT key FROM indexed"""
_TEXT_WITHOUT_PASSAGES = """
  SELECT key FROM indexed EXCEPT SELECT key FROM passages"""
_IN_ANOTHER_COLLECTION = f"""
  SELECT p.key FROM {OF_PASSAGES}
  WHERE (n.status IN {HIDDEN_STATUSES}) <> (p.collection = '{HIDDEN}')"""
_OF_VECTORS = {
    "vectors without a passage": """
  SELECT key FROM vectors WHERE key NOT IN (SELECT key FROM passages)""",
    "vectors without a sketch": """
  SELECT key FROM vectors WHERE length(embedding) > 0 AND key NOT IN (SELECT key FROM sketches)""",
    "sketches without a vector": """
  SELECT key FROM sketches WHERE key NOT IN (SELECT key FROM vectors)""",
    "vectors of another length": """
  SELECT key FROM vectors WHERE length(embedding) NOT IN (0,
  (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'embedder_dimension'))""",
}
_OF_TEXTS = (
    (FILES, "code_files WHERE text IS NOT NULL", "file"), (MESSAGES, "commits", "commit"),
)  # fmt: skip
"""Full text over something else than passages: its table, that of the texts, what one is."""


def sqlite_version() -> str:
    """Return the versions of apsw and of the SQLite in it."""
    return f"apsw {apsw.apsw_version()}, SQLite {apsw.sqlite_lib_version()}"


def vector_extension() -> str:
    """Return the version of sqlite-vec, and its file.

    Raises:
        StoreError: it cannot be loaded.
    """
    memory = apsw.Connection(":memory:")
    path = Vectors(memory).load_extension()
    return f"sqlite-vec {memory.execute('SELECT vec_version()').get}, {path}"


class Checks:
    """Questions of ``lore doctor``; most answers are a list of what is wrong, so ``[]`` is fine."""

    derived = frozenset((*TABLES.values(), *VECTOR_TABLES, FILES, MESSAGES))
    """Tables that ``rebuild`` makes anew from the nodes and texts."""

    def __init__(self, connection: apsw.Connection, path: str) -> None:
        self._db = connection
        self._path = path
        self.faults = Whatever(path)

    @property
    def version(self) -> int:
        """Return the version of the schema."""
        return int(self._db.pragma("user_version"))

    def is_sound(self) -> bool:
        """Return whether each page of the file is in its place; if not, other questions may not
        end."""
        return is_sound(self._path)

    def missing_tables(self) -> list[str]:
        """Return the tables, indexes and triggers that the schema has and this store has not."""
        found = _tables(self._db)
        wanted = _tables(empty_store(self._db))
        lacking = {name: table for name, table in wanted.items() if name not in found}
        return sorted(  # what belongs to a table goes without saying where that is missing
            name for name, table in lacking.items() if name == table or table not in lacking
        )

    def replaced_tables(self) -> list[str]:
        """Return the tables, indexes, triggers and views that are not those of the schema."""
        return [f"{name} is not lore's" for name in other_statements(self._db)]

    def damage(self, *, full: bool = False) -> list[str]:
        """Return what SQLite's own check finds in the file, the full-text index left aside.

        The quick check reads every page, but does not look whether each index
        agrees with its table; ``full`` does.
        """
        found = self._pragma(f"{'integrity' if full else 'quick'}_check({LIMIT})")
        apart = (*TABLES.values(), FILES, MESSAGES)
        return [line for line in found if not any(table in line for table in apart)]

    def fulltext_damage(self) -> list[str]:
        """Return where the full-text index does not hold what its rows say (FTS5 and FTS4)."""
        engine = FullText(self._db).engine.name
        found = [
            f"{table} is not of {engine}"
            for (table,) in self._db.execute(
                "SELECT name FROM sqlite_schema WHERE sql GLOB 'CREATE VIRTUAL TABLE *'"
                " AND NOT instr(sql, ' USING ' || ? || '(')",
                (engine,),
            )
        ]
        if found:
            return found
        for table in TABLES.values():
            found += self._pragma(f"quick_check({table})")
            if engine == "fts5" and not found:
                self._rank_some(table)
        there = {str(name) for (name,) in self._db.execute("SELECT name FROM sqlite_schema")}
        for table in {FILES, MESSAGES} & there:
            found += self._pragma(f"quick_check({table})")
        return found

    def unreadable(self) -> list[str]:
        """Return what SQLite does not check: text that is not UTF-8, and numbers without end."""
        tables = empty_store(self._db).execute(
            "SELECT name, 'SELECT * FROM ' || name FROM sqlite_schema"
            " WHERE sql LIKE 'CREATE TABLE%' AND name NOT LIKE '%/_fts/_%' ESCAPE '/'"
        )
        queries = [*tables, ("passages", f"SELECT {TITLE}, {BODY} FROM {OF_PASSAGES}")]
        found = [f"{table} has text that is not UTF-8" for table, query in queries
                 if not self._is_readable(query)]  # fmt: skip
        return found + self._unreadable_data()

    def _unreadable_data(self) -> list[str]:
        """Return the nodes with a number of more than the 4300 digits that Python converts."""
        found = []
        rows = self._db.execute("SELECT id, data FROM nodes WHERE length(data) > 4300")
        for id, data in rows:
            try:
                json.loads(data)
            except ValueError as error:
                found.append(f"the data of {id}: {error}")
        return found

    def _is_readable(self, query: str) -> bool:
        try:
            for _ in self._db.execute(query):
                pass
        except UnicodeDecodeError:
            return False
        except apsw.SQLError:
            return True  # a table that is missing has a check of its own
        return True

    def _rank_some(self, table: str) -> None:
        """Rank the rows with the commonest words: SQLite's check leaves out the sizes of rows.

        Raises:
            apsw.CorruptError: they are damaged.
        """
        self._db.execute(
            f"CREATE VIRTUAL TABLE temp.some_words USING fts5vocab('main', '{table}', 'row')"
        )
        try:
            rows = self._db.execute("SELECT term FROM temp.some_words ORDER BY doc DESC LIMIT 50")
            some = " OR ".join(quoted(term.replace('"', "")) for (term,) in rows)
        finally:
            self._db.execute("DROP TABLE temp.some_words")
        if some:
            self._db.execute(
                f"SELECT 1 FROM {table} WHERE {table} MATCH ? ORDER BY bm25({table}) LIMIT 1",
                (some,),
            )

    def foreign_key_violations(self) -> list[str]:
        """Return the tables with rows that name an unknown type or relation, a row each."""
        rows = self._db.execute("PRAGMA foreign_key_check")
        return [f"{table} names no row of {parent}" for table, _, parent, _ in rows]

    def unindexed(self) -> list[str]:
        """Return where nodes and full text are out of step: how often, and what is wrong."""
        return self._counts(
            {
                "live nodes without passages": _LIVE_WITHOUT_PASSAGES,
                "passages without a live node": _PASSAGES_WITHOUT_NODES,
                "passages without full text": _PASSAGES_WITHOUT_TEXT,
                "full-text rows without a passage": _TEXT_WITHOUT_PASSAGES,
                "passages in the collection of another status": _IN_ANOTHER_COLLECTION,
                "facts without a passage": WITHOUT_PASSAGE,
                "passages of facts that no longer stand": OF_NO_FACT,
                **self._of_texts(),
            },
        )

    def _of_texts(self) -> dict[str, str]:
        """Return what is wrong with whole files and messages, and the query that finds it."""
        there = {str(name) for (name,) in self._db.execute("SELECT name FROM sqlite_schema")}
        queries = {}
        for index, table, one in _OF_TEXTS:
            keys = f"SELECT rowid FROM {index}_docsize" if index in there else "SELECT 0 WHERE 0"
            queries[f"{one}s without full text"] = f"SELECT key FROM {table} EXCEPT {keys}"
            queries[f"full-text rows without a {one}"] = f"{keys} EXCEPT SELECT key FROM {table}"
        return queries

    def unembedded(self) -> list[str]:
        """Return where passages and vectors are out of step."""
        without = Vectors(self._db).count_lacking()
        found = [f"{without} passages without a vector"] if without else []
        return found + self._counts(_OF_VECTORS)

    def _counts(self, queries: dict[str, str]) -> list[str]:
        found = []
        for what, query in queries.items():
            count = self._db.execute(f"{_INDEXED} SELECT count(*) FROM ({query})").get
            if count:
                found.append(f"{count} {what}")
        return found

    def _pragma(self, name: str) -> list[str]:
        found = [str(line) for (line,) in self._db.execute(f"PRAGMA {name}")]
        return [] if found == ["ok"] else found


def _tables(connection: apsw.Connection) -> dict[str, str]:
    """Return name of a table, index or trigger to the table that it belongs to."""
    rows = connection.execute(
        "SELECT name, tbl_name FROM sqlite_schema"
        " WHERE name NOT GLOB '*_fts_*' AND name NOT GLOB 'sqlite_*'"
    )
    return {str(name): str(table) for name, table in rows}
