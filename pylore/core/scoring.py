"""Fuse ranked lists, and compute scores from age, credibility and ratings."""

from __future__ import annotations

from math import log10

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import TypeVar

    What = TypeVar("What", str, int)
    """The key of a score: an id, or the key of a passage."""
    Leg = Mapping[str, float]
    """Results of a retriever: id to score, best first."""
    Factors = Mapping[str, float]
    """Name to number, in the order in which a search found them: a score is their product."""

SURE_COSINE = 0.5
"""A best cosine below this is not stretched to a full score. Not measured."""
MOST_RELEVANT = 2.0
"""Maximum of ``relevance`` (docs/decisions/0021). Not measured: on the sets records are alike."""
PRIOR_MEAN = 0.5
"""The prior mean of ratings."""
PRIOR_COUNT = 2
"""Ratings that the prior is worth. Measured with ``feedback_weight`` as a whole: 1.6
points of recall@5 (docs/decisions/0021)."""
GRACE_DAYS = 7
"""Days in which a record does not age (docs/decisions/0021)."""

# --- words and passages

MAX_TERMS = 200
"""Maximum number of words of a query. Not measured."""
PASSAGE_WORDS = 200
"""Words of a passage: long texts are ranked by their best passages. That took recall@5
from 50.8 to 62.3 (docs/decisions/0006); other lengths were not measured."""
LEAST_PASSAGE = 50
"""Words from which a heading ends a passage: recall@5 on PEPs at depth 1 is 77.2 with 50, and 77.0
with 1 (docs/decisions/0006)."""
PREFIX_LENGTH = 3
"""Minimum length of a word used as a prefix. Not measured."""
ENDING = 2
"""Number of last characters of a word that may differ in inflected forms. Not measured."""

# --- full text over many passages (store.fulltext, docs/decisions/0006)

LARGE = 20_000
"""Passages of a collection from which not all matches are ranked; passages with a word are counted
up to this number."""
RAREST = 24
"""Words of a long query that are searched in a large collection. Recall@5 and @10 of PEPs: 66.7 and
72.9, with all words 67.1 and 74.2, in 0.85 of the time; with 16 words 62.1."""
ROOM = 8_000
"""Passages with a rare word of a short query that are ranked. Hit@10 of 160 queries
among 100,000 passages: 0.71 with 8,000 and more, 0.70 with 5,000, 0.68 with 3,000."""
FEW = 4
"""All matches are ranked if those with rare words are fewer than this share of the limit. Not
measured."""


def rrf(legs: Mapping[str, Leg], k: int) -> dict[str, float]:
    """Return reciprocal rank fusion: the sum over the legs of 1 / (k + rank), ranks from 1.
    Cormack, Clarke and Büttcher, SIGIR 2009."""
    fused: dict[str, float] = {}
    for leg in legs.values():
        _add(fused, {id: 1 / (k + rank) for rank, id in enumerate(leg, start=1)})
    return fused


def _add(fused: dict[What, float], part: dict[What, float]) -> None:
    for id in fused.keys() & part.keys():
        part[id] += fused[id]
    fused.update(part)


def convex(
    legs: Mapping[str, Mapping[What, float]], shares: Mapping[str, float], vector_min: float
) -> dict[What, float]:
    """Return a weighted sum of the legs' scores, each brought to 0..1 first.

    Full text is divided by its best score, since zero means "no word in common". A cosine is
    stretched from ``vector_min`` to the best one. Shares count relative to those of the legs that
    found something.
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
        if width > 0:
            _add(fused, {id: share * ((score - low) / width) for id, score in leg.items()})
        else:
            _add(fused, dict.fromkeys(leg, share))
    return fused


def recency(age_in_days: float, half_life: float) -> float:
    """Return 1 for the first ``GRACE_DAYS``, then the exponential decay of whole days."""
    score: float = 0.5 ** (max(0, int(age_in_days) - GRACE_DAYS) / half_life)
    return score


def factor(score: float, weight: float) -> float:
    """Return 1 for a score of 1, ``weight`` less for 0, ``weight`` more for 2."""
    return 1 + weight * (score - 1)


def usage(accesses: int, boost: float) -> float:
    """Return 1 without accesses, ``boost`` more for each factor of ten."""
    return 1 + boost * log10(accesses + 1)


def relevance(product: float, plain: float) -> float:
    """Return the relevance of a record, 0 to 2. ``product`` is confidence × source weight × usage ×
    status weight; ``plain`` that of a certain record of the best source and status, never read."""
    return min(MOST_RELEVANT, product / plain) if plain > 0 else 1.0


def rounded(value: float | None) -> float | None:
    """Round to the digits that results have."""
    return None if value is None else round(value, 6)


def feedback(helpful: float, rated: int) -> float:
    """Return the Bayesian average ``(helpful + 0.5 · 2) / (rated + 2)``; 0 without a rating."""
    return (helpful + PRIOR_MEAN * PRIOR_COUNT) / (rated + PRIOR_COUNT) if rated else 0.0


RE_ORDERING = frozenset(("feedback", "cap", "same_file", "turn"))
"""Factors of a score that has already decided which results there are."""


def score_of(factors: Factors) -> float:
    """Return the product of the factors in their order, rounded before each of ``RE_ORDERING``."""
    score = 1.0
    for name, number in factors.items():
        score = (round(score, 6) if name in RE_ORDERING else score) * number
    return round(score, 6)


def relative(
    scores: Mapping[What, float], within: Iterable[What] | None = None
) -> dict[What, float]:
    """Return the scores of the keys ``within``, or of all, divided by the highest of them."""
    kept = dict(scores) if within is None else {id: scores[id] for id in within if id in scores}
    most = max(kept.values(), default=0.0)
    return {id: score / most for id, score in kept.items()} if most > 0 else {}


def best_first(scores: Mapping[What, float]) -> dict[What, float]:
    """Return the same scores, the highest first; ties by id or key."""
    # Sorting is stable: two sorts without a call of Python a score.
    ids = sorted(sorted(scores), key=scores.__getitem__, reverse=True)
    return {id: scores[id] for id in ids}
