"""Fuse ranked lists, and compute scores from age and ratings."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import TypeVar

    What = TypeVar("What", str, int)
    """The key of a score: an id, or the key of a passage."""
    Leg = Mapping[str, float]
    """Results of a retriever: id to score, best first."""

SURE_COSINE = 0.5
"""A best cosine below this is not stretched to a full score."""
PRIOR_MEAN, PRIOR_COUNT = 0.5, 2
"""The prior mean of ratings, and the number of ratings that the prior is worth."""
GRACE_DAYS = 7
"""Days in which a record does not age."""


def rrf(legs: Mapping[str, Leg], k: int) -> dict[str, float]:
    """Return reciprocal rank fusion: the sum over the legs of 1 / (k + rank), ranks from 1.
    Cormack, Clarke and Büttcher, SIGIR 2009."""
    fused: dict[str, float] = {}
    for leg in legs.values():
        for rank, id in enumerate(leg, start=1):
            fused[id] = fused.get(id, 0.0) + 1 / (k + rank)
    return fused


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
        low, high = 0.0, max(leg.values())
        if name == "vector":
            low, high = vector_min, max(high, SURE_COSINE)
        share = shares[name] / total if total else 1 / len(found)
        width = high - low
        for id, score in leg.items():
            at = (score - low) / width if width > 0 else 1.0
            fused[id] = fused.get(id, 0.0) + share * at
    return fused


def recency(age_in_days: float, half_life: float) -> float:
    """Return 1 for the first ``GRACE_DAYS``, then the exponential decay of whole days."""
    score: float = 0.5 ** (max(0, int(age_in_days) - GRACE_DAYS) / half_life)
    return score


def factor(score: float, weight: float) -> float:
    """Return 1 for a score of 1, ``weight`` less for 0, ``weight`` more for 2."""
    return 1 + weight * (score - 1)


def rounded(value: float | None) -> float | None:
    """Round to the digits that results have."""
    return None if value is None else round(value, 6)


def feedback(helpful: float, rated: int) -> float:
    """Return the Bayesian average ``(helpful + 0.5 · 2) / (rated + 2)``; 0 without a rating."""
    return (helpful + PRIOR_MEAN * PRIOR_COUNT) / (rated + PRIOR_COUNT) if rated else 0.0


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
