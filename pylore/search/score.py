"""Scores of results: products of named factors, from the columns of their nodes and from ratings.

The legs or the expansion give the factors of a match, ``describe`` the factors of age and
credibility; ``assemble`` joins both. Each later stage adds a factor.
"""

from __future__ import annotations

from ..core.errors import GraphUnavailable
from ..core.model import Hit
from ..core.scoring import factor, feedback, recency, relevance, usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..core.scoring import Factors
    from ..core.settings import Settings
    from ..graph.walk import Step
    from ..store import Store

AGE_WEIGHT = 0.05  # most that age takes off a score (docs/decisions/0021)

RELEVANCE_WEIGHT = 0.05
"""Maximum change of a score by relevance: 0 results change on sets (docs/decisions/0021)."""

SOURCE_WEIGHTS = {"user_edit": 2.0, "file": 1.5, "system": 1.2, "conversation": 1.0}
STATUS_WEIGHTS = {"confirmed": 1.2, "staged": 1.0, "superseded": 0.5, "retracted": 0.5}
"""Weights of sources and statuses. Not measured: sets have a single source and status."""

USAGE_BOOST = 0.5
"""Growth of relevance per tenfold of accesses, up to ``MOST_RELEVANT``. Not measured."""

PLAIN = max(SOURCE_WEIGHTS.values()) * max(STATUS_WEIGHTS.values())
"""Product of a certain record of the best source and status without accesses."""


def describe(store: Store, settings: Settings, hits: list[Hit]) -> list[Hit]:
    """Fill hits with the columns of their nodes; leave out nodes that are purged meanwhile."""
    rows = store.nodes.briefs([hit.id for hit in hits])
    hits = [hit for hit in hits if hit.id in rows]
    for hit in hits:
        hit.type, hit.title, hit.file, hit.line_start, hit.line_end, age = rows[hit.id][:6]
        stand(hit, settings, age, rows[hit.id][6:])
    return hits


def stand(
    hit: Hit, settings: Settings, age: float, credibility: tuple[float, str, str, int]
) -> None:
    """Set the recency and credibility of a hit, and the factors of both."""
    hit.credibility = credibility
    hit.recency_score = round(recency(age, settings.recency_half_life), 6)
    hit.standing = {
        "age": factor(hit.recency_score, AGE_WEIGHT),
        "relevance": factor(relevance(product(credibility, settings), PLAIN), RELEVANCE_WEIGHT),
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
    return usage(accesses, USAGE_BOOST if settings.counts_usage else 0.0)


def led(hit: Hit, step: Step) -> Hit:
    """Set the way of a hit; return the hit."""
    hit.path = [one.id for one in step.steps()]
    hit.hops, hit.edge, hit.way = len(hit.path) - 1, step.relation, step
    return hit


def assemble(hits: Iterable[Hit], matched: Mapping[str, Factors]) -> list[Hit]:
    """Return the hits with their scores, best first; ``matched`` has the factors of each match.

    A score can exceed 1 until ``rated`` has put the hits in order.
    """
    hits = [*hits]
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
            hit.times("feedback", factor(2 * score, settings.feedback_weight))
    hits = best_first(hits) if ratings else hits
    for hit in hits:
        if hit.score > 1:
            hit.times("cap", 1 / hit.score)
    return hits


def best_first(hits: Iterable[Hit]) -> list[Hit]:
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
