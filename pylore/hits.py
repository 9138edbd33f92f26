"""From ids and scores to results: what the store says of a node, what age and ratings do."""

from __future__ import annotations

from .errors import GraphUnavailable
from .model import Hit
from .rank import aged, boosted, feedback, recency, rounded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .settings import Settings
    from .store import Store


def describe(store: Store, settings: Settings, hits: list[Hit]) -> list[Hit]:
    """Fills in what the table of nodes says; a node that is purged meanwhile is left out."""
    rows = store.nodes.briefs([hit.id for hit in hits])
    hits = [hit for hit in hits if hit.id in rows]
    for hit in hits:
        hit.type, hit.title, hit.file, hit.line_start, hit.line_end, age = rows[hit.id]
        hit.recency_score = rounded(recency(age, settings.recency_half_life))
    return hits


def adjust(hits: list[Hit], settings: Settings) -> None:
    """Takes off each score what age costs. The hits have been described."""
    for hit in hits:
        hit.score = round(aged(hit.score, hit.recency_score or 0.0, settings.recency_weight), 6)


def rated(store: Store, settings: Settings, hits: list[Hit], notes: list[str]) -> list[Hit]:
    """The same hits in the order that ratings give them; which ones there are is settled."""
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
