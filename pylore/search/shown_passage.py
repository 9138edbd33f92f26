"""A changelog among the results: which of its entries is shown."""

from __future__ import annotations

from ..core import scoring
from ..core.query import version_of
from . import tuning
from .legs import coverage
from .score import plain, stand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..core.model import Hit
    from ..core.settings import Settings
    from ..core.text import Query
    from ..store.protocols import SearchStore as Store
    from .legs import Matches


def show_newest(store: Store, query: Query, hits: list[Hit], found: Matches) -> None:
    """Makes the best entry of each changelog the passage that is shown of it.

    Of those that match nearly as well as the best one it is the one with most of the query's
    words; of several the one of the version that the query names, or else the newest.
    """
    asked = version_of(query.text)
    for hit in hits:
        scores = {
            key: score for rows in found.rows.values() for key, id, score in rows if id == hit.id
        }
        enough = tuning.AS_GOOD * scores.get(found.passage[hit.id], 0.0)
        near = [key for key, score in scores.items() if score >= enough > 0]
        if len(near) < 2:
            continue
        worth = {}
        for key in near:
            title, everything = store.fulltext.indexed(key)
            version = version_of(_heading(hit, title))
            if asked:
                version = version[: len(asked)] if version[: len(asked)] == asked else ()
            worth[key] = (coverage(query, everything), version, scores[key])
        found.passage[hit.id] = max(worth, key=lambda key: worth[key])


def heading_of(store: Store, hit: Hit, key: int, text: str) -> str:
    """The heading of the entry that a passage is of; nothing where the passage begins with it."""
    heading = _heading(hit, store.fulltext.indexed(key)[0])
    return "" if heading in text[: len(heading) + len("###### ")] else heading


def _heading(hit: Hit, title: str) -> str:
    """What a passage has in its title beside its document's."""
    return title[len(hit.title) :].strip() if title.startswith(hit.title) else ""


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
