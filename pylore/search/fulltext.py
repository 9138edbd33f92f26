"""The full-text leg: matches of every collection as one ranked list."""

from __future__ import annotations

from ..core.scoring import best_first
from ..core.text import fold, stem, words
from ..core.tuning import SHORT_QUERY
from ..core.vocabulary import NAMES, SYMBOL_IDS, file_id, path_of
from . import tuning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..core.settings import Settings
    from ..core.text import Query
    from ..store.filter import Scope
    from ..store.protocols import SearchStore as Store


class FullTextLeg:
    """What full text finds for one query and scope.

    ``scores`` is the ranked list: every collection's matches, relative to its best one,
    times the share of the query's words that this one covers; ``room`` says how many matches it
    is to rank. ``coverage`` is the
    largest such share; ``passage`` and ``how`` say of each node where, and how well,
    it matched.
    """

    def __init__(
        self, store: Store, settings: Settings, query: Query, scope: Scope, room: int
    ) -> None:
        self._fulltext = store.fulltext
        self._settings = settings
        self._query = query
        self._scope = scope
        self._where = searched(scope)
        self._wanted = tuning.PASSAGES * room
        self._enough = room // tuning.ENOUGH
        self.more = False
        """Whether a pool with more room might bring more."""
        self.passage: dict[str, int] = {}
        self.rows: dict[str, list[tuple[int, str, float]]] = {}
        """Collection to the passages that match: key, node, BM25."""
        self.of_things: dict[str, dict[int, float]] = {}
        """Thing to all of its passages that match: some may state facts."""
        self.how: dict[str, str] = {}
        self.coverage = 0.0
        self.scores = self._ranked(self._relaxed())

    def _relaxed(self) -> dict[str, dict[str, float]]:
        """All words first; where too few have them all, some; then other forms; beginnings."""
        found = {}
        for collection in self._fulltext.collections(self._scope.types):
            found[collection] = self._exact(collection)
        if sum(map(len, found.values())) < self._enough:
            for collection, scores in found.items():
                self._add_inflected(collection, scores)
        else:
            self.more = True
        if not any(found.values()):
            for collection in found:
                found[collection] = self._by_node(self._matching(collection, "prefix"), "prefix")
        return found

    def _exact(self, collection: str) -> dict[str, float]:
        if self._query.beginnings:
            how = "all" if len(self._query.terms) == 1 else "some"
            return self._by_node(self._matching(collection, "begins"), how)
        with_all = self._fulltext.nodes_with_all(collection, self._query, self._where, self._wanted)
        whole = {lift(id) for id in with_all} if self._where is not self._scope else with_all
        enough = len(whole) >= self._enough
        how = "all" if enough or (whole and len(self._query.terms) == 1) else "some"
        return self._by_node(self._matching(collection, how), how, whole)

    def _add_inflected(self, collection: str, scores: dict[str, float]) -> None:
        rows = [row for row in self._matching(collection, "inflected") if row[1] not in scores]
        others = self._by_node(rows, "some")
        most = tuning.INFLECTED * min(scores.values(), default=1.0)
        unit = most / (max(others.values(), default=0.0) or 1.0)
        scores.update((id, unit * score) for id, score in others.items())

    def _matching(self, collection: str, how: str) -> list[tuple[int, str, float]]:
        rows = self._fulltext.search(
            collection, self._query, how, self._where, self._settings.field_weights, self._wanted
        )
        self.more = self.more or len(rows) >= self._wanted
        self.rows.setdefault(collection, []).extend(rows)
        if collection == NAMES:
            for key, id, _ in rows:
                self.of_things.setdefault(id, {})[key] = 0.0
        return lifted(rows, self._scope)

    def _by_node(
        self, rows: Iterable[tuple[int, str, float]], how: str, whole: Iterable[str] = ()
    ) -> dict[str, float]:
        """A node's score: its best passage's, and shares of its next ones'."""
        by_node: dict[str, list[float]] = {}
        for key, id, score in rows:
            if id in by_node:
                by_node[id].append(score)
            else:
                by_node[id] = [score]
                self.passage[id] = key
                self.how[id] = "all" if id in whole else how
        shares = tuning.PASSAGE_SHARES
        return {
            id: shares[0] * best[0] if len(best) == 1
            else sum(share * score for share, score in zip(shares, best, strict=False))
            for id, best in by_node.items()
        }  # fmt: skip

    def _ranked(self, found: dict[str, dict[str, float]]) -> dict[str, float]:
        leg: dict[str, float] = {}
        for scores in filter(None, found.values()):
            first = max(scores, key=lambda id: scores[id])
            title, everything = self._fulltext.indexed(self.passage[first])
            covered = coverage(self._query, everything)
            self.coverage = max(self.coverage, covered)
            named = coverage(self._query, title)
            worth = (1 - tuning.TITLE_SHARE) * covered + tuning.TITLE_SHARE * named
            most = scores[first] / max(worth, tuning.LEAST_WORTH)
            leg.update({id: score / most if most else 0.0 for id, score in scores.items()})
        return best_first(leg)


def coverage(query: Query, text: str) -> float:
    """The share of the query's words that ``text`` has; another form counts ``OTHER_FORM``."""
    wanted = query.single_words()
    has = set(words(fold(text)))
    missing = [word for word in wanted if word not in has]
    if query.beginnings:
        begun = [one for one in query.beginnings if any(word.startswith(one) for word in has)]
        missing = [word for word in missing if word not in begun]
    exact = float(len(wanted) - len(missing))
    if len(wanted) <= SHORT_QUERY:
        stems = [stem(word) for word in missing]
        inflected = [one for one in stems if any(word.startswith(one) for word in has)]
        exact += tuning.OTHER_FORM * len(inflected)
    return exact / len(wanted) if wanted else 0.0


def searched(scope: Scope) -> Scope:
    """Where the legs look: for files, at the symbols in them too."""
    if "file" in scope.types and "symbol" not in scope.types:
        return scope.with_types((*scope.types, "symbol"))
    return scope


def lifted(rows: list[tuple[int, str, float]], scope: Scope) -> list[tuple[int, str, float]]:
    """Where files are asked for: the passages of a symbol as passages of its file."""
    if searched(scope) is scope:
        return rows
    return [(key, lift(id), score) for key, id, score in rows]


def lift(id: str) -> str:
    """``symbol-a.py::f`` → ``file-a.py``; any other id as it is."""
    return file_id(path_of(id)) if id.startswith(SYMBOL_IDS) else id
