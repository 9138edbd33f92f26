"""The legs of a search, their fusion, and the scores of hits.

Legs are ranked lists of nodes by full text and by vectors. A score is a product of named factors:
of the match, from the legs or the expansion; of age and credibility, from ``describe``; and of
each later stage.
"""

from __future__ import annotations

from math import log10

from ..core.errors import GraphUnavailable, LoreError
from ..core.model import Hit
from ..core.scoring import best_first, convex, factor, feedback, recency, rrf
from ..core.text import one_line, spaced, stem
from ..core.vocabulary import (
    HIDDEN,
    HIDDEN_STATUSES,
    NAMES,
    RECORDS,
    RECORDS_LIST,
    THING_IDS,
    list_of,
)
from ..store.filter import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ..core.model import Factors
    from ..core.scoring import What
    from ..core.settings import Settings
    from ..core.text import Query
    from ..embed import Embedder
    from ..graph.walk import Step
    from ..store import Store
    from . import ParsedQuery
    from .files import FileRanks

    Passage = tuple[int, str, float]  # (key, id of the node, BM25 or cosine)

PASSAGES, NEIGHBOURS = 8, 2
"""Best passages by full text, and nearest passages, for each match of a pool (docs/decisions/0007).
"""

OF_EACH = 10  # matches of each list, and nearest passages of records, that are ranked at least

ENOUGH = 5  # other forms of words are tried if less than this part, a fifth, of a pool matches

PASSAGE_SHARES = (1.0, 0.5, 0.25)
"""Shares of a node's best three passages in the BM25 score. Recall@5 on PEPs is 62.3 with them, and
50.8 without passages (docs/decisions/0006)."""

OTHER_FORM = 0.5  # weight of other forms of a word

RETRIEVER_SHARE = 0.3
"""Share of each added retriever in a convex fusion; not measured."""

FIELD_WEIGHTS = {"title": 4.0, "body": 1.0, "tags": 2.0, "file": 1.0, "parts": 0.5}
"""BM25 weights of the full-text columns. Set by hand; docs/quality.md measures with them."""

AGE_WEIGHT = 0.05  # most that age takes off a score (docs/decisions/0021)

RELEVANCE_WEIGHT, MOST_RELEVANT = 0.05, 2.0
"""Maximum change of a score by relevance, and maximum relevance: 0 results change on sets
(docs/decisions/0021)."""

SOURCE_WEIGHTS = {"user_edit": 2.0, "file": 1.5, "system": 1.2, "conversation": 1.0}
STATUS_WEIGHTS = {"confirmed": 1.2, "staged": 1.0, "superseded": 0.5, "retracted": 0.5}
"""Weights of sources and statuses. Not measured: sets have a single source and status."""

USAGE_BOOST = 0.5
"""Growth of relevance per tenfold of accesses, up to ``MOST_RELEVANT``. Not measured."""

PLAIN = max(SOURCE_WEIGHTS.values()) * max(STATUS_WEIGHTS.values())
"""Product of a certain record of the best source and status without accesses."""


class Matches:
    """Matches of the legs within a scope, and the fused scores, best first."""

    def __init__(self) -> None:
        self.legs: dict[str, dict[str, float]] = {}
        self.fused: dict[str, float] = {}
        self.rrf: dict[str, float] = {}
        self.how: dict[str, str] = {}  # words, prefix, meaning, retriever or files
        self.passage: dict[str, int] = {}  # id to the key of the best passage
        self.rows: dict[str, list[Passage]] = {}  # by full text, of each collection, best first
        self.nearest: list[Passage] = []
        self.of_things: dict[str, dict[int, float]] = {}
        """Entity or concept to the cosines of matching passages: some may state facts."""
        self.evidence: dict[str, float] = {}  # of each list (``rank.evidence``)
        self.confidence = 0.0  # the best evidence
        self.weak = False  # true if the store probably has no answer
        self.files: FileRanks | None = None
        self.files_alone = False  # true in a search for files
        self.stands_for: dict[str, str] = {}  # symbol to file
        self.support: dict[str, float] | None = None  # sums of a walk that accumulates
        self.near: dict[str, float] = {}  # added to the score for the files at hand

    @property
    def best(self) -> float:
        """The highest fused score; 1 without a score above 0."""
        return max(self.fused.values(), default=1.0) or 1.0

    def factors(self, id: str) -> Factors:
        """Return the factors of a match before age and credibility."""
        return {"match": self.fused[id], "confidence": self.confidence}


