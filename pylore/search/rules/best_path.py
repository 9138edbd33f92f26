"""``expansion=best-path``: a node scores what is left of its seed's score along the best way."""

from __future__ import annotations

from ...graph.walk import walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...core.model import Hit
    from ...core.scoring import Factors
    from ...core.settings import Settings
    from ...graph.walk import Walk
    from . import DirectMatches, Rule


class BestPath:
    """From the best matches, unless they are matches that the limit leaves out."""

    walk = staticmethod(walk)

    def seeds(
        self, matches: DirectMatches, settings: Settings, notes: list[str]
    ) -> dict[str, float]:
        return seeds_among(matches.starts.fused, matches, settings.graph_seeds)

    def factors(
        self, hits: Iterable[Hit], walk: Walk, matches: DirectMatches, settings: Settings
    ) -> dict[str, Factors]:
        return {
            hit.id: {"path": walk.reached[hit.id].score, "confidence": matches.starts.confidence}
            if hit.hops
            else matches.found.factors(hit.id)
            for hit in hits
        }


def seeds_among(ids: Iterable[str], matches: DirectMatches, most: int) -> dict[str, float]:
    """Return the first ``most`` of these, without matches past the limit."""
    fused = matches.starts.fused
    past_limit = matches.found.fused.keys() - {hit.id for hit in matches.direct}
    among = [id for id in ids if id not in past_limit]
    return {id: fused[id] for id in among[:most]}


RULE: Rule = BestPath()
