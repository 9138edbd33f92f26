"""Results that repeat each other, or are all of one category, are spread; others stay.

Two results repeat each other where the passages they show have a cosine of at least
``duplicate_similarity``. The order is that of maximal marginal relevance (Carbonell
and Goldstein, SIGIR 1998), in which only repeats count as similar.
"""

from __future__ import annotations

from math import acos, pi, sqrt

from . import tuning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..core.model import Hit
    from ..core.settings import Settings
    from ..store.protocols import SearchStore as Store

    Pair = tuple[int, int]


_LEAST_CATEGORIES = 3
"""With fewer, to show one of them less often would bring nothing else in. What has none is of
a category of its own."""


def diversify(
    store: Store,
    settings: Settings,
    hits: list[Hit],
    passage: Mapping[str, int],
    *,
    has_vectors: bool = True,
    explain: bool = False,
) -> list[Hit]:
    """The same hits, those that repeat better ones further down; the first one stays.

    Where they are of three categories or more, none comes more often than
    ``tuning.SAME_CATEGORY`` times among the first ``tuning.TOP`` while another is left.
    ``passage`` has the key of the passage that a hit shows; without one it is the
    first. A hit that is now below a lower one gets that one's score, so that scores
    still fall from the top down.
    """
    head = hits[: tuning.WINDOW]
    keys = _keys(store, head, passage) if has_vectors else []
    known = store.nodes.categories([hit.id for hit in head], settings.category_tags)
    categories = [known.get(hit.id) for hit in head] if known else []
    if len(set(known.values())) + categories.count(None) < _LEAST_CATEGORIES:
        categories = []
    repeats = _repeats(store, keys, settings.duplicate_similarity) if has_vectors else {}
    if not repeats and not categories:
        return hits
    order = mmr([hit.score for hit in head], repeats, settings.mmr_lambda, categories)
    if explain:
        _explain(head, order, repeats, categories)
    if order != [*range(len(head))]:
        least = head[0].score
        for hit in (head[place] for place in order):
            if hit.score > least:
                hit.times("diversity", least / hit.score)
            least = hit.score
    return [head[place] for place in order] + hits[tuning.WINDOW :]


def stand(
    store: Store,
    settings: Settings,
    hits: list[Hit],
    passage: Mapping[str, int],
    has_vectors: bool,
) -> bool:
    """Whether these would stay as they are, whatever comes after them."""
    head = hits[: tuning.WINDOW]
    known = store.nodes.categories([hit.id for hit in head[: tuning.TOP]], settings.category_tags)
    if len(known) > tuning.SAME_CATEGORY:
        return False
    keys = _keys(store, head, passage) if has_vectors else []
    return not (has_vectors and _repeats(store, keys, settings.duplicate_similarity))


def mmr(
    scores: Sequence[float],
    repeats: Mapping[Pair, float],
    weight: float,
    categories: Sequence[str | None] = (),
) -> list[int]:
    """The places of a ranked list, in the order of maximal marginal relevance.

    Next comes the place with the largest ``weight · score / best score
    − (1 − weight) · its largest cosine to one that came before``. Ties, and what is
    not in ``repeats``, keep their order; place 0 comes first.

    Args:
        scores: of each place; one that is higher than the place before counts as that.
        repeats: cosines of places ``(i, j)``, i < j, that repeat each other.
        weight: 1 looks at scores alone, 0 at repeats alone.
        categories: of each place, as far as it has one.
    """
    worth = _falling(scores)
    cosine = [0.0] * len(worth)
    rest = [*range(len(worth))]
    order: list[int] = []
    taken: dict[str | None, int] = {}
    while rest:
        allowed = rest
        if categories and order and len(order) < tuning.TOP:
            most = tuning.SAME_CATEGORY
            allowed = [i for i in rest if taken.get(categories[i], 0) < most] or rest
        if order:
            place = max(allowed, key=lambda i: weight * worth[i] - (1 - weight) * cosine[i])
        else:
            place = 0
        rest.remove(place)
        order.append(place)
        if categories and categories[place]:
            taken[categories[place]] = taken.get(categories[place], 0) + 1
        for i in rest:
            cosine[i] = max(cosine[i], repeats.get((min(i, place), max(i, place)), 0.0))
    return order


def _falling(scores: Sequence[float]) -> list[float]:
    """Scores relative to the first, none higher than the one before."""
    worth: list[float] = []
    for score in scores:
        relative = score / scores[0] if scores[0] > 0 else 0.0
        worth.append(min(relative, worth[-1]) if worth else 1.0)
    return worth


def differing_signs(cosine: float, dimension: int) -> float:
    """The most signs in which two vectors of at least this cosine are taken to differ.

    Of random directions a share of angle / π differ (Charikar, STOC 2002); some standard
    deviations are added.
    """
    share = acos(max(-1.0, min(1.0, cosine))) / pi
    deviation = sqrt(dimension * share * (1 - share))
    return float(dimension * share + deviation * tuning.SIGN_DEVIATIONS)


def _keys(store: Store, hits: Sequence[Hit], passage: Mapping[str, int]) -> list[int]:
    """The passage of each hit; -1 for one without text."""
    unseen = [hit.id for hit in hits if hit.id not in passage]
    first = store.nodes.first_passages(unseen) if unseen else {}
    return [passage.get(hit.id) or first.get(hit.id, -1) for hit in hits]


def _repeats(store: Store, keys: Sequence[int], least: float) -> dict[Pair, float]:
    """Cosines of the places whose passages repeat each other.

    The signs of vectors are compared first: that costs a tenth, and rules nearly all out.
    """
    signs = store.vectors.signs(keys)
    if len(signs) < 2:
        return {}
    numbers = [(place, int.from_bytes(signs[key], "little"))
               for place, key in enumerate(keys) if key in signs]  # fmt: skip
    most = differing_signs(least, 8 * len(next(iter(signs.values()))))
    likely = [
        (i, j)
        for at, (i, one) in enumerate(numbers)
        for j, other in numbers[at + 1 :]
        if (one ^ other).bit_count() <= most
    ]
    if not likely:
        return {}
    cosines = store.vectors.cosines([(keys[i], keys[j]) for i, j in likely])
    return {pair: cosine for pair, cosine in zip(likely, cosines, strict=True) if cosine >= least}


def _explain(
    hits: Sequence[Hit],
    order: Sequence[int],
    repeats: Mapping[Pair, float],
    categories: Sequence[str | None],
) -> None:
    """Says of each hit its rank and score without this, which one before it repeats, and of
    which category it was taken to be."""
    for at, place in enumerate(order):
        near = max(
            ((repeats.get((min(i, place), max(i, place)), 0.0), i) for i in order[:at]),
            key=lambda found: found[0],
            default=(0.0, 0),
        )
        hit = hits[place]
        hit.explain = {
            **(hit.explain or {}),
            "diversity": {
                "rank": place + 1,
                "score": hit.score,
                "repeats": hits[near[1]].id if near[0] else None,
                "cosine": round(near[0], 6) if near[0] else None,
                "category": categories[place] if categories else None,
            },
        }
