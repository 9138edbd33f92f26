"""The full-text tables over whole files and over messages of commits.

Each is made when something first comes in: a store without code has neither.
"""

from __future__ import annotations

from .driver import apsw
from .fulltext import rank_bm25

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .fulltext import SqliteFullText

    Row = tuple[int | str, ...]
    """Key and the text of each column."""


FILES, MESSAGES = "files_fts", "commits_fts"

WHOLE = {FILES: ("path", "body", "parts"), MESSAGES: ("message",)}
"""Table to its columns."""

_CREATE = {
    "fts5": "CREATE VIRTUAL TABLE {table} USING fts5({columns},"
    " tokenize='unicode61 remove_diacritics 2', content='')",
    "fts4": "CREATE VIRTUAL TABLE {table} USING fts4({columns},"
    " tokenize=unicode61 'remove_diacritics=2')",
}


def creating_whole(engine: str, table: str) -> str:
    """The statement that makes one of the tables."""
    return _CREATE[engine].format(table=table, columns=", ".join(WHOLE[table]))


class WholeText:
    """One full-text table, made when something is first written to it."""

    _table = ""

    def __init__(self, connection: apsw.Connection, fulltext: SqliteFullText) -> None:
        self._db = connection
        self._fulltext = fulltext
        self._columns = WHOLE[self._table]
        self._made = False

    def is_there(self) -> bool:
        """Whether there may be something to find."""
        if not self._made:
            known = "SELECT 1 FROM sqlite_schema WHERE name = ?"
            self._made = bool(self._db.execute(known, (self._table,)).get)
        return self._made

    def _insert(self, rows: Iterable[Row]) -> None:
        if not self.is_there():
            self._db.execute(creating_whole(self._fulltext.engine, self._table))
        marks = ", ".join("?" * (1 + len(self._columns)))
        self._db.executemany(
            f"INSERT INTO {self._table}(rowid, {', '.join(self._columns)}) VALUES ({marks})", rows
        )

    def _take_out(self, rows: Sequence[Row]) -> None:
        if self._fulltext.engine != "fts5":
            keys = ((row[0],) for row in rows)
            self._db.executemany(f"DELETE FROM {self._table} WHERE rowid = ?", keys)
            return
        marks = ", ".join("?" * (1 + len(self._columns)))
        self._db.executemany(
            f"INSERT INTO {self._table}({self._table}, rowid, {', '.join(self._columns)})"
            f" VALUES ('delete', {marks})",
            rows,
        )

    def _drop(self) -> None:
        self._db.execute(f"DROP TABLE IF EXISTS {self._table}")
        self._made = False

    def _best(self, phrases: Sequence[str], weights: Sequence[float]) -> tuple[str, list[object]]:
        """A query for rowid and BM25 score of what has one of the phrases, and its parameters."""
        if self._fulltext.engine == "fts5":
            rank = f"-bm25({self._table}, {', '.join('?' * len(weights))})"
        else:
            self._db.create_scalar_function("rank_bm25", rank_bm25, 1)  # type: ignore[arg-type]
            rank, weights = f"-rank_bm25(matchinfo({self._table}, 'pcnalx'))", ()
        query = f"SELECT rowid, {rank} AS score FROM {self._table} WHERE {self._table} MATCH ?"
        return query, [*weights, " OR ".join(map(quoted, phrases))]


def quoted(phrase: str) -> str:
    """A phrase for MATCH. It is made of words (text.words), which have nothing that the
    tokenizers split at."""
    return f'"{phrase}"'
