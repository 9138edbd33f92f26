"""Checks of search.db for ``lore doctor``."""

from __future__ import annotations

from ..core.vocabulary import HIDDEN, HIDDEN_STATUSES
from .connection import Table, apsw
from .fulltext import BODY, FILES, MESSAGES, OF_PASSAGES, TABLES, TITLE, engine_in
from .vectors import TABLES as VECTOR_TABLES
from .vectors import Vectors

LIMIT = 100
"""Maximum number of faults that SQLite's check returns."""

# Both engines keep a row for each passage in these tables.
_INDEXED = " UNION ALL ".join(
    f"SELECT rowid AS key FROM {table}_docsize" for table in TABLES.values()
)
_OF_PASSAGES = {
    "live nodes without passages": """
  SELECT id FROM nodes WHERE invalidated_at IS NULL
  AND (title <> '' OR body <> '' OR tags <> '' OR file <> '')
  AND NOT EXISTS (SELECT 1 FROM passages WHERE node_key = nodes.key)""",
    "passages without a live node": """
  SELECT key FROM passages WHERE NOT EXISTS
  (SELECT 1 FROM nodes n WHERE n.key = passages.node_key AND invalidated_at IS NULL)""",
    "passages without full text": f"SELECT key FROM passages EXCEPT SELECT key FROM ({_INDEXED})",
    "full-text rows without a passage": (
        f"SELECT key FROM ({_INDEXED}) EXCEPT SELECT key FROM passages"
    ),
    "passages in the collection of another status": f"""
  SELECT p.key FROM {OF_PASSAGES}
  WHERE (n.status IN {HIDDEN_STATUSES}) <> (p.collection = '{HIDDEN}')""",
    "files without full text": f"""
  SELECT key FROM code_files WHERE text IS NOT NULL EXCEPT SELECT rowid FROM {FILES}_docsize""",
    "full-text rows without a file": f"""
  SELECT rowid FROM {FILES}_docsize EXCEPT SELECT key FROM code_files WHERE text IS NOT NULL""",
    "commits without full text": f"""
  SELECT key FROM commits EXCEPT SELECT rowid FROM {MESSAGES}_docsize""",
    "full-text rows without a commit": f"""
  SELECT rowid FROM {MESSAGES}_docsize EXCEPT SELECT key FROM commits""",
}
_OF_VECTORS = {
    "passages without a vector": f"""
  SELECT key FROM passages WHERE collection <> '{HIDDEN}' EXCEPT SELECT key FROM vectors""",
    "vectors without a passage": "SELECT key FROM vectors EXCEPT SELECT key FROM passages",
    "vectors without a sketch": """
  SELECT key FROM vectors WHERE length(embedding) > 0 EXCEPT SELECT key FROM sketches""",
    "sketches without a vector": "SELECT key FROM sketches EXCEPT SELECT key FROM vectors",
    "vectors of another length": """
  SELECT key FROM vectors WHERE length(embedding) NOT IN (0,
  (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'embedder_dimension'))""",
}


def sqlite_version() -> str:
    """Return the versions of apsw and SQLite."""
    return f"apsw {apsw.apsw_version()}, SQLite {apsw.sqlite_lib_version()}"


def vector_extension() -> str:
    """Return the version of sqlite-vec, and the file; raise StoreError if it does not load."""
    memory = apsw.Connection(":memory:")
    path = Vectors(memory).load_extension()
    return f"sqlite-vec {memory.execute('SELECT vec_version()').get}, {path}"


class Checks(Table):
    """Checks of a store; most return a list of faults."""

    derived = frozenset((*TABLES.values(), *VECTOR_TABLES, FILES, MESSAGES))
    """Tables that ``rebuild`` creates again from nodes and texts."""

    def damage(self, *, full: bool = False) -> list[str]:
        """Return faults that SQLite finds in the file, without full text. ``full`` also compares
        indexes with tables."""
        found = self._pragma(f"{'integrity' if full else 'quick'}_check({LIMIT})")
        apart = (*TABLES.values(), FILES, MESSAGES)
        return [line for line in found if not any(table in line for table in apart)]

    def fulltext_damage(self) -> list[str]:
        """Return faults of the full-text tables."""
        engine = engine_in(self._db)
        found = [
            f"{table} is not of {engine}"
            for table in self._column(
                "SELECT name FROM sqlite_schema WHERE sql GLOB 'CREATE VIRTUAL TABLE *'"
                " AND NOT instr(sql, ' USING ' || ? || '(')",
                engine,
            )
        ]
        if not found:
            for table in (*TABLES.values(), FILES, MESSAGES):
                found += self._pragma(f"quick_check({table})")
        return found

    def unreadable(self) -> list[str]:
        """Return faults that SQLite does not check: text that is not UTF-8."""
        tables = self._column(
            "SELECT name FROM sqlite_schema WHERE sql GLOB 'CREATE TABLE *'"
            " AND NOT name GLOB '*[^a-z_]*' AND NOT name GLOB '*_fts_*'"
        )
        queries = {table: f"SELECT * FROM {table}" for table in tables}
        queries["texts of passages"] = f"SELECT {TITLE}, {BODY} FROM {OF_PASSAGES}"
        found = []
        for table, query in queries.items():
            try:
                for _ in self._db.execute(query):
                    pass
            except UnicodeDecodeError:
                found.append(f"{table}: text that is not UTF-8")
            except apsw.SQLError:
                pass  # missing_statements has it
        return found

    def foreign_key_violations(self) -> list[str]:
        """Return a fault for each row with an unknown type or relation."""
        rows = self._rows("PRAGMA foreign_key_check")
        return [f"{table} names no row of {parent}" for table, _, parent, _ in rows]

    def unindexed(self) -> list[str]:
        """Return where nodes and full text differ, with counts."""
        return self._counts(_OF_PASSAGES)

    def unembedded(self) -> list[str]:
        """Return where passages and vectors differ, with counts."""
        return self._counts(_OF_VECTORS)

    def _counts(self, queries: dict[str, str]) -> list[str]:
        counts = {
            what: self._value(f"SELECT count(*) FROM ({sql})") for what, sql in queries.items()
        }
        return [f"{count} {what}" for what, count in counts.items() if count]

    def _pragma(self, name: str) -> list[str]:
        found = self._column(f"PRAGMA {name}")
        return [] if found == ["ok"] else found
