"""The legs of a search and their fusion: ranked lists of what matches a query.

Full text and vectors each make a list of nodes; the fusion makes one of them.
"""

from __future__ import annotations

from ..core.errors import LoreError
from ..core.scoring import SHORT_QUERY, best_first, convex, rounded, rrf
from ..core.settings import BUILT_IN_RETRIEVERS
from ..core.text import fold, stem, words
from ..core.vocabulary import CODE_IDS, NAMES, SYMBOL_IDS, THING_IDS, file_id, path_of
from . import tuning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Protocol

    from ..core.model import Hit
    from ..core.scoring import Factors
    from ..core.settings import Settings
    from ..core.text import Query
    from ..embed import Embedder
    from ..store.filter import Scope
    from ..store.protocols import SearchStore as Store
    from .files import FileRanks


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
        """Return all words first; where too few have them all, some; then other forms;
        beginnings."""
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
        """Return a node's score: its best passage's, and shares of its next ones'."""
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
    """Return the share of the query's words that ``text`` has; another form counts
    ``OTHER_FORM``."""
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
    """Return where the legs look: for files, at the symbols in them too."""
    if "file" in scope.types and "symbol" not in scope.types:
        return scope.with_types((*scope.types, "symbol"))
    return scope


def lifted(rows: list[tuple[int, str, float]], scope: Scope) -> list[tuple[int, str, float]]:
    """Return where files are asked for: the passages of a symbol as passages of its file."""
    if searched(scope) is scope:
        return rows
    return [(key, lift(id), score) for key, id, score in rows]


def lift(id: str) -> str:
    """``symbol-a.py::f`` → ``file-a.py``; any other id as it is."""
    return file_id(path_of(id)) if id.startswith(SYMBOL_IDS) else id


if TYPE_CHECKING:

    class FurtherLegs(Protocol):
        """The lists of retrievers that are not lore's own."""

        def legs(self, store: Store, scope: Scope) -> dict[str, dict[str, float]]:
            """Return each retriever's list, id to score, best first."""


BUILT_IN = frozenset(BUILT_IN_RETRIEVERS)


