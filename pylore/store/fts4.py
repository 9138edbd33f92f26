"""FTS4, the full text of an SQLite without FTS5, ranked by sqlite-fts4."""

from __future__ import annotations

from math import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .connection import apsw


class Fts4:
    """Statements and expressions of FTS4, as in ``fulltext.Fts5``; the tables store texts."""

    name = "fts4"
    beginning = '"{}*"'

    @staticmethod
    def create(table: str, columns: Iterable[str]) -> str:
        """Return the statement that makes a table."""
        return (
            f"CREATE VIRTUAL TABLE {table} USING fts4({', '.join(columns)},"
            " tokenize=unicode61 'remove_diacritics=2')"
        )

    @staticmethod
    def score(
        db: apsw.Connection, table: str, weights: Sequence[float]
    ) -> tuple[str, Sequence[float]]:
        """Return the BM25 score as an expression, and no parameters: columns weigh alike."""
        db.create_scalar_function("rank_bm25", rank_bm25, 1)  # type: ignore[arg-type]
        return f"-rank_bm25(matchinfo({table}, 'pcnalx'))", ()

    @staticmethod
    def within(column: str, phrases: Iterable[str]) -> str:
        """Return a MATCH for a column that has the words of a phrase; FTS4 has no phrases within
        a column."""
        return " OR ".join(
            " ".join(f"{column}:{word}" for word in phrase.split(" ")) for phrase in phrases
        )


def rank_bm25(matchinfo: bytes) -> float:
    """Return the result of sqlite-fts4's ``rank_bm25``, which takes time by the square of the
    phrases (3 s for 50 words on 2,000 passages)."""
    from sqlite_fts4 import decode_matchinfo

    phrases, columns, rows, *numbers = decode_matchinfo(matchinfo)
    averages, lengths = numbers[:columns], numbers[columns : 2 * columns]
    hits = numbers[2 * columns :]  # for each phrase and column: here, in all rows, rows with any
    score = 0.0
    for cell in range(phrases * columns):
        here = hits[3 * cell]
        if here:
            column = cell % columns
            having = hits[3 * cell + 2]
            rarity = max(0.0, log((rows - having + 0.5) / (having + 0.5)))
            length = 0.25 + 0.75 * lengths[column] / averages[column] if averages[column] else 0.0
            score += rarity * here * 2.2 / (here + 1.2 * length)
    return -score
