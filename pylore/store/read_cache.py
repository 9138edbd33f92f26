"""Which passages have a word, and what BM25 gives them for it, kept between questions.

BM25 is a sum over the phrases of a query, and FTS5 computes it as one: what it gives for each
phrase alone, added in the order of the query, is what it gives for all of them.
"""

from __future__ import annotations

from .connection import changes_seen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Collection, Sequence
    from typing import Any

    from .connection import apsw


if TYPE_CHECKING:
    Scores = tuple[array[int], array[float]]
    """Keys of passages, and the score of each."""

MOST = 1_000_000
"""Matches that are kept, 16 bytes each."""


class MatchCache:
    """Matches in the tables of FTS5. It holds for as long as the store does not change."""

    __slots__ = ("_db", "_left", "_scores", "in_arrays")

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self.in_arrays = False
        """Whether sums are made by numpy."""
        self._left = MOST
        self._scores: dict[tuple[str, tuple[float, ...], str], Scores] = {}

    def best(
        self,
        table: str,
        phrases: Sequence[str],
        weights: tuple[float, ...],
        without: Collection[int],
        limit: int,
    ) -> list[tuple[int, float]]:
        """Return ``(key, BM25 score)`` of the best passages that have one of the phrases, best
        first."""
        if self.in_arrays:
            from .array_cache import best_sums

            parts = [self._scores_of(table, weights, phrase) for phrase in phrases]
            found = best_sums(parts, without, limit)
            if found is not None:
                return found
        scores: dict[int, float] = {}
        get = scores.get
        for phrase in phrases:
            for key, part in zip(*self._scores_of(table, weights, phrase), strict=True):
                scores[key] = get(key, 0.0) + part
        for key in without:
            scores.pop(key, None)
        least = sorted(scores.values())[-limit] if len(scores) > limit else 0.0
        rows = sorted([(-score, key) for key, score in scores.items() if score >= least])
        return [(key, -score) for score, key in rows[:limit]]

    def _scores_of(self, table: str, weights: tuple[float, ...], phrase: str) -> Scores:
        name = (table, weights, phrase)
        if name not in self._scores:
            marks = ", ".join("?" * len(weights))
            rows = self._db.execute(
                f"SELECT rowid, -bm25({table}, {marks}) FROM {table} WHERE {table} MATCH ?",
                (*weights, phrase),
            ).fetchall()
            keys, scores = zip(*rows, strict=True) if rows else ((), ())
            self._make_room(1 + len(keys))
            from array import array  # it imports collections, which a batch does without

            self._scores[name] = (array("q", keys), array("d", scores))
        return self._scores[name]

    def _make_room(self, size: int) -> None:
        if size > self._left:
            self._scores.clear()
            self._left = MOST
        self._left -= size


OFTEN = 16
"""Snapshots after which numpy is worth its loading."""


class ReadCache:
    """``place`` is None wherever nothing may be kept: outside of a snapshot, too.

    ``often``: so many snapshots have begun that arrays are worth their making.
    """

    __slots__ = ("_begun", "_db", "_held", "_seen", "often", "place")

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._begun = 0
        self.often = False
        self._seen: object = None
        self._held: dict[str, Any] = {}
        self.place: dict[str, Any] | None = None

    def begin(self) -> None:
        """Let go of everything if the store has changed; called within a transaction."""
        self._begun += 1
        self.often = self._begun > OFTEN
        seen = changes_seen(self._db)
        if seen == self._seen:
            self.place = self._held
        else:
            self._held.clear()
            self._seen = seen

    def end(self) -> None:
        """Cache nothing from here on: it is not of the snapshot."""
        self.place = None
