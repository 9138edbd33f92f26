"""The ``explain`` object of a result: every leg, factor and rank that its score comes from."""

from __future__ import annotations

from ..core.scoring import rounded
from ..core.vocabulary import CODE_IDS, file_of
from .score import explain_factors, explained_relevance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core.model import Hit
    from ..core.settings import Settings
    from .legs import Matches


def explain(hits: Sequence[Hit], found: Matches, settings: Settings) -> None:
    """Set ``explain`` of each hit."""
    for hit in hits:
        explained: dict[str, object] = {
            "legs": {
                name: {"rank": [*leg].index(hit.id) + 1, "score": round(leg[hit.id], 6)}
                for name, leg in found.legs.items()
                if hit.id in leg
            },
            "fused": rounded(found.fused.get(hit.id)),
            "confidence": rounded(found.confidence),
            "evidence": {name: rounded(value) for name, value in found.evidence.items()},
            "relevance": explained_relevance(hit, settings),
        }
        if found.near:
            explained["files"] = rounded(found.near.get(hit.id))
        if found.files is not None and hit.id.startswith(CODE_IDS):
            explained["file"] = found.files.explained(file_of(hit.id))
        if hit.id in found.stands_for:
            explained["stands_for"] = found.stands_for[hit.id]
        hit.explain = {**explained, **(hit.explain or {})}
    explain_factors(hits)