def run_legs(query: ParsedQuery, scope: Scope) -> Matches:
    """Return the matches of every leg within ``scope``, fused."""
    found, settings = Matches(), query.settings
    if "fulltext" in settings.retrievers:
        found.legs["fulltext"] = _fulltext_leg(query, scope, found)
    if query.vector is not None:
        found.legs["vector"] = _vector_leg(query, query.vector, scope, found)
    if query.further is not None:
        found.legs.update(query.further.legs(query.store, scope))
    found.rrf = rrf(found.legs, settings.rrf_k)
    for id in found.rrf:
        found.how.setdefault(id, "retriever")
    if settings.fusion == "rrf":
        most = len(found.legs) / (settings.rrf_k + 1)
        found.fused = best_first({id: score / most for id, score in found.rrf.items()})
    else:
        found.fused = fuse(settings, found.legs)
    return found


def fuse(settings: Settings, legs: Mapping[str, Mapping[What, float]]) -> dict[What, float]:
    """Return the convex fusion of the legs' scores, best first."""
    own = {"fulltext": settings.fulltext_share, "vector": 1 - settings.fulltext_share}
    shares = dict.fromkeys(legs, RETRIEVER_SHARE) | own
    return best_first(convex(legs, shares, settings.vector_min))


def _fulltext_leg(query: ParsedQuery, scope: Scope, found: Matches) -> dict[str, float]:
    """Return matches by any words; if few, also by other forms; if none, by beginnings. The matches
    of each collection are relative to the best match, times the share of the query's words in it.
    """
    text, words, where = query.store.fulltext, query.words, searched(scope)

    def matching(collection: str, how: str, known: Collection[str] = ()) -> dict[str, float]:
        most = PASSAGES * query.room
        rows = text.search(collection, words, how, where, FIELD_WEIGHTS, most)
        rows = [row for row in rows if row[1] not in known]
        found.rows.setdefault(collection, []).extend(rows)
        return _by_node(rows, "prefix" if how == "prefix" else "words", found)

    lists = {name: matching(name, "some") for name in text.collections(where)}
    if sum(map(len, lists.values())) < query.room // ENOUGH:
        for name, scores in lists.items():
            others = matching(name, "inflected", scores)
            best = max(others.values(), default=0.0) or 1.0
            unit = OTHER_FORM * min(scores.values(), default=1.0) / best
            scores.update((id, unit * score) for id, score in others.items())
    if not any(lists.values()):
        lists = {name: matching(name, "prefix") for name in lists}
    hidden = [row for row in found.rows.get(HIDDEN, ()) if row[1].startswith(THING_IDS)]
    for key, id, _ in (*found.rows.get(NAMES, ()), *hidden):
        found.of_things.setdefault(id, {})[key] = 0.0
    leg: dict[str, float] = {}
    for scores in filter(None, lists.values()):
        first = max(scores, key=lambda id: scores[id])
        (has,) = text.texts([found.passage[first]]).values()
        unit = coverage(words, has) / (scores[first] or 1.0)
        leg.update((id, unit * score) for id, score in scores.items())
    return best_first(leg)


def _by_node(rows: Sequence[Passage], match: str, found: Matches) -> dict[str, float]:
    """Return the score of each node by the best three passages; set passage and match."""
    by_node: dict[str, list[float]] = {}
    for key, id, score in rows:
        by_node.setdefault(id, []).append(score)
        found.passage.setdefault(id, key)
        found.how.setdefault(id, match)
    return {
        id: sum(share * score for share, score in zip(PASSAGE_SHARES, best, strict=False))
        for id, best in by_node.items()
    }


