"""Fusing ranked lists, what age, credibility and ratings do to a score, and the score itself."""

from __future__ import annotations

from math import log10

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import TypeVar


# --- scores (pylore/core/scoring.py)

SURE_COSINE = 0.5
"""A best cosine below this is not stretched to a full score. Not measured."""

MOST_RELEVANT = 2.0
"""However often a record is read, it counts at most twice a plain one (docs/decisions/0021).
Not measured: on the sets records are alike."""

PRIOR_MEAN = 0.5
"""The prior mean of ratings, for a node that nobody has rated."""

PRIOR_COUNT = 2
"""Ratings that the prior is worth. Measured with ``feedback_weight`` as a whole: 1.6
points of recall@5 (docs/decisions/0021)."""

# --- words (pylore/core/text.py)

MAX_TERMS = 200
"""The most words of one query that are searched for. Not measured: a bound on the work."""

PHRASE_WORDS = 32
"""The most words that must be next to each other: what has more is cut into several phrases.
Not measured."""

PASSAGE_WORDS = 200
"""About how many words one passage has: long texts are ranked by their best passages. That
took recall@5 from 50.8 to 62.3 (docs/decisions/0006); other lengths were not measured."""

LEAST_PASSAGE = 50
"""Words from which a heading ends a passage: recall@5 on PEPs at depth 1 is 77.2 with 50, and 77.0
with 1 (docs/decisions/0006)."""

PREFIX_LENGTH = 3
"""The shortest word that is tried as the beginning of another one. Not measured."""

ENDING = 2
"""So many last letters of a word may be another ending in another form of it. Not measured."""

# --- full text over many passages (pylore/store/rare_terms.py, docs/decisions/0011)

LARGE = 20_000
"""In a collection of fewer passages all that match are ranked. Measured: with 5,000 the two ways
take as long, with 38,000 to 50,000 this one two thirds, with 1,000,000 a third to a fifth."""

WORTH_IT = 2
"""So many times more passages must have one of the words than would be ranked. Measured with
38,000 to 50,000: with 8, three fourths of ranking all, with 2 two thirds, and the same first ten
of 96 questions; with 1 it is no quicker."""

FEW_OF_A_WORD = 250
"""So many passages for each word of the query are ranked for its rare words, and about twice as
many for having several of the others. Measured on 1,000,000 passages: with half of it
more of the first results were missed."""

WORDS = 8
"""A query of fewer words counts as one of so many. Measured with ``FEW_OF_A_WORD``."""

QUICKLY_COUNTED = 100_000
"""Passages at most that have one of the words: up to here, counted for each, FTS5 ranks what was
chosen, and counts them: that takes less than to call a function in Python for each passage.
Measured: with 38,000 to 50,000 passages it is 39 ms in place of the 47 with 0; with 1,000,000
plain questions took 80 ms, with three times as much 90."""

FIRST_RESULTS = 10
"""Matches that must score at least as much as what is left out, or that is searched too."""

TOGETHER = 1.5
"""So many times more often than by chance a passage has words of two groups. Not measured:
where it has them less often, fewer groups follow."""

COMMON = 1_000
"""A word that so many passages have is counted ahead of a search: for one that fewer have,
counting takes some 0.05 ms."""

COUNTED_AFTER = 10_000
"""After so many new passages, check whether words are to be counted again."""


if TYPE_CHECKING:
    What = TypeVar("What", str, int)
    """The key of a score: an id, or the key of a passage."""
    Leg = Mapping[str, float]
    """Id to score, best first: what one retriever found."""
    Factors = Mapping[str, float]
    """Name to number, in the order in which a search found them: a score is their product."""


def rrf(legs: Mapping[str, Leg], k: int) -> dict[str, float]:
    """Return reciprocal rank fusion: the sum over the legs of 1 / (k + rank), ranks from 1.

    Cormack, Clarke and Büttcher, SIGIR 2009. The most a sum can be is
    ``len(legs) / (k + 1)``.
    """
    fused: dict[str, float] = {}
    for leg in legs.values():
        part = {id: 1 / (k + rank) for rank, id in enumerate(leg, start=1)}
        for id in fused.keys() & part.keys():
            part[id] += fused[id]
        fused.update(part)
    return fused


