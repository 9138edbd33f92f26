"""``expansion=activation``: best paths from a few anchors, along sure edges."""

from __future__ import annotations

from .best_path import BestPath, seeds_among

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...core.settings import Settings
    from . import DirectMatches, Rule


_CAPS = {
    "graph_seeds": "activation_anchors",
    "graph_fanout": "activation_edges",
    "graph_max_nodes": "activation_facts",
}
"""A cap of every walk, and activation's own in its place."""


def anchors(legs: Mapping[str, Mapping[str, float]], most: int) -> list[str]:
    """Return the nodes to start from; the legs of a search are ranked, best first."""
    leg = legs.get("vector") or legs.get("fulltext") or {}
    return list(leg)[:most]


def narrowed(settings: Settings) -> Settings:
    """Return the settings with activation's caps in the place of a walk's.

    A walk's own cap counts where it is less, unless activation's was set. The origin of a cap
    is the name of the setting that it has come from.
    """
    caps = {"graph_depth": ("activation_hops", min(settings.depth, settings.activation_hops))}
    for name, own in _CAPS.items():
        most: int = getattr(settings, own)
        if own in settings.origins or most < getattr(settings, name):
            caps[name] = (own, most)
    for name, (own, most) in caps.items():
        settings = settings.changed([(name, str(most))], own)
    return settings


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
