"""The legs of a search and their fusion: ranked lists of nodes by full text and by vectors."""

from __future__ import annotations

from ..core.errors import LoreError
from ..core.scoring import best_first, convex, rounded, rrf
from ..core.settings import BUILT_IN_RETRIEVERS
from ..core.text import spaced, stem
from ..core.vocabulary import (
    NAMES,
    RECORDS,
    RECORDS_LIST,
    THING_IDS,
    list_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Protocol

    from ..core.model import Hit
    from ..core.scoring import Factors
    from ..core.settings import Settings
    from ..core.text import Query
    from ..embed import Embedder
    from ..store.filter import Scope
    from ..store.protocols import SearchStore as Store
    from .files import FileRanks

    Passage = tuple[int, str, float]
    """(key, id of its node, BM25 or cosine)"""

    class FurtherLegs(Protocol):
        """The lists of retrievers that are not lore's own."""

        def legs(self, store: Store, scope: Scope) -> dict[str, dict[str, float]]:
            """Return each retriever's list, id to score, best first."""


BUILT_IN = frozenset(BUILT_IN_RETRIEVERS)

PASSAGES = 8
"""Best passages by full text for each match of a pool: a bound on the work."""

NEIGHBOURS = 2
"""Nearest passages for each match of a pool (docs/decisions/0008 has their cost)."""

NEAR_RECORDS = 10
"""Nearest passages of records that are read beside code and pages, which are many more."""

ENOUGH = 5
"""With a fifth of a pool having all words, other forms of words are not tried."""

PASSAGE_SHARES = (1.0, 0.5, 0.25)
"""Shares of a node's best three passages in its BM25 score. Recall@5 on PEPs is 62.3 with them, and
50.8 with the whole text in one (docs/decisions/0006)."""

OTHER_FORM = 0.5
"""What a word in another form counts, relative to the word itself."""

RETRIEVER_SHARE = 0.3
"""Share of a user's own retriever in a convex fusion, unless ``retriever_shares`` has one."""


class Matches:
    """What the legs found within one scope, and the fused scores, best first."""

    __slots__ = (
        "confidence", "evidence", "files", "files_alone", "fused", "how", "legs", "near", "nearest",
        "of_things", "passage", "rows", "rrf", "stands_for", "weak",
    )  # fmt: skip

    def __init__(self) -> None:
        self.legs: dict[str, dict[str, float]] = {}
        self.fused: dict[str, float] = {}
        self.rrf: dict[str, float] = {}
        self.how: dict[str, str] = {}
        """Id to how well it matches: all, some, prefix, meaning, retriever or files."""
        self.passage: dict[str, int] = {}
        """Id to the key of its best passage."""
        self.rows: dict[str, list[Passage]] = {}
        """Collection to the passages that full text found, best first."""
        self.nearest: list[Passage] = []
        self.of_things: dict[str, dict[int, float]] = {}
        """Entity or concept to the cosines of its passages that match: some may state facts."""
        self.evidence: dict[str, float] = {}
        """List of results to how well its best passage answers the query (``rank.evidence``)."""
        self.confidence = 0.0
        """The best evidence, 0..1."""
        self.weak = False
        """True if the store probably has nothing on the query."""
        self.files: FileRanks | None = None
        self.files_alone = False
        """True if files are asked for, and not results of all types."""
        self.stands_for: dict[str, str] = {}
        """Symbol to the file that it stands for."""
        self.near: dict[str, float] = {}
        """Id to what is added to its score for the files at hand."""

    @property
    def best(self) -> float:
        """The highest fused score; 1 if there is none above 0."""
        return max(self.fused.values(), default=1.0) or 1.0

    def passages(self, settings: Settings, count: int) -> list[Passage]:
        """Return the best passages with scores, best first, relative to the best one.

        Each leg counts as in a convex fusion, relative to its own best passage.
        """
        shares = {"fulltext": settings.fulltext_share, "vector": 1 - settings.fulltext_share}
        legs: dict[str, dict[int, float]] = {"fulltext": {}, "vector": {}}
        owners: dict[int, str] = {}
        for rows in self.rows.values():
            best = max([row[2] for row in rows], default=0.0) or 1.0
            for key, id, score in rows:
                owners[key] = id
                legs["fulltext"].setdefault(key, score / best)
        for key, id, score in self.nearest:
            owners[key] = id
            legs["vector"][key] = max(score, settings.vector_min)
        fused = convex(legs, shares, settings.vector_min)
        best = max(fused.values(), default=0.0) or 1.0
        return [(key, owners[key], fused[key] / best) for key in [*best_first(fused)][:count]]

    def factors(self, id: str) -> Factors:
        """Return the factors of a match before its age and credibility."""
        return {"match": self.fused[id], "confidence": self.confidence}


def run_legs(
    store: Store,
    settings: Settings,
    query: Query,
    vector: bytes | None,
    scope: Scope,
    further: FurtherLegs | None,
    room: int,
) -> Matches:
    """Return what every leg finds within ``scope``, fused.

    ``room`` is the number of matches that the legs look for; ``further`` are retrievers of the
    user's own, which have been started before.
    """
    found = Matches()
    if "fulltext" in settings.retrievers:
        found.legs["fulltext"] = _FullTextLeg(store, settings, query, scope, room, found).scores
    if vector is not None:
        found.legs["vector"] = _vector_leg(store, settings, vector, scope, found, room)
    if further is not None:
        for name, leg in further.legs(store, scope).items():
            found.legs[name] = leg
            for id in leg:
                found.how.setdefault(id, "retriever")
    found.rrf = rrf(found.legs, settings.rrf_k)
    if settings.fusion == "rrf":
        most = len(found.legs) / (settings.rrf_k + 1)
        fused = {id: score / most for id, score in found.rrf.items()}
    else:
        shares = dict.fromkeys(found.legs, RETRIEVER_SHARE) | settings.retriever_shares
        shares |= {"fulltext": settings.fulltext_share, "vector": 1 - settings.fulltext_share}
        fused = convex(found.legs, shares, settings.vector_min)
    found.fused = best_first(fused)
    return found


class _FullTextLeg:
    """The leg of full text for one query and scope: ``scores``, best first.

    The matches of each collection are relative to its best match, times the share of the query's
    words that this one has. ``found`` gets the passages, and how well nodes match.
    """

    def __init__(
        self, store: Store, settings: Settings, query: Query, scope: Scope, room: int,
        found: Matches,
    ) -> None:  # fmt: skip
        self._fulltext = store.fulltext
        self._weights = settings.field_weights
        self._query = query
        self._scope = scope
        self._where = searched(scope)
        self._wanted = PASSAGES * room
        self._enough = room // ENOUGH
        self._found = found
        self.scores = self._ranked(self._relaxed())

    def _relaxed(self) -> dict[str, dict[str, float]]:
        """Return matches by all words, or where too few have them by some; then by other forms;
        then by beginnings."""
        found = {}
        for collection in self._fulltext.collections(self._scope.types):
            found[collection] = self._exact(collection)
        if sum(map(len, found.values())) < self._enough:
            for collection, scores in found.items():
                self._add_inflected(collection, scores)
        if not any(found.values()):
            for collection in found:
                found[collection] = self._by_node(self._matching(collection, "prefix"), "prefix")
        return found

    def _exact(self, collection: str) -> dict[str, float]:
        if self._query.beginnings:
            how = "all" if len(self._query.terms) == 1 else "some"
            return self._by_node(self._matching(collection, "begins"), how)
        with_all = self._fulltext.nodes_with_all(collection, self._query, self._where, self._wanted)
        enough = len(with_all) >= self._enough
        how = "all" if enough or (with_all and len(self._query.terms) == 1) else "some"
        return self._by_node(self._matching(collection, how), how, with_all)

    def _add_inflected(self, collection: str, scores: dict[str, float]) -> None:
        """Add matches by other forms of words below the matches by the words themselves."""
        rows = [row for row in self._matching(collection, "inflected") if row[1] not in scores]
        others = self._by_node(rows, "some")
        least = min(scores.values(), default=1.0)
        unit = OTHER_FORM * least / (max(others.values(), default=0.0) or 1.0)
        scores.update((id, unit * score) for id, score in others.items())

    def _matching(self, collection: str, how: str) -> list[Passage]:
        rows = self._fulltext.search(
            collection, self._query, how, self._where, self._weights, self._wanted
        )
        self._found.rows.setdefault(collection, []).extend(rows)
        if collection == NAMES:
            for key, id, _ in rows:
                self._found.of_things.setdefault(id, {})[key] = 0.0
        return rows

    def _by_node(
        self, rows: Iterable[Passage], how: str, whole: Iterable[str] = ()
    ) -> dict[str, float]:
        """Return the score of each node by its best three passages."""
        by_node: dict[str, list[float]] = {}
        for key, id, score in rows:
            if id not in by_node:
                by_node[id] = []
                self._found.passage[id] = key
                self._found.how[id] = "all" if id in whole else how
            by_node[id].append(score)
        return {
            id: best[0]
            if len(best) == 1
            else sum(share * score for share, score in zip(PASSAGE_SHARES, best, strict=False))
            for id, best in by_node.items()
        }

    def _ranked(self, found: dict[str, dict[str, float]]) -> dict[str, float]:
        leg: dict[str, float] = {}
        for scores in filter(None, found.values()):
            first = max(scores, key=lambda id: scores[id])
            text = self._fulltext.indexed(self._found.passage[first])[1]
            unit = coverage(self._query, text) / (scores[first] or 1.0)
            leg.update((id, unit * score) for id, score in scores.items())
        return best_first(leg)


def coverage(query: Query, text: str) -> float:
    """Return the share of the query's words that a text has."""
    return weighted_coverage(dict.fromkeys(query.single_words(), 1.0), spaced(text))


def weighted_coverage(weights: Mapping[str, float], has: str) -> float:
    """Return the share of the words' weights that a ``spaced`` text has; another form counts
    half."""
    share = 0.0
    for word, weight in weights.items():
        if f" {word} " in has:
            share += weight
        elif f" {stem(word)}" in has:
            share += OTHER_FORM * weight
    return share / (sum(weights.values()) or 1.0)


def _with_records(
    store: Store, vector: bytes, scope: Scope, nearest: list[Passage]
) -> list[Passage]:
    """Return the nearest passages with those of records, nearest first."""
    known = {key for key, _, _ in nearest}
    types = [type for type in store.types.require((RECORDS,)) if type != "doc"]
    beside = store.vectors.search(vector, scope.with_types(tuple(types)), NEAR_RECORDS)
    found = [*nearest, *(row for row in beside if row[0] not in known)]
    return sorted(found, key=lambda row: -row[2])


def _vector_leg(
    store: Store, settings: Settings, vector: bytes, scope: Scope, found: Matches, room: int
) -> dict[str, float]:
    nearest = store.vectors.search(vector, searched(scope), NEIGHBOURS * room)
    if not scope.types and store.fulltext.collections(("file",)):
        records = [row for row in nearest if list_of(row[1]) == RECORDS_LIST]
        if len(records) < NEAR_RECORDS:
            nearest = _with_records(store, vector, scope, nearest)
    found.nearest = nearest
    leg: dict[str, float] = {}
    for key, id, score in found.nearest:
        if score < settings.vector_min:
            break
        if id.startswith(THING_IDS):
            found.of_things.setdefault(id, {})[key] = score
        if id not in leg:
            leg[id] = score
            found.passage.setdefault(id, key)
            found.how.setdefault(id, "meaning")
    return leg


def searched(scope: Scope) -> Scope:
    """Return where the legs look: for files, at the symbols in them too."""
    if "file" in scope.types and "symbol" not in scope.types:
        return scope.with_types((*scope.types, "symbol"))
    return scope


def embed_query(
    query: Query, store: Store, settings: Settings, embedder: Embedder | None, notes: list[str]
) -> bytes | None:
    """Return the query's vector; None, with a note, where the store has none to compare it to."""
    if embedder is None or "vector" not in settings.retrievers:
        return None
    held = store.meta.get("embedder")
    if held != embedder.name:
        if held is not None:
            notes.append(f"the store's vectors are {held}'s, not {embedder.name}'s: "
                         "run 'lore embed --all'; full text only")  # fmt: skip
        return None
    try:
        vector = embedder.embed([query.text])[0]
    except LoreError as error:
        notes.append(f"{error}; full text only")
        return None
    notes.extend(getattr(embedder, "notes", ()))
    return vector


def add_leg_scores(hit: Hit, found: Matches) -> None:
    """What each leg, and their fusion by rank, say of a hit; None where they say nothing."""
    hit.rrf_score = rounded(found.rrf.get(hit.id))
    hit.bm25_score = rounded(found.legs.get("fulltext", {}).get(hit.id))
    hit.vector_score = rounded(found.legs.get("vector", {}).get(hit.id))
