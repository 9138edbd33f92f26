"""Which fact a result that is a thing shows, and that the result stands as this fact does."""

from __future__ import annotations

from ..core import scoring
from . import tuning
from .fulltext import coverage
from .scoring import plain, stand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..core.model import Hit
    from ..core.settings import Settings
    from ..core.text import Query
    from ..store.protocols import SearchStore as Store
    from .retrieve import Matches


def show_facts(
    store: Store, settings: Settings, query: Query, hits: Iterable[Hit], found: Matches
) -> None:
    """Lets each thing that has a fact nearer to the query than its name and text show that.

    How near is what the sentence has of the query's words, and a share of its cosine, × how
    the fact stands (``scoring.standing``). Age, confidence, source, status and accesses are
    those of the fact from then on.
    """
    hits = [hit for hit in hits if hit.id in found.of_things]
    facts = store.facts.shown([key for hit in hits for key in found.of_things[hit.id]])
    if not facts:
        return
    best = plain(settings)
    for hit in hits:
        shown, cosines = found.passage[hit.id], found.of_things[hit.id]
        most = 0.0
        if shown not in facts:
            most = _nearness(query, store.fulltext.indexed(shown)[1], cosines.get(shown, 0.0))
        for key, cosine in cosines.items():
            if key not in facts:
                continue
            sentence, sure, source, status, accesses, age = facts[key]
            near = _nearness(query, sentence, cosine)
            before = hit.recency_score, hit.credibility, hit.standing
            stand(hit, settings, best, age, (sure, source, status, accesses))
            if scoring.facts is not None:
                scoring.facts.append((hit.id, [("", sure, accesses, hit.recency_score or 0.0)]))
            near *= hit.standing["age"] * hit.standing["relevance"]
            if near > most:
                most, found.passage[hit.id] = near, key
            else:
                hit.recency_score, hit.credibility, hit.standing = before


def _nearness(query: Query, text: str, cosine: float) -> float:
    return coverage(query, text) + tuning.COSINE_OF_FACT * max(0.0, cosine)
