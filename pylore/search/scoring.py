"""From ids and scores to results: what the store says of a node, what age and ratings do."""

from __future__ import annotations

from ..core.errors import GraphUnavailable, VerdictsUnavailable
from ..core.model import Hit
from ..core.scoring import aged, boosted, feedback, recency, relevance, rounded, usage, weighed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core.settings import Settings
    from ..store import Store


def describe(store: Store, settings: Settings, hits: list[Hit]) -> list[Hit]:
    """Fills in what the table of nodes says; a node that is purged meanwhile is left out."""
    rows = store.nodes.briefs([hit.id for hit in hits])
    hits = [hit for hit in hits if hit.id in rows]
    for hit in hits:
        hit.type, hit.title, hit.file, hit.line_start, hit.line_end, age = rows[hit.id][:6]
        hit.credibility = rows[hit.id][6:]
        hit.recency_score = rounded(
            recency(age, settings.recency_half_life, settings.recency_grace)
        )
    return hits


def adjust(hits: list[Hit], settings: Settings) -> None:
    """Multiplies each score by what age and credibility count. The hits have been described.

    A score can exceed 1 until ``rated`` has put the hits in order.
    """
    weight = settings.relevance_weight
    best = plain(settings)
    for hit in hits:
        score = aged(hit.score, hit.recency_score or 0.0, settings.recency_weight)
        if weight:
            score = weighed(score, relevance(product(hit, settings), best), weight)
        hit.score = round(score, 6)


def plain(settings: Settings) -> float:
    """The product of a record that is as sure as can be, and was never read."""
    return max(settings.source_weights.values()) * max(settings.status_weights.values())


def product(hit: Hit, settings: Settings) -> float:
    """Confidence × source weight × usage × status weight."""
    confidence, source, status, accesses = hit.credibility
    weight = settings.source_weights[source] * settings.status_weights[status]
    return confidence * weight * usage(accesses, settings.usage_boost)


def explained_relevance(hit: Hit, settings: Settings) -> dict[str, object]:
    """Every factor of a hit's relevance, by name."""
    confidence, source, status, accesses = hit.credibility
    return {
        "score": rounded(relevance(product(hit, settings), plain(settings))),
        "weight": settings.relevance_weight,
        "confidence": confidence,
        "source": source,
        "source_weight": settings.source_weights[source],
        "accesses": accesses,
        "usage": rounded(usage(accesses, settings.usage_boost)),
        "status": status,
        "status_weight": settings.status_weights[status],
    }


def rated(store: Store, settings: Settings, hits: list[Hit], notes: list[str]) -> list[Hit]:
    """The same hits in the order that ratings give them; which ones there are is settled.

    No score is above 1 thereafter.
    """
    hits = _rated(store, settings, hits, notes)
    for hit in hits:
        hit.score = min(1.0, hit.score)
    return hits


def _rated(store: Store, settings: Settings, hits: list[Hit], notes: list[str]) -> list[Hit]:
    if not settings.feedback_weight:
        return hits
    try:
        ratings = store.ratings.of([hit.id for hit in hits])
    except GraphUnavailable as error:
        notes.append(f"{error}; without feedback")
        return hits
    for hit in hits:
        if hit.id in ratings:
            score = feedback(*ratings[hit.id])
            hit.feedback_score = round(score, 6)
            hit.score = round(boosted(hit.score, score, settings.feedback_weight), 6)
    return best_first(hits) if ratings else hits


def best_first(hits: list[Hit]) -> list[Hit]:
    """The highest score first; of equal ones the better rated, the nearer, the first id."""
    return sorted(hits, key=lambda hit: (-hit.score, -hit.feedback_score, hit.hops, hit.id))


def say_verdicts(store: Store, hits: Sequence[Hit], notes: list[str]) -> None:
    """Writes into each hit whether what it is about still holds, as far as that is known."""
    try:
        anchors = store.nodes.anchored([hit.id for hit in hits])
    except VerdictsUnavailable as error:
        notes.append(str(error))
        return
    if anchors:
        from ..anchors.kept_verdicts import add_verdicts

        add_verdicts(store, hits, anchors, notes)
