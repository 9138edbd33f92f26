"""Scores of results: products of named factors, from the columns of their nodes and from ratings.

The legs or the expansion give the factors of a match, ``describe`` those of age and credibility;
``assemble`` joins both. Each later stage adds one factor.
"""

from __future__ import annotations

from ..core.errors import GraphUnavailable, VerdictsUnavailable
from ..core.model import Hit
from ..core.scoring import (
    age_factor,
    feedback,
    feedback_factor,
    recency,
    relevance,
    relevance_factor,
    rounded,
    usage,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..core.scoring import Factors
    from ..core.settings import Settings
    from ..store.protocols import SearchStore as Store


def describe(store: Store, settings: Settings, hits: list[Hit]) -> list[Hit]:
    """Fill hits with the columns of their nodes; leave out nodes that are purged meanwhile."""
    rows = store.nodes.briefs([hit.id for hit in hits])
    hits = [hit for hit in hits if hit.id in rows]
    best = plain(settings)
    for hit in hits:
        hit.type, hit.title, hit.file, hit.line_start, hit.line_end, age = rows[hit.id][:6]
        stand(hit, settings, best, age, rows[hit.id][6:])
    return hits


def stand(
    hit: Hit, settings: Settings, best: float, age: float, credibility: tuple[float, str, str, int]
) -> None:
    """Set the recency and credibility of a hit, and the factors of both."""
    hit.credibility = credibility
    fresh = recency(age, settings.recency_half_life, settings.recency_grace)
    hit.recency_score = round(fresh, 6)
    hit.standing = standing(hit, settings, best)


def standing(hit: Hit, settings: Settings, best: float) -> Factors:
    """Return what age and credibility count, ``best`` being what ``plain`` says."""
    weight = settings.relevance_weight
    return {
        "age": age_factor(hit.recency_score or 0.0, settings.recency_weight),
        "relevance": relevance_factor(relevance(product(hit.credibility, settings), best), weight)
        if weight
        else 1.0,
    }


def plain(settings: Settings) -> float:
    """Return the product of a record that is as sure as can be, and was never read."""
    return max(settings.source_weights.values()) * max(settings.status_weights.values())


def fact_rank(credibility: tuple[float, str, str, int], age: float, settings: Settings) -> float:
    """Return the same × what its age in days leaves: by this, facts are ranked among each other."""
    fresh = recency(age, settings.recency_half_life, settings.recency_grace)
    return product(credibility, settings) * fresh


def product(credibility: tuple[float, str, str, int], settings: Settings) -> float:
    """Return confidence × source weight × usage × status weight."""
    confidence, source, status, accesses = credibility
    weight = settings.source_weights[source] * settings.status_weights[status]
    return confidence * weight * usage(accesses, settings.usage_boost)


def assemble(hits: Iterable[Hit], matched: Mapping[str, Factors]) -> list[Hit]:
    """Return the hits with their scores, best first; ``matched`` has the factors of each match.

    A score can exceed 1 until ``rated`` has put the hits in order.
    """
    hits = list(hits)
    for hit in hits:
        hit.factors = {**matched[hit.id], **hit.standing}
    return best_first(hits)


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
            hit.times("feedback", feedback_factor(score, settings.feedback_weight))
    hits = best_first(hits) if ratings else hits
    for hit in hits:
        if hit.score > 1:
            hit.times("cap", 1 / hit.score)
    return hits


def best_first(hits: Iterable[Hit]) -> list[Hit]:
    """Return the highest score first; of equal ones the better rated, the nearer, the first id."""
    return sorted(hits, key=lambda hit: (-hit.score, -hit.feedback_score, hit.hops, hit.id))


# --- what is said beside the score


def explained_relevance(hit: Hit, settings: Settings) -> dict[str, object]:
    """Return every factor of a hit's relevance, by name."""
    confidence, source, status, accesses = hit.credibility
    return {
        "score": rounded(relevance(product(hit.credibility, settings), plain(settings))),
        "weight": settings.relevance_weight,
        "confidence": confidence,
        "source": source,
        "source_weight": settings.source_weights[source],
        "accesses": accesses,
        "usage": rounded(usage(accesses, settings.usage_boost)),
        "status": status,
        "status_weight": settings.status_weights[status],
    }


def explain_factors(hits: Iterable[Hit]) -> None:
    """Put the factors of each score, with nine digits, into the ``explain`` of the hit."""
    for hit in hits:
        factors = {name: round(number, 9) for name, number in hit.factors.items()}
        hit.explain = {"factors": factors, **(hit.explain or {})}


def attach_verdicts(
    store: Store, hits: Sequence[Hit], notes: list[str], *, explain: bool = False
) -> None:
    """Set the verdict of each hit that has anchors; with ``explain``, of its claims too."""
    try:
        anchors = store.nodes.anchored([hit.id for hit in hits])
    except VerdictsUnavailable as error:
        notes.append(str(error))
        return
    if anchors:
        from ..anchors.verdict_cache import add_verdicts

        add_verdicts(store, hits, anchors, notes, explain=explain)  # type: ignore[arg-type]  # a hub has no anchors
