"""In how many passages a word is.

Counting that takes time that grows with the answer. For words that many passages have the
answer is kept in a table, counted when many passages have come in; since then the share of
the passages that have the word is taken to be the same.
"""

from __future__ import annotations

from math import log

from ...core import tuning
from ...system.json_encode import dumps
from .driver import apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_COUNTED = 20_000
"""So many passages are counted at most for what the table does not know."""


class CommonWords:
    """The counts of one collection of ``size`` passages, for one search."""

    def __init__(self, connection: apsw.Connection, collection: str, table: str, size: int) -> None:
        self._db = connection
        self._collection = collection
        self._table = table
        self.size = size
        self._known: dict[str, int] = {}

    def look_up(self, phrases: Sequence[str]) -> None:
        """Takes what the table knows of these phrases."""
        rows: list[tuple[str, int]] = self._db.execute(  # type: ignore[assignment]
            "SELECT c.word, c.passages FROM json_each(?) j CROSS JOIN common_words c"
            " ON c.collection = ? AND c.word = j.value",
            (dumps(["", *(phrase[1:-1] for phrase in phrases)]), self._collection),
        ).fetchall()
        kept = dict(rows)
        then = kept.pop("", self.size)
        for word, passages in kept.items():
            self._known[f'"{word}"'] = min(self.size, max(1, passages * self.size // then))

    def passages_with(self, phrase: str) -> int:
        """How many passages have a phrase, which is in quotes."""
        if phrase not in self._known:
            self._known[phrase] = self._count(phrase)
        return self._known[phrase]

    def idf(self, phrase: str) -> float:
        """The inverse document frequency of a phrase, as the BM25 of FTS5 has it."""
        having = self.passages_with(phrase)
        return max(log((self.size - having + 0.5) / (having + 0.5)), 1e-6)

    def _count(self, phrase: str) -> int:
        rows: list[tuple[int, int]] = self._db.execute(  # type: ignore[assignment]
            f"SELECT count(*), max(rowid) FROM (SELECT rowid FROM {self._table}"
            f" WHERE {self._table} MATCH ? LIMIT ?)", (phrase, _COUNTED),
        ).fetchall()  # fmt: skip
        count, last = rows[0]
        if count < _COUNTED:
            return count
        return min(self.size, count * last_key(self._db, self._table) // last)


def last_key(connection: apsw.Connection, table: str) -> int:
    """The highest key in a full-text table, of FTS5 or FTS4; 0 where it is empty."""
    last: int | None = connection.execute(f"SELECT max(rowid) FROM {table}_docsize").get
    return last or 0


def count_words(connection: apsw.Connection, collection: str, table: str) -> None:
    """Counts the common words of an FTS5 table anew, where it has grown much; in a transaction."""
    if last_key(connection, table) < tuning.LARGE:
        return
    passages: int = connection.execute(f"SELECT count(*) FROM {table}_docsize").get
    then: int | None = connection.execute(
        "SELECT passages FROM common_words WHERE collection = ? AND word = ''", (collection,)
    ).get
    if passages >= max(tuning.LARGE, 2 * (then or 0)):
        _count_anew(connection, collection, table, passages)


def _count_anew(connection: apsw.Connection, collection: str, table: str, passages: int) -> None:
    connection.execute("DELETE FROM common_words WHERE collection = ?", (collection,))
    connection.execute(f"CREATE VIRTUAL TABLE temp.all_words USING fts5vocab(main, {table}, row)")
    try:
        connection.execute(
            "INSERT INTO common_words SELECT ?1, term, doc FROM temp.all_words WHERE doc >= ?2"
            " UNION ALL SELECT ?1, '', ?3",
            (collection, tuning.COMMON, passages),
        )
    finally:
        connection.execute("DROP TABLE temp.all_words")
