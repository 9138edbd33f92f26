"""``expansion=accumulate``: a match counts for itself and for what it points to."""

from __future__ import annotations

from ...graph.accumulate import accumulate
from .. import tuning
from ..rank import list_of
import os
CODEG=float(os.environ.get('CODEG', '0.3'))

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...core.model import Hit
    from ...core.scoring import Factors
    from ...core.settings import Settings
    from ...graph.walk import Walk
    from . import DirectMatches, Rule


class Accumulate:
    """From the best matches, returned or not, each relative to the best one."""

    walk = staticmethod(accumulate)
    at_hub = "accumulate"
    lends = True
    takes_history = True

    def seeds(
        self, matches: DirectMatches, settings: Settings, notes: list[str]
    ) -> dict[str, float]:
        seeds: dict[str, float] = {}
        for found in (matches.found, matches.starts):
            best = found.best
            for id in list(found.fused)[: settings.graph_seeds]:
                seeds[id] = max(tuning.LEAST_SEED, found.fused[id] / best, seeds.get(id, 0.0))
        return seeds

    def factors(
        self, hits: Iterable[Hit], walk: Walk, matches: DirectMatches, settings: Settings
    ) -> dict[str, Factors]:
        """``match``: in units of the best match, what a hit matches + graph_weight × support.

        What matches nothing itself, and one match alone has led to, has at most what the hops
        leave of that match, each hop taking ``hop_decay``: ``decay`` is what they have left.
        The best ``KEPT`` direct matches are lifted to the highest of all, unless commits have
        a say too, which is added. ``scale`` brings
        these sums back to 0..1, and to what the search is sure of.
        """
        hits = list(hits)
        found, best = matches.found, matches.found.best
        own = {hit.id: found.fused.get(hit.id, 0.0) / best for hit in hits}
        kept = tuning.KEPT
        said: dict[str, float] = {}
        if matches.history is not None:
            kept = tuning.KEPT_BESIDE_HISTORY
            said = {id: found.unit * value / best for id, value in matches.history.support.items()}
        stands = found.stands_for
        match = {
            id: value + settings.graph_weight * (CODEG if list_of(id) == 'code' else 1) * max(walk.support.get(id, 0.0), walk.support.get(stands.get(id, id), 0.0))
            for id, value in own.items()
        }
        decays = {}
        for hit in hits:
            if hit.hops and not own[hit.id] and not said.get(hit.id):
                decays[hit.id] = settings.hop_decay**hit.hops
                if hit.id in walk.roots:
                    most = walk.reached[hit.id].steps()[0].score * decays[hit.id]
                    match[hit.id] = min(match[hit.id], most)
        highest = max(match.values(), default=1.0)
        seen = {}
        for hit in hits:
            if hit.hops: continue
            rank = seen.setdefault(list_of(hit.id), 0)
            if rank < 2:
                match[hit.id] = highest * (1 - rank * tuning.JUST_BELOW)
            seen[list_of(hit.id)] += 1
        scale = best * found.confidence / max(1.0, highest)
        return {
            id: {"match": value / decays[id], "decay": decays[id], "scale": scale}
            if decays.get(id)
            else {"match": value, "scale": scale}
            for id, value in match.items()
        }


RULE: Rule = Accumulate()
