"""The ``explain`` object of a result: legs, factors and ranks behind the score."""

from __future__ import annotations

from ..core.scoring import relevance, rounded
from ..core.vocabulary import CODE_IDS, file_of
from .score import PLAIN, RELEVANCE_WEIGHT, SOURCE_WEIGHTS, STATUS_WEIGHTS, product, used

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core.model import Hit
    from ..core.settings import Settings
    from .legs import Matches


def explain(hits: Sequence[Hit], found: Matches, settings: Settings) -> None:
    """Set ``explain`` of each hit."""
    explain_ways(hits, settings)
    for hit in hits:
        confidence, source, status, accesses = hit.credibility
        explained: dict[str, object] = {
            "legs": {
                name: {"rank": [*leg].index(hit.id) + 1, "score": round(leg[hit.id], 6)}
                for name, leg in found.legs.items()
                if hit.id in leg
            },
            "fused": rounded(found.fused.get(hit.id)),
            "confidence": rounded(found.confidence),
            "evidence": {name: rounded(value) for name, value in found.evidence.items()},
            "relevance": {
                "score": rounded(relevance(product(hit.credibility, settings), PLAIN)),
                "weight": RELEVANCE_WEIGHT,
                "confidence": confidence,
                "source": source,
                "source_weight": SOURCE_WEIGHTS[source],
                "accesses": accesses,
                "usage": rounded(used(accesses, settings)),
                "status": status,
                "status_weight": STATUS_WEIGHTS[status],
            },
        }
        if found.support is not None:
            explained["support"] = rounded(found.support.get(hit.id, 0.0))
        if found.near:
            explained["files"] = rounded(found.near.get(hit.id))
        if found.files is not None and hit.id.startswith(CODE_IDS):
            explained["file"] = found.files.explained(file_of(hit.id))
        if hit.id in found.stands_for:
            explained["stands_for"] = found.stands_for[hit.id]
        hit.explain = {**explained, **(hit.explain or {})}


def explain_ways(hits: Sequence[Hit], settings: Settings) -> None:
    """Put the factors of each score, with nine digits, and the walk to the hit into ``explain``."""
    for hit in hits:
        factors = {name: round(number, 9) for name, number in hit.factors.items()}
        hit.explain = {"factors": factors}
        if hit.way is None:
            continue
        chain = hit.way.steps()
        hops = [
            {
                "from": before.id,
                "to": step.id,
                "relation": step.relation,
                "direction": "out" if step.outgoing else "in",
                "edge_weight": step.edge_weight,
                "relation_weight": step.relation_weight,
                "decay": settings.hop_decay,
                **({"through": step.through} if step.through else {}),
            }
            for before, step in zip(chain, chain[1:], strict=False)
        ]
        seed, score = chain[0].id, round(chain[0].score, 6)
        hit.explain["walk"] = {"seed": seed, "seed_score": score, "hops": hops}
