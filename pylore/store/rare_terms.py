"""Common and rare words: which to look up first."""

from __future__ import annotations

from math import log

from ..core import scoring as tuning
from ..core.json import dumps
from .conditions import expression
from .connection import apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


if TYPE_CHECKING:
    Groups = Sequence[Sequence[str]]
    """Phrases in quotes; a passage must have one of each group."""
    Rows = list[tuple[int, float]]
    """Keys of passages with their scores, best first."""


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
        """Take what the table knows of these phrases."""
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
        """Return how many passages have a phrase, which is in quotes."""
        if phrase not in self._known:
            self._known[phrase] = self._count(phrase)
        return self._known[phrase]

    def idf(self, phrase: str) -> float:
        """Return the inverse document frequency of a phrase, as the BM25 of FTS5 has it."""
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
    """Return the highest key in a full-text table, of FTS5 or FTS4; 0 where it is empty."""
    last: int | None = connection.execute(f"SELECT max(rowid) FROM {table}_docsize").get
    return last or 0


def count_words(connection: apsw.Connection, collection: str, table: str) -> None:
    """Count the common words of an FTS5 table anew, where it has grown much; in a transaction."""
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


_K1, _B = 1.2, 0.75
"""Of BM25, as FTS5 has them."""


class RareFirst:
    """Searches of large FTS5 tables; one on a connection, since FTS5 keeps its functions."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._scores: list[float] = []
        self._weights: tuple[float, ...] = ()
        self._length = 1.0
        connection.register_fts5_function("score_of_phrases", self._score)
        connection.register_fts5_function("size_of_table", _size)

    def search(
        self,
        collection: str,
        table: str,
        phrases: Sequence[str],
        weights: tuple[float, ...],
        within: tuple[str, list[str]],
        limit: int,
        enough: int,
    ) -> Rows | None:
        """Return the best passages with any phrase; None where ranking all of them is as well.

        ``within`` is a condition on rows, with its parameters. Where fewer than ``enough``
        are found, more is looked at, up to all.
        """
        ask = _Ask(self._db, table, within, limit, enough)
        size = ask.size(phrases)
        if size is None:
            return []
        passages, self._length = size
        if passages < tuning.LARGE:
            return None
        self._weights = weights
        common = CommonWords(self._db, collection, table, passages)
        common.look_up(phrases)
        return self._with_any(ask, phrases, common)

    def _with_any(self, ask: _Ask, asked: Sequence[str], common: CommonWords) -> Rows | None:
        phrases = sorted(filter(common.passages_with, asked), key=common.passages_with)
        room = tuning.FEW_OF_A_WORD * max(tuning.WORDS, len(phrases))
        if sum(map(common.passages_with, phrases)) <= tuning.WORTH_IT * room:
            return None
        rare = _fitting(phrases, room, common)
        others = phrases[len(rare) :]
        found = dict(ask.ranked([rare], self._weights)) if rare else {}
        if rare and others:
            _add(found, self._ranked(ask, [rare, others], common))
        others_may_do = len(found) < ask.enough or _most(others, common) >= _least_of_first(found)
        if others and others_may_do and not self._add_grouped(found, ask, others, common, 2 * room):
            return None
        return sorted(found.items(), key=lambda row: (-row[1], row[0]))[: ask.limit]

    def _add_grouped(
        self,
        found: dict[int, float],
        ask: _Ask,
        phrases: Sequence[str],
        common: CommonWords,
        room: int,
    ) -> bool:
        """Add passages with several of these words; return whether there are enough then."""
        number = min(2, len(phrases))
        while number < len(phrases) and _expected(phrases, number, common) > room:
            number += 1
        while number > 1:
            _add(found, self._ranked(ask, _dealt(phrases, number), common))
            if len(found) >= ask.enough:
                return True
            number -= 1
        return False

    def _ranked(self, ask: _Ask, groups: Groups, common: CommonWords) -> Rows:
        phrases = [phrase for group in groups for phrase in group]
        if sum(map(common.passages_with, phrases)) <= tuning.QUICKLY_COUNTED:
            return ask.ranked(groups, self._weights)
        self._scores = [_best_score(phrase, common) for phrase in phrases]
        return ask.ranked(groups)

    def _score(self, api: apsw.FTS5ExtensionApi, *_: object) -> float:
        """Return BM25 as FTS5 has it, which reads all of a word's list to know its IDF."""
        score = 0.0
        norm = _K1 * (1 - _B + _B * api.column_size(-1) / self._length)
        columns, locations, weights = api.phrase_columns, api.phrase_locations, self._weights
        for number, best in enumerate(self._scores):
            if columns(number):
                often = 0.0
                for weight, places in zip(weights, locations(number), strict=True):
                    if places:
                        often += weight * len(places)
                score += best * often / (often + norm)
        return score


