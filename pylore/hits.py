"""From ids and scores to results: what the store says of a node, and what age takes."""

from __future__ import annotations

from .model import Hit
from .rank import aged, recency, rounded

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


def best_first(hits: list[Hit]) -> list[Hit]:
    """The highest score first; of equal ones the nearer, then the id that sorts first."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.hops, hit.id))
