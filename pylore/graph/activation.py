"""The third rule of expansion: activation that spreads from a few anchors along sure edges.

A walk along best paths with narrow caps: what a person would follow from the nearest
matches, a fact at a time.
"""

from __future__ import annotations

from . import tuning
from .best_path import Walk, walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Set

    from .best_path import Weights
    from .kept_edges import Bundles


def anchors(legs: Mapping[str, Mapping[str, float]]) -> list[str]:
    """The nodes to start from; the legs of a search are ranked, best first."""
    leg = legs.get("vector") or legs.get("fulltext") or {}
    return list(leg)[: tuning.ANCHORS]


def activate(
    edges: Bundles,
    seeds: Mapping[str, float],
    weights: Weights,
    *,
    depth: int,
    decay: float,
    fanout: int,
    max_nodes: int,
    min_confidence: float = 0.0,
    barred: Set[str] = frozenset(),
) -> Walk:
    """Walks as ``best_path.walk`` does, within the caps of ``tuning`` and those given."""
    return walk(
        edges,
        seeds,
        weights,
        depth=min(depth, tuning.HOPS),
        decay=decay,
        fanout=min(fanout, tuning.EDGES),
        max_nodes=min(max_nodes, tuning.FACTS),
        min_confidence=min_confidence,
        barred=barred,
    )
