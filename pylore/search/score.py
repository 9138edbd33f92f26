"""From ids and factors to results in order: what the store says of a node, what ratings do.

A score is the product of named factors (``Hit.factors``). Those of what a hit matches come
from the legs or from the rule of expansion, those of its age and credibility from
``describe``; ``assemble`` joins them. What comes after adds one factor each.
"""

from __future__ import annotations

from math import acos, pi, sqrt

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
    score_of,
    usage,
)
from ..core.vocabulary import CODE_IDS
from . import tuning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..core.scoring import Factors
    from ..core.settings import Settings
    from ..store.protocols import SearchStore as Store


def describe(store: Store, settings: Settings, hits: list[Hit]) -> list[Hit]:
    """Fills in what the table of nodes says; a node that is purged meanwhile is left out."""
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
    """Gives a hit its age in days and its credibility, and what they count."""
    hit.credibility = credibility
    fresh = recency(age, settings.recency_half_life, settings.recency_grace)
    hit.recency_score = round(fresh, 6)
    hit.standing = standing(hit, settings, best)


def standing(hit: Hit, settings: Settings, best: float) -> Factors:
    """Return what age and credibility count, ``best`` being what ``plain`` says."""
    weight = settings.relevance_weight
    return {
        "age": age_factor(hit.recency_score or 0.0, settings.recency_weight),
        "relevance": relevance_factor(relevance(product(hit, settings), best), weight)
        if weight
        else 1.0,
    }


def plain(settings: Settings) -> float:
    """Return the product of a record that is as sure as can be, and was never read."""
    return max(settings.source_weights.values()) * max(settings.status_weights.values())


def product(hit: Hit, settings: Settings) -> float:
    """Confidence × source weight × usage × status weight."""
    return _product(hit.credibility, settings)


def fact_rank(credibility: tuple[float, str, str, int], age: float, settings: Settings) -> float:
    """Return the same × what its age in days leaves: by this, facts are ranked among each other."""
    fresh = recency(age, settings.recency_half_life, settings.recency_grace)
    return _product(credibility, settings) * fresh


def _product(credibility: tuple[float, str, str, int], settings: Settings) -> float:
    confidence, source, status, accesses = credibility
    weight = settings.source_weights[source] * settings.status_weights[status]
    return confidence * weight * usage(accesses, settings.usage_boost)


def in_order(hits: Iterable[Hit], matched: Mapping[str, Factors]) -> list[Hit]:
    """Hits without a score yet, in the order of what they would have with these factors."""
    return sorted(
        hits,
        key=lambda hit: (-score_of({**matched[hit.id], **hit.standing}), hit.hops, hit.id),
    )


def assemble(hits: Iterable[Hit], matched: Mapping[str, Factors]) -> list[Hit]:
    """Gives hits their scores, and their order: id to what each one matches.

    A score can exceed 1 until ``rated`` has put the hits in order.
    """
    hits = list(hits)
    for hit in hits:
        hit.factors = {**matched[hit.id], **hit.standing}
    return best_first(hits)


def rated(store: Store, settings: Settings, hits: list[Hit], notes: list[str]) -> list[Hit]:
    """Return the same hits in the order that ratings give them; which ones there are is settled.

    No score is above 1 thereafter.
    """
    hits = _rated(store, settings, hits, notes)
    for hit in hits:
        if hit.score > 1:
            hit.times("cap", 1 / hit.score)
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
            hit.times("feedback", feedback_factor(score, settings.feedback_weight))
    return best_first(hits) if ratings else hits


def best_first(hits: Iterable[Hit]) -> list[Hit]:
    """Return the highest score first; of equal ones the better rated, the nearer, the first id."""
    return sorted(hits, key=lambda hit: (-hit.score, -hit.feedback_score, hit.hops, hit.id))


# --- what is said beside the score


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


def explain_factors(hits: Iterable[Hit]) -> None:
    """Says of each hit which factors its score is the product of, with nine digits each."""
    for hit in hits:
        factors = {name: round(number, 9) for name, number in hit.factors.items()}
        hit.explain = {"factors": factors, **(hit.explain or {})}


def attach_verdicts(
    store: Store, hits: Sequence[Hit], notes: list[str], *, explain: bool = False
) -> None:
    """Writes into each hit whether what it is about still holds, as far as that is known;
    to ``explain``, how far its claims do."""
    try:
        anchors = store.nodes.anchored([hit.id for hit in hits])
    except VerdictsUnavailable as error:
        notes.append(str(error))
        return
    if anchors:
        from ..anchors.verdict_cache import add_verdicts

        add_verdicts(store, hits, anchors, notes, explain=explain)  # type: ignore[arg-type]  # a hub has no anchors


if TYPE_CHECKING:
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
    """Return the same hits, those that repeat better ones further down; the first one stays.

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


def mmr_stand(
    store: Store,
    settings: Settings,
    hits: list[Hit],
    passage: Mapping[str, int],
    has_vectors: bool,
) -> bool:
    """Return whether these would stay as they are, whatever comes after them."""
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
    """Return the places of a ranked list, in the order of maximal marginal relevance.

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
    """Return the most signs in which two vectors of at least this cosine are taken to differ.

    Of random directions a share of angle / π differ (Charikar, STOC 2002); some standard
    deviations are added.
    """
    share = acos(max(-1.0, min(1.0, cosine))) / pi
    deviation = sqrt(dimension * share * (1 - share))
    return float(dimension * share + deviation * tuning.SIGN_DEVIATIONS)


def _keys(store: Store, hits: Sequence[Hit], passage: Mapping[str, int]) -> list[int]:
    """Return the passage of each hit; -1 for one without text, and for code: who asks for it
    wants all places that are meant, also those that say the same."""
    texts = [hit.id for hit in hits if not hit.id.startswith(CODE_IDS)]
    unseen = [id for id in texts if id not in passage]
    known = {**(store.nodes.first_passages(unseen) if unseen else {}), **passage}
    among = set(texts)
    return [known.get(hit.id, -1) if hit.id in among else -1 for hit in hits]


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