def convex(
    legs: Mapping[str, Mapping[What, float]],
    shares: Mapping[str, float],
    vector_min: float,
) -> dict[What, float]:
    """Return a weighted sum of the legs' scores, each brought to 0..1 first.

    Full text is divided by its best score, since zero means "no word in common". A
    cosine is stretched from ``vector_min``, below which it means nothing, to the
    best one. Shares are taken relative to those of the legs that found something,
    so a leg that found nothing takes nothing away.
    """
    found = {name: leg for name, leg in legs.items() if leg}
    total = sum(shares[name] for name in found)
    fused: dict[What, float] = {}
    for name, leg in found.items():
        low = vector_min if name == "vector" else 0.0
        high = max(leg.values())
        if name == "vector":
            high = max(high, SURE_COSINE)
        share = shares[name] / total if total else 1 / len(found)
        width = high - low
        if width <= 0:
            part = dict.fromkeys(leg, share)
        else:
            part = {id: share * ((score - low) / width) for id, score in leg.items()}
        for id in fused.keys() & part.keys():
            part[id] += fused[id]
        fused.update(part)
    return fused


GRACE_DAYS = 7
"""Days in which a record does not age (docs/decisions/0021)."""


def recency(age_in_days: float, half_life: float) -> float:
    """Return 1 for the first ``GRACE_DAYS``, 0.5 ``half_life`` days later, towards 0.

    Exponential decay. Whole days count, so that a search repeated the same day says
    the same.
    """
    score: float = 0.5 ** (max(0, int(age_in_days) - GRACE_DAYS) / half_life)
    return score


def age_factor(recency_score: float, weight: float) -> float:
    """Return 1 for a new record, down to ``1 − weight`` for an old one."""
    return 1 - weight * (1 - recency_score)


def usage(accesses: int, boost: float) -> float:
    """Return what having been read counts: 1 for never, ``boost`` more for each tenfold."""
    return 1 + boost * log10(accesses + 1)


def relevance(product: float, plain: float) -> float:
    """Return how a record stands: 0 to 2, where 1 is a plain one.

    ``product`` is confidence × source weight × usage × status weight; ``plain`` is
    that of a record as sure as can be, of the best source and status, never read.
    """
    return min(MOST_RELEVANT, product / plain) if plain > 0 else 1.0


def relevance_factor(relevance_score: float, weight: float) -> float:
    """Return ``1 − weight`` to ``1 + weight``; 1 for a plain record."""
    return 1 + weight * (relevance_score - 1)


def rounded(value: float | None) -> float | None:
    """Round to the digits that results have."""
    return None if value is None else round(value, 6)


def feedback(helpful: float, rated: int) -> float:
    """Return the Bayesian average ``(helpful + 0.5 · 2) / (rated + 2)``, between 0 and 1.

    Unrated is 0.5, one helpful rating 2/3, one unhelpful rating 1/3.
    """
    return (helpful + PRIOR_MEAN * PRIOR_COUNT) / (rated + PRIOR_COUNT)


def feedback_factor(feedback_score: float, weight: float) -> float:
    """Return ``1 − weight`` to ``1 + weight``; 1 for what nobody rated."""
    return 1 + 2 * weight * (feedback_score - PRIOR_MEAN)


RE_ORDERING = frozenset(("feedback", "cap", "same_file", "turn"))
"""Factors that come when it is settled, by the score as it stands, which results there are."""


def score_of(factors: Factors) -> float:
    """Return the product of the factors in their order, to the digits that results are given with.

    What ``RE_ORDERING`` factors multiply is a score that has decided something, so it is
    rounded first: to the last digit it can differ from the product.
    """
    score = 1.0
    for name, number in factors.items():
        score = (round(score, 6) if name in RE_ORDERING else score) * number
    return round(score, 6)


def relative(
    scores: Mapping[What, float], within: Iterable[What] | None = None
) -> dict[What, float]:
    """Return the scores, of the keys ``within`` alone, divided by the highest of them."""
    kept = dict(scores) if within is None else {id: scores[id] for id in within if id in scores}
    most = max(kept.values(), default=0.0)
    return {id: score / most for id, score in kept.items()} if most > 0 else {}


def best_first(scores: Mapping[What, float]) -> dict[What, float]:
    """Return the same scores, the highest first; ties by id or key."""
    # The order by id is kept among equals: two sorts without a call of Python a score.
    ids = sorted(sorted(scores), key=scores.__getitem__, reverse=True)
    return {id: scores[id] for id in ids}
