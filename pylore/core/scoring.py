"""Fusing ranked lists, and what age, credibility and ratings do to a score."""

from __future__ import annotations

from math import log10

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    Leg = Mapping[str, float]
    """Id to score, best first: what one retriever found."""


def rrf(legs: Mapping[str, Leg], k: int) -> dict[str, float]:
    """Reciprocal rank fusion: the sum over the legs of 1 / (k + rank), ranks from 1.

    Cormack, Clarke and Büttcher, SIGIR 2009. The most a sum can be is
    ``len(legs) / (k + 1)``.
    """
    fused: dict[str, float] = {}
    for leg in legs.values():
        for rank, id in enumerate(leg, start=1):
            fused[id] = fused.get(id, 0.0) + 1 / (k + rank)
    return fused


SURE_COSINE = 0.5
"""A best cosine below this is not stretched to a full score."""


def convex(
    legs: Mapping[str, Leg], shares: Mapping[str, float], vector_min: float
) -> dict[str, float]:
    """A weighted sum of the legs' scores, each brought to 0..1 first.

    Full text is divided by its best score, since zero means "no word in common". A
    cosine is stretched from ``vector_min``, below which it means nothing, to the
    best one. Shares are taken relative to those of the legs that found something,
    so a leg that found nothing takes nothing away.
    """
    found = {name: leg for name, leg in legs.items() if leg}
    total = sum(shares[name] for name in found)
    fused: dict[str, float] = {}
    for name, leg in found.items():
        low = vector_min if name == "vector" else 0.0
        high = max(leg.values())
        if name == "vector":
            high = max(high, SURE_COSINE)
        share = shares[name] / total if total else 1 / len(found)
        for id, score in leg.items():
            scaled = (score - low) / (high - low) if high > low else 1.0
            fused[id] = fused.get(id, 0.0) + share * scaled
    return fused


def recency(age_in_days: float, half_life: float, grace: int = 0) -> float:
    """1 for the first ``grace`` days, 0.5 ``half_life`` days later, towards 0.

    Exponential decay. Whole days count, so that a search repeated the same day says
    the same.
    """
    score: float = 0.5 ** (max(0, int(age_in_days) - grace) / half_life)
    return score


def aged(score: float, recency_score: float, weight: float) -> float:
    """``score`` less at most ``weight`` of itself, the older the more."""
    return score * (1 - weight * (1 - recency_score))


def usage(accesses: int, boost: float) -> float:
    """What having been read counts: 1 for never, ``boost`` more for each tenfold."""
    return 1 + boost * log10(accesses + 1)


MOST_RELEVANT = 2.0
"""However often a record is read, it counts at most twice a plain one."""


def relevance(product: float, plain: float) -> float:
    """How a record stands: 0 to 2, where 1 is a plain one.

    ``product`` is confidence × source weight × usage × status weight; ``plain`` is
    that of a record as sure as can be, of the best source and status, never read.
    """
    return min(MOST_RELEVANT, product / plain) if plain > 0 else 1.0


def weighed(score: float, relevance_score: float, weight: float) -> float:
    """``score`` with at most ``weight`` of itself put on top or taken off."""
    return score * (1 + weight * (relevance_score - 1))


def rounded(value: float | None) -> float | None:
    """To the digits that results are given with."""
    return None if value is None else round(value, 6)


PRIOR_MEAN = 0.5
"""What the ratings of a node that nobody has rated are taken to be."""

PRIOR_COUNT = 2
"""How many ratings that belief is worth."""


def feedback(helpful: float, rated: int) -> float:
    """How far ratings lie from the middle: -0.5 to 0.5, neither reached; 0 for none.

    The Bayesian average ``(helpful + 0.5 · 2) / (rated + 2)``, less 0.5: one rating
    moves it by 1/6, and it takes many to come near an end.
    """
    return (helpful + PRIOR_MEAN * PRIOR_COUNT) / (rated + PRIOR_COUNT) - PRIOR_MEAN


def boosted(score: float, feedback_score: float, weight: float) -> float:
    """``score`` with at most ``weight`` of itself put on top or taken off."""
    return score * (1 + 2 * weight * feedback_score)


def best_first(scores: Mapping[str, float]) -> dict[str, float]:
    """The same scores, the highest first; ties by id."""
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0])))