class Matches:
    """What the legs found for one scope, and the fused scores, best first.

    ``fused`` is relative to what was found: the best match of each leg counts whole.
    ``confidence`` says how much it is worth at all, 0..1 (see ``confidence_of``).
    """

    __slots__ = (
        "confidence", "coverage", "evidence", "files", "files_alone", "fused", "how", "legs",
        "more", "near", "nearest", "of_things", "passage", "rows", "rrf", "rules", "stands_for",
        "unit", "weak",
    )  # fmt: skip

    def __init__(self) -> None:
        self.legs: dict[str, dict[str, float]] = {}
        self.passage: dict[str, int] = {}
        self.rows: dict[str, list[tuple[int, str, float]]] = {}
        """Collection to the passages that full text has found: key, node, BM25."""
        self.nearest: list[tuple[int, str, float]] = []
        """The nearest passages by meaning: key, node, cosine."""
        self.of_things: dict[str, dict[int, float]] = {}
        """Entity or concept to its passages that match, each with its cosine: some of them may
        state facts."""
        self.how: dict[str, str] = {}
        self.fused: dict[str, float] = {}
        self.rrf: dict[str, float] = {}
        self.coverage = 0.0
        self.evidence: dict[str, float] = {}
        """List of results to what its best passage says of the query (``rank.evidence``)."""
        self.confidence = 0.0
        self.more = False
        """Whether a pool with more room might bring more."""
        self.weak = False
        """Whether what was found is more likely to be noise than not."""
        self.files: FileRanks | None = None
        """How files rank by their whole texts, where these are kept and may be found."""
        self.files_alone = False
        """True where files are asked for, and not results of all types."""
        """How much of the query is about the code that was indexed."""
        self.unit = 1.0
        """The fused score of a file whose ``files.plain`` is 1."""
        self.rules: dict[str, dict[str, float]] = {}
        """Id to the rules that moved it, and what each left of its score."""
        self.stands_for: dict[str, str] = {}
        """Symbol to its file, where it is the answer for that."""
        self.near: dict[str, float] = {}
        """Id to what is added to its score for the files that were named."""

    @property
    def best(self) -> float:
        """The highest fused score, or 1 where there is none above 0."""
        return max(self.fused.values(), default=1.0) or 1.0

    def passages(self, settings: Settings, count: int) -> list[tuple[int, str, float]]:
        """Return the best passages, ``(key, node, score)``, best first, the best one with 1.

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
        """Return what the score of a match is the product of, before its age and credibility."""
        return {"match": self.fused[id], "confidence": self.confidence}


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


def run_legs(
    store: Store,
    settings: Settings,
    query: Query,
    vector: bytes | None,
    scope: Scope,
    further: FurtherLegs | None,
    room: int,
) -> Matches:
    """Return what every leg finds within ``scope``, not fused yet.

    ``room`` says for how many matches the legs look; ``further`` are retrievers of the user's own,
    which have been started before.
    """
    found = Matches()
    if "fulltext" in settings.retrievers:
        words = FullTextLeg(store, settings, query, scope, room)
        found.legs["fulltext"] = words.scores
        found.passage, found.how, found.coverage = words.passage, words.how, words.coverage
        found.of_things, found.rows, found.more = words.of_things, words.rows, words.more
    if vector is not None:
        found.legs["vector"] = _vector_leg(store, settings, vector, scope, found, room)
    if further is not None:
        for name, leg in further.legs(store, scope).items():
            found.legs[name] = leg
            for id in leg:
                found.how.setdefault(id, "retriever")
    return found


def fuse(settings: Settings, found: Matches) -> None:
    """Make one score of those of the legs, best first: ``found.fused`` and ``found.rrf``."""
    found.rrf = rrf(found.legs, settings.rrf_k)
    if settings.fusion == "rrf":
        most = len(found.legs) / (settings.rrf_k + 1)
        fused = {id: score / most for id, score in found.rrf.items()}
    else:
        fused = _convex(found, settings, settings.fulltext_share)
        code = [id for id in fused if id.startswith(CODE_IDS)]
        if code:
            fused |= _convex(found, settings, settings.code_fulltext_share, frozenset(code))
    found.fused = best_first(fused)


def _convex(
    found: Matches, settings: Settings, fulltext_share: float, among: frozenset[str] | None = None
) -> dict[str, float]:
    shares = dict.fromkeys(found.legs, tuning.RETRIEVER_SHARE)
    shares |= settings.retriever_shares
    shares |= {"fulltext": fulltext_share, "vector": 1 - fulltext_share}
    return convex(found.legs, shares, settings.vector_min, among)


def _vector_leg(
    store: Store, settings: Settings, vector: bytes, scope: Scope, found: Matches, room: int
) -> dict[str, float]:
    leg: dict[str, float] = {}
    wanted = tuning.NEIGHBOURS * room
    found.nearest = lifted(store.vectors.search(vector, searched(scope), wanted), scope)
    found.more = found.more or (
        len(found.nearest) >= wanted and found.nearest[-1][2] >= settings.vector_min
    )
    if not scope.types and store.fulltext.collections(("file",)):
        types = store.types.require(("records",))
        types = tuple(t for t in types if t != "doc")
        seen = {key for key, *_ in found.nearest}
        more = store.vectors.search(vector, scope.with_types(types), 10)
        found.nearest = sorted([*found.nearest, *(row for row in more if row[0] not in seen)], key=lambda row: -row[2])
    for key, id, score in found.nearest:
        if score >= settings.vector_min and id.startswith(THING_IDS):
            found.of_things.setdefault(id, {})[key] = score
        if id not in leg and score >= settings.vector_min:
            leg[id] = score
            found.passage.setdefault(id, key)
            found.how.setdefault(id, "meaning")
    return leg


def add_leg_scores(hit: Hit, found: Matches) -> None:
    """What each leg, and their fusion by rank, say of a hit; None where they say nothing."""
    hit.rrf_score = rounded(found.rrf.get(hit.id))
    hit.bm25_score = rounded(found.legs.get("fulltext", {}).get(hit.id))
    hit.vector_score = rounded(found.legs.get("vector", {}).get(hit.id))