class _Ask:
    """The questions that one search asks of its table."""

    def __init__(
        self,
        db: apsw.Connection,
        table: str,
        within: tuple[str, list[str]],
        limit: int,
        enough: int,
    ) -> None:
        self._db = db
        self._table = table
        self._condition, self._parameters = within
        self.limit = limit
        self.enough = enough

    def size(self, phrases: Iterable[str]) -> tuple[int, float] | None:
        """Return how many passages there are, and their mean length in words; None: no phrase is
        there."""
        for phrase in phrases:
            found: str | None = self._db.execute(
                f"SELECT size_of_table({self._table}) FROM {self._table}"
                f" WHERE {self._table} MATCH ? LIMIT 1", (phrase,),
            ).get  # fmt: skip
            if found is not None:
                passages, words = map(int, found.split())
                return passages, words / passages
        return None

    def ranked(self, groups: Groups, weights: tuple[float, ...] = ()) -> Rows:
        """Return the best that match; by FTS5's own BM25 where there are weights."""
        marks = ", ?" * len(weights)
        rank = f"-bm25({self._table}{marks})" if weights else f"score_of_phrases({self._table})"
        rows: Rows = self._db.execute(  # type: ignore[assignment]
            f"SELECT rowid, {rank} AS score FROM {self._table}"
            f" WHERE {self._table} MATCH ?{self._condition} ORDER BY score DESC, rowid LIMIT ?",
            (*weights, expression(groups), *self._parameters, self.limit),
        ).fetchall()
        return rows


def _size(api: apsw.FTS5ExtensionApi, *_: object) -> str:
    return f"{api.row_count} {api.column_total_size(-1)}"


def _fitting(phrases: Sequence[str], room: int, common: CommonWords) -> list[str]:
    """Return the first of them, as many as ``room`` passages have."""
    fitting = []
    for phrase in phrases:
        room -= common.passages_with(phrase)
        if room < 0:
            break
        fitting.append(phrase)
    return fitting


def _add(found: dict[int, float], rows: Rows) -> None:
    """Add rows; a passage that is found twice keeps the higher score, which counts more words."""
    for key, score in rows:
        if score > found.get(key, 0.0):
            found[key] = score


def _best_score(phrase: str, common: CommonWords) -> float:
    """Return what a passage scores at most for one phrase, however often it has it."""
    return (_K1 + 1) * common.idf(phrase)


def _most(phrases: Iterable[str], common: CommonWords) -> float:
    return sum(_best_score(phrase, common) for phrase in phrases)


def _least_of_first(found: dict[int, float]) -> float:
    """Return the score that a passage must have to be among the first results; 0: any is."""
    first = sorted(found.values(), reverse=True)[: tuning.FIRST_RESULTS]
    return first[-1] if len(first) == tuning.FIRST_RESULTS else 0.0


def _expected(phrases: Sequence[str], number: int, common: CommonWords) -> float:
    """Return about how many passages have one of each group, where there are so many groups."""
    expected = float(common.size)
    for group in _dealt(phrases, number):
        share = sum(map(common.passages_with, group)) / common.size
        expected *= min(1.0, tuning.TOGETHER * share)
    return expected


def _dealt(phrases: Sequence[str], number: int) -> list[list[str]]:
    """Return so many groups with words as rare in each, dealt to and fro: 1, 2, 3, 3, 2, 1."""
    groups: list[list[str]] = [[] for _ in range(number)]
    for place, phrase in enumerate(phrases):
        row, column = divmod(place, number)
        groups[column if row % 2 == 0 else number - 1 - column].append(phrase)
    return groups