def coverage(query: Query, text: str) -> float:
    """Return the share of the query's words that a text has."""
    return weighted_coverage(dict.fromkeys(query.single_words(), 1.0), spaced(text))


def weighted_coverage(weights: Mapping[str, float], has: str) -> float:
    """Return the share of the words' weights in a ``spaced`` text; other forms count half."""
    share = 0.0
    for word, weight in weights.items():
        if f" {word} " in has:
            share += weight
        elif f" {stem(word)}" in has:
            share += OTHER_FORM * weight
    return share / (sum(weights.values()) or 1.0)


def _vector_leg(
    query: ParsedQuery, vector: bytes, scope: Scope, found: Matches
) -> dict[str, float]:
    """Return the nodes with the nearest passages, with some of records if there is code."""
    store = query.store
    nearest = store.vectors.search(vector, searched(scope), NEIGHBOURS * query.room)
    files = Scope(types=("file",), hides=HIDDEN_STATUSES)
    if not scope.types and store.fulltext.collections(files):
        records = [row for row in nearest if list_of(row[1]) == RECORDS_LIST]
        if len(records) < OF_EACH:
            types = tuple(type for type in store.types.require((RECORDS,)) if type != "doc")
            nearest += store.vectors.search(vector, scope.but(types=types), OF_EACH)
            nearest = sorted({row[0]: row for row in nearest}.values(), key=lambda row: -row[2])
    found.nearest = nearest
    leg: dict[str, float] = {}
    for key, id, score in found.nearest:
        if score < query.settings.vector_min:
            break
        if id.startswith(THING_IDS):
            found.of_things.setdefault(id, {})[key] = score
        if id not in leg:
            leg[id] = score
            found.passage.setdefault(id, key)
            found.how.setdefault(id, "meaning")
    return leg


def searched(scope: Scope) -> Scope:
    """Return the scope of the legs: with files, also their symbols."""
    if "file" in scope.types and "symbol" not in scope.types:
        return scope.but(types=(*scope.types, "symbol"))
    return scope


def embed_query(query: ParsedQuery, embedder: Embedder | None) -> bytes | None:
    """Return the query's vector; None, with a note, if the store has no comparable vectors."""
    if embedder is None or not query.words or "vector" not in query.settings.retrievers:
        return None
    notes = query.notes
    held = query.store.meta.get("embedder")
    if held != embedder.name:
        if held is not None:
            fault = f"the store's vectors are {held}'s, not {embedder.name}'s"
            notes.append(f"{fault}: run 'lore store embed --all'; full text only")
        return None
    try:
        vector = embedder.embed([query.words.text])[0]
    except LoreError as error:
        notes.append(f"{error}; full text only")
        return None
    notes.extend(getattr(embedder, "notes", ()))
    return vector


# --- scores of hits


def describe(store: Store, settings: Settings, hits: list[Hit]) -> list[Hit]:
    """Fill hits with the columns of their nodes; leave out nodes that are purged meanwhile."""
    rows = store.nodes.briefs([hit.id for hit in hits])
    hits = [hit for hit in hits if hit.id in rows]
    for hit in hits:
        hit.type, hit.title, hit.file, hit.line_start, hit.line_end, age = rows[hit.id][:6]
        set_standing(hit, settings, age, rows[hit.id][6:])
    return hits


def set_standing(
    hit: Hit, settings: Settings, age: float, credibility: tuple[float, str, str, int]
) -> None:
    """Set the recency and credibility of a hit, and the factors of both."""
    hit.credibility = credibility
    hit.recency_score = round(recency(age, settings.recency_half_life), 6)
    hit.standing = {
        "age": factor(hit.recency_score, AGE_WEIGHT),
        "relevance": factor(relevance(credibility, settings), RELEVANCE_WEIGHT),
    }


def fact_rank(credibility: tuple[float, str, str, int], age: float, settings: Settings) -> float:
    """Return product × recency, the order of facts; ``age`` is in days."""
    return product(credibility, settings) * recency(age, settings.recency_half_life)


