"""Diversity of the first results: maximal marginal relevance, and not too many of one category."""

from __future__ import annotations

from ..core.vocabulary import CODE_IDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..core.model import Hit
    from ..core.settings import Settings
    from ..store.protocols import SearchStore as Store
    from .legs import Matches

    Pair = tuple[int, int]

WINDOW = 20
"""First results that may change places."""

SIMILAR = 0.7
"""Cosine from which texts count as similar, up to 1 for the same text. Recall@5 of hotpot, musique
and 150 PEPs at depth 0 is 80.0, 57.5 and 68.3; with 0 it is 79.0, 56.7 and 61.3, and with
``mmr_lambda`` 1 it is 78.0, 57.5 and 67.0."""

TOP, SAME_CATEGORY = 5, 2
"""Most results of one category among the first ``TOP``, if there is a third category to show."""


def diversify(store: Store, settings: Settings, hits: list[Hit], found: Matches) -> list[Hit]:
    """Return the hits in the order of maximal marginal relevance; the first one stays.

    If they have three categories or more, no category comes more than ``SAME_CATEGORY`` times
    among the first ``TOP`` while another is left. A hit that is now below a lower one gets its
    score. Code stays in its order: a question about code means all places, also those that say
    the same.
    """
    head = hits[:WINDOW]
    known = store.nodes.categories([hit.id for hit in head], settings.category_tags)
    categories = [known.get(hit.id) for hit in head] if known else []
    if len(set(known.values())) + categories.count(None) < SAME_CATEGORY + 1:
        categories = []
    similar = _similarities(store, head, found) if found.legs.get("vector") else {}
    if not similar and not categories:
        return hits
    order = mmr([hit.score for hit in head], similar, settings.mmr_lambda, categories)
    least = head[0].score
    for place in order:
        if head[place].score > least:
            head[place].times("diversity", least / head[place].score)
        least = head[place].score
    return [head[place] for place in order] + hits[WINDOW:]


def mmr(
    scores: Sequence[float],
    similar: Mapping[Pair, float],
    weight: float,
    categories: Sequence[str | None] = (),
) -> list[int]:
    """Return the places of a ranked list in the order of maximal marginal relevance.

    Next comes the place with the largest ``weight · score / best score − (1 − weight) · its
    largest similarity to a place before`` (Carbonell and Goldstein, SIGIR 1998). Ties keep their
    order; place 0 comes first.

    Args:
        scores: of each place, falling; a score higher than the one before counts as that.
        similar: similarity of places ``(i, j)``, i < j, 0 to 1.
        weight: 1 looks at scores alone, 0 at similarities alone.
        categories: of each place, None for a category of its own.
    """
    worth: list[float] = []
    for score in scores:
        relative = score / scores[0] if scores[0] > 0 else 0.0
        worth.append(min(relative, worth[-1]) if worth else 1.0)
    nearest = [0.0] * len(worth)
    rest = [*range(len(worth))]
    order: list[int] = []
    taken: dict[str | None, int] = {None: -len(worth)}
    while rest:
        allowed = rest
        if categories and len(order) < TOP:
            allowed = [i for i in rest if taken.get(categories[i], 0) < SAME_CATEGORY] or rest
        place = max(allowed, key=lambda i: weight * worth[i] - (1 - weight) * nearest[i])
        place = place if order else 0
        rest.remove(place)
        order.append(place)
        if categories:
            taken[categories[place]] = taken.get(categories[place], 0) + 1
        for i in rest:
            nearest[i] = max(nearest[i], similar.get((min(i, place), max(i, place)), 0.0))
    return order


def _similarities(store: Store, hits: Sequence[Hit], found: Matches) -> dict[Pair, float]:
    """Return how similar the shown passages of two hits are, for the places of similar ones."""
    texts = [hit.id for hit in hits if not hit.id.startswith(CODE_IDS)]
    unseen = [id for id in texts if id not in found.passage]
    first = store.nodes.first_passages(unseen) if unseen else {}
    keys = {id: first.get(id, found.passage.get(id, -1)) for id in texts}
    cosines = store.vectors.cosines([*keys.values()]) if len(keys) > 1 else {}
    places = [(place, keys[hit.id]) for place, hit in enumerate(hits) if hit.id in keys]
    similar = {}
    for at, (i, one) in enumerate(places):
        for j, other in places[at + 1 :]:
            cosine = cosines.get((min(one, other), max(one, other)), 0.0)
            if cosine > SIMILAR:
                similar[i, j] = (cosine - SIMILAR) / (1 - SIMILAR)
    return similar
