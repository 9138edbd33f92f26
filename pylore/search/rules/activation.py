"""``expansion=activation``: best paths from a few anchors, along sure edges."""

from __future__ import annotations

from ...graph.activation import anchors, narrowed
from .best_path import BestPath, seeds_among

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...core.settings import Settings
    from . import DirectMatches, Rule


class Activation(BestPath):
    """From the nearest matches by meaning; scored as best paths are."""

    starts_near = True

    def caps(self, settings: Settings) -> Settings:
        return narrowed(settings)

    def seeds(
        self, matches: DirectMatches, settings: Settings, notes: list[str]
    ) -> dict[str, float]:
        legs = matches.starts.legs
        if not legs.get("vector"):
            notes.append("no vectors to start from: activation spreads from names by full text")
        most = settings.graph_seeds
        return seeds_among(anchors(legs, most), matches, most)


RULE: Rule = Activation()