def product(credibility: tuple[float, str, str, int], settings: Settings) -> float:
    """Return confidence × source weight × usage × status weight."""
    confidence, source, status, accesses = credibility
    weight = SOURCE_WEIGHTS[source] * STATUS_WEIGHTS[status]
    return confidence * weight * used(accesses, settings)


def used(accesses: int, settings: Settings) -> float:
    """Return the factor of accesses."""
    return 1 + (USAGE_BOOST if settings.counts_usage else 0.0) * log10(accesses + 1)


def relevance(credibility: tuple[float, str, str, int], settings: Settings) -> float:
    """Return the relevance of a record, 0 to ``MOST_RELEVANT``."""
    return min(MOST_RELEVANT, product(credibility, settings) / PLAIN)


def explained_relevance(hit: Hit, settings: Settings) -> dict[str, object]:
    """Return the relevance of a hit, and the weights behind it."""
    confidence, source, status, accesses = hit.credibility
    return {
        "score": round(relevance(hit.credibility, settings), 6),
        "weight": RELEVANCE_WEIGHT,
        "confidence": confidence,
        "source": source,
        "source_weight": SOURCE_WEIGHTS[source],
        "accesses": accesses,
        "usage": round(used(accesses, settings), 6),
        "status": status,
        "status_weight": STATUS_WEIGHTS[status],
    }


def led(hit: Hit, step: Step) -> Hit:
    """Set the way of a hit; return the hit."""
    hit.path = [one.id for one in step.steps()]
    hit.hops, hit.edge_type, hit.way = len(hit.path) - 1, step.relation, step
    return hit


def assemble(hits: Iterable[Hit], matched: Mapping[str, Factors]) -> list[Hit]:
    """Return the hits with their scores, best first; ``matched`` has the factors of each match.

    A score can exceed 1 until ``rated`` has put the hits in order.
    """
    hits = [*hits]
    for hit in hits:
        hit.factors = {**matched[hit.id], **hit.standing}
    return in_order(hits)


def rated(store: Store, settings: Settings, hits: list[Hit], notes: list[str]) -> list[Hit]:
    """Return the hits in the order that ratings give them, no score above 1."""
    ratings: Mapping[str, tuple[float, int]] = {}
    if settings.feedback_weight:
        try:
            ratings = store.ratings.of([hit.id for hit in hits])
        except GraphUnavailable as error:
            notes.append(f"{error}; without feedback")
    for hit in hits:
        if hit.id in ratings:
            score = feedback(*ratings[hit.id])
            hit.feedback_score = round(score, 6)
            hit.times("feedback", factor(2 * score, settings.feedback_weight))
    hits = in_order(hits) if ratings else hits
    for hit in hits:
        if hit.score > 1:
            hit.times("cap", 1 / hit.score)
    return hits


def in_order(hits: Iterable[Hit]) -> list[Hit]:
    """Return the highest score first; ties by hops, then by id."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.hops, hit.id))


def attach_verdicts(store: Store, hits: Sequence[Hit], notes: list[str]) -> None:
    """Set the verdict of each hit that has anchors."""
    try:
        anchors = store.nodes.anchored([hit.id for hit in hits])
    except GraphUnavailable as error:
        notes.append(str(error))
        return
    if anchors:
        from ..anchors.show import add_verdicts

        add_verdicts(hits, anchors, store.project, notes)


def beyond_signature(text: str, title: str) -> str:
    """Return the text of a symbol without the signature in its title, and with its documentation
    once: ``text`` is signature, documentation, and the source with both again.

    >>> beyond_signature("def f(x)\\nSays it.\\ndef f(x): return x", "C.f(x)")
    'Says it. return x'
    """
    head, _, rest = text.partition("\n")
    if title.partition("(")[0].rpartition(".")[2] not in head:
        return text
    told, _, source = rest.rpartition("\n")
    told, code = one_line(told), one_line(source.replace(head, "", 1))
    code = code.replace(told, "", 1).lstrip(" :\"'/*#")
    return f"{told} {code}".strip()
