"""Diversity of the first results: maximal marginal relevance, and not too many of one category."""

from __future__ import annotations

from ..core.vocabulary import CODE_IDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..core.model import Hit
    from ..core.settings import Settings
    from ..store import Store
    from .legs import Matches

    Pair = tuple[int, int]

WINDOW = 20
"""First results that may change places."""

SIMILAR = 0.8
"""Cosine from which texts count as similar, up to 1 for the same text. Recall@5 of hotpot, musique
and PEPs at depth 0 is 78.5, 57.5 and 68.1 with 0.8, 80.0, 57.5 and 67.0 with 0.7; with 0, PEPs lose
six points. With ``mmr_lambda`` 1 it is 78.0, 57.5 and 68.1."""

TOP, SAME_CATEGORY = 5, 2
"""Most results of one category among the first ``TOP``, if there is a third category to show."""


def diversify(store: Store, settings: Settings, hits: list[Hit], found: Matches) -> list[Hit]:
    """Return the hits in the order of maximal marginal relevance; the first one stays.

    If they have three categories or more, no category comes more than ``SAME_CATEGORY`` times
    among the first ``TOP`` while another is left. Code stays in its order: a question about code
    means all places, also those that say the same.
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
        scores: of each place, falling.
        similar: similarity of places ``(i, j)``, i < j, 0 to 1.
        weight: 1 looks at scores alone, 0 at similarities alone.
        categories: of each place, None for a category of its own.
    """
    worth = [score / (scores[0] or 1.0) for score in scores]
    nearest = [0.0] * len(worth)
    rest = [*range(len(worth))]
    order: list[int] = []
    while rest:
        allowed = rest
        if categories and len(order) < TOP:
            taken = [categories[i] for i in order if categories[i]]
            allowed = [i for i in rest if taken.count(categories[i]) < SAME_CATEGORY] or rest
        place = max(allowed, key=lambda i: weight * worth[i] - (1 - weight) * nearest[i])
        rest.remove(place)
        order.append(place)
        for i in rest:
            nearest[i] = max(nearest[i], similar.get((min(i, place), max(i, place)), 0.0))
    return order


def _similarities(store: Store, hits: Sequence[Hit], found: Matches) -> dict[Pair, float]:
    """Return how similar the shown passages of two hits are, for the places of similar ones."""
    texts = [hit.id for hit in hits if not hit.id.startswith(CODE_IDS)]
    keys = {**store.nodes.first_passages(texts), **found.passage}
    where = {keys[hit.id]: at for at, hit in enumerate(hits) if hit.id in texts and hit.id in keys}
    return {
        (min(where[one], where[other]), max(where[one], where[other])):
            (cosine - SIMILAR) / (1 - SIMILAR)
        for (one, other), cosine in store.vectors.cosines([*where]).items() if cosine > SIMILAR
    }  # fmt: skip
