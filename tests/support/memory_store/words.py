"""Full text, ranked by how rare a word is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log

from pylore.core.errors import (
    StoreError,
)
from pylore.core.text import Query, composed, fold, inflections, words
from pylore.core.tuning import PREFIX_LENGTH, SHORT_QUERY
from pylore.core.vocabulary import (
    COLLECTIONS,
    TEXTS,
)
from pylore.store.filter import Scope

from .state import Part, limited, within

FIELDS = ("title", "body", "tags", "file", "parts")


class FullText(Part):
    engine = "memory"

    def renew(self, wanted: str) -> None:
        if wanted not in ("auto", self.engine):
            raise StoreError(f"there is no {wanted} here: set fulltext to another engine")
        for rows in self._changing.rows.values():
            rows.clear()

    def add(self, collection: str, rows: Iterable[tuple[int, str, str, str, str, str]]) -> None:
        for key, *columns in rows:
            self._changing.rows[collection][key] = tuple(map(composed, columns))

    def remove(self, collection: str, keys: Iterable[int]) -> None:
        for key in keys:
            self._changing.rows[collection].pop(key, None)

    def columns(self, key: int) -> tuple[str, ...]:
        _, collection = self._state.passages.get(key, ("", ""))
        return self._state.rows.get(collection, {}).get(key, ("",) * len(FIELDS))

    def body(self, key: int) -> str:
        return self.columns(key)[1]

    def indexed(self, key: int) -> tuple[str, str]:
        columns = self.columns(key)
        return columns[0], " ".join(columns) if any(columns) else ""

    def collections(self, types: Iterable[str]) -> list[str]:
        wanted = {COLLECTIONS.get(type, TEXTS) for type in types} or {*self._state.rows}
        return [name for name, rows in self._state.rows.items() if name in wanted and rows]

    def search(
        self,
        collection: str,
        query: Query,
        how: str,
        scope: Scope,
        weights: Mapping[str, float],
        limit: int,
    ) -> list[tuple[int, str, float]]:
        phrases = _phrases(query, how)
        rows = {key: [fold(text) for text in row] for key, row in self._rows(collection)}
        having = Counter(
            phrase for columns in rows.values() for phrase in {*phrases}
            if any(_count(phrase, text, how) for text in columns)
        )  # fmt: skip
        found = []
        for key, columns in rows.items():
            id = self._state.passages[key][0]
            if self.is_within(scope, id) and _matches(query, how, columns):
                score = sum(
                    weights.get(name, 1.0) * _share(_count(phrase, text, how))
                    * log(1 + len(rows) / having[phrase])
                    for phrase in phrases for name, text in zip(FIELDS, columns, strict=True)
                    if having[phrase]
                )  # fmt: skip
                found.append((key, id, score))
        return limited(sorted(found, key=lambda row: (-row[2], row[0])), limit)

    def nodes_with_all(self, collection: str, query: Query, scope: Scope, limit: int) -> set[str]:
        return {id for _, id, _ in self.search(collection, query, "all", scope, {}, limit)}

    def titled(self, collection: str, phrases: Iterable[str], limit: int) -> list[str]:
        found = {
            self._state.passages[key][0] for key, row in self._rows(collection)
            if any(_count(tuple(phrase.split()), fold(row[0]), "all") for phrase in phrases)
        }  # fmt: skip
        return limited(sorted(found), limit)

    def having(self, collection: str, phrase: str, *, titled: bool = False) -> set[str]:
        words = tuple(phrase.split())
        return {
            self._state.passages[key][0] for key, row in self._rows(collection)
            if any(_count(words, fold(text), "all") for text in row[: 1 if titled else None])
        }  # fmt: skip

    def _rows(self, collection: str) -> Iterator[tuple[int, tuple[str, ...]]]:
        for key, row in self._state.rows[collection].items():
            if key in self._state.passages:
                yield key, row

    def is_within(self, scope: Scope, id: str) -> bool:
        if not scope:
            hidden = scope.hides and self._state.nodes[id].status in scope.hides
            return id not in scope.excluded and not hidden
        return id in self._state.nodes and within(scope, self._state.nodes[id])


def _share(count: int) -> float:
    return count * 2.2 / (count + 1.2)


def _count(phrase: tuple[str, ...], text: str, how: str) -> int:
    """How often words stand in a text next to each other; the last may go on for ``prefix``."""
    there, most = words(text), len(phrase)
    if how == "prefix" or phrase[0].endswith("*"):
        return sum(word.startswith(phrase[0].rstrip("*")) for word in there)
    return sum(tuple(there[i : i + most]) == phrase for i in range(len(there) - most + 1))


def _alternatives(query: Query) -> list[list[tuple[str, ...]]]:
    """For each term the phrases that stand for it."""
    found = []
    for term in query.terms:
        phrases = [tuple(phrase) for phrase in term]
        if len(query.terms) <= SHORT_QUERY:
            single = [phrase[0] for phrase in phrases if len(phrase) == 1]
            phrases += [(form,) for word in single for form in inflections(word)]
        found.append(phrases)
    return found


def _phrases(query: Query, how: str) -> list[tuple[str, ...]]:
    single = query.single_words()
    if how == "begins":
        return [*_phrases(query, "some"), *((f"{word}*",) for word in query.beginnings)]
    if how == "all":
        return [phrase for term in _alternatives(query) for phrase in term]
    if how == "inflected":
        return [*dict.fromkeys((form,) for word in single for form in inflections(word))]
    if how == "prefix":
        return [(word,) for word in single if len(word) >= PREFIX_LENGTH]
    return [(word,) for word in single] + [
        tuple(phrase) for term in query.terms for phrase in term if len(phrase) > 1
    ]


def _matches(query: Query, how: str, columns: Sequence[str]) -> bool:
    def has(phrases: Iterable[tuple[str, ...]]) -> bool:
        return any(_count(phrase, text, how) for phrase in phrases for text in columns)

    if how == "all":
        return bool(query.terms) and all(map(has, _alternatives(query)))
    return has(_phrases(query, how))
