"""``expansion=accumulate``: a match counts for itself and for what it points to."""

from __future__ import annotations

from ...graph.accumulate import accumulate
from .. import tuning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...core.model import Hit
    from ...core.scoring import Factors
    from ...core.settings import Settings
    from ...graph.best_path import Walk
    from . import Matches, Rule


class Accumulate:
    """From the best matches, returned or not, each relative to the best one."""

    walk = staticmethod(accumulate)

    def seeds(self, matches: Matches, settings: Settings, notes: list[str]) -> dict[str, float]:
        seeds: dict[str, float] = {}
        for found in (matches.found, matches.starts):
            best = found.best
            for id in list(found.fused)[: settings.graph_seeds]:
                seeds[id] = max(tuning.LEAST_SEED, found.fused[id] / best, seeds.get(id, 0.0))
        return seeds

    def factors(
        self, hits: Iterable[Hit], walk: Walk, matches: Matches, settings: Settings
    ) -> dict[str, Factors]:
        """``match``: in units of the best match, what a hit matches + graph_weight × support.

        The best ``KEPT`` direct matches are lifted to the highest of all. ``scale`` brings
        these sums back to 0..1, and to what the search is sure of.
        """
        hits = list(hits)
        found, best = matches.found, matches.found.best
        match = {
            hit.id: found.fused.get(hit.id, 0.0) / best
            + settings.graph_weight * walk.support.get(hit.id, 0.0)
            for hit in hits
        }
        highest = max(match.values(), default=1.0)
        for rank, hit in enumerate([hit for hit in hits if not hit.hops][: tuning.KEPT]):
            match[hit.id] = highest * (1 - rank * tuning.JUST_BELOW)
        scale = best * found.confidence / max(1.0, highest)
        return {id: {"match": value, "scale": scale} for id, value in match.items()}


RULE: Rule = Accumulate()
