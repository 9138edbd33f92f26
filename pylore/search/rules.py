"""The values of ``expansion``: where a walk starts, and the factors of direct and reached hits.

accumulate  what several matches point to adds up (``graph.accumulate``)
best-path   what is left of a match's score along the best way (``graph.walk``)
activation  best paths from the nearest matches, with caps of its own
"""

from __future__ import annotations

from ..core.vocabulary import CODE_LIST as CODE
from ..core.vocabulary import list_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..core.model import Hit
    from ..core.scoring import Factors
    from ..core.settings import Settings
    from ..graph.walk import Walk
    from .legs import Matches

LEAST_SEED = 0.1
"""Least score of a seed, the best match having 1."""

KEPT = 2
"""Direct matches of each list that the graph does not overtake: the first one by nothing, the
second by one node at most. With two above all, MRR on HotpotQA is 3.5 points lower."""

JUST_BELOW = 0.001
"""Share of the score by which the second kept match is below the highest."""

OF_CODE = 0.2
"""Share of ``graph_weight`` for code."""

_CAPS = {
    "graph_seeds": "activation_anchors",
    "graph_fanout": "activation_edges",
    "graph_max_nodes": "activation_facts",
}
"""A cap of every walk, and the cap of activation in its place."""


def narrowed(settings: Settings) -> Settings:
    """Return the settings with the caps of activation, if ``expansion`` is that.

    The origin of a cap is then the name of the setting that it comes from.
    """
    if settings.expansion != "activation":
        return settings
    for name, own in _CAPS.items():
        settings = settings.changed([(name, str(getattr(settings, own)))], own)
    depth = min(settings.depth, settings.activation_hops)
    return settings.changed([("graph_depth", str(depth))], "activation_hops")


def summed_seeds(starts: Matches, found: Matches, settings: Settings) -> dict[str, float]:
    """Return the best matches, returned or not, each relative to the best one."""
    seeds: dict[str, float] = {}
    for matches in (found, starts):
        best = matches.best
        for id in list(matches.fused)[: settings.graph_seeds]:
            seeds[id] = max(LEAST_SEED, matches.fused[id] / best, seeds.get(id, 0.0))
    return seeds


def path_seeds(starts: Matches, settings: Settings, notes: list[str]) -> dict[str, float]:
    """Return the best matches, of activation the nearest ones."""
    fused, legs = starts.fused, starts.legs
    ids = fused
    if settings.expansion == "activation":
        ids = legs.get("vector") or legs.get("fulltext") or {}
        if not legs.get("vector"):
            notes.append("no vectors to start from: activation spreads from names by full text")
    return {id: fused[id] for id in list(ids)[: settings.graph_seeds]}


def summed_factors(
    direct: Sequence[Hit], reached: Sequence[Hit], walk: Walk, found: Matches, settings: Settings
) -> dict[str, Factors]:
    """Map id to factors: ``match`` is the own match + graph_weight × support, the best match
    having 1. A symbol that stands for its file has the support of the file, if that is more.

    A hit that matches nothing itself, and that one match alone led to, has at most what
    ``hop_decay`` leaves of that match after its hops: ``decay``. ``scale`` brings the sums back to
    0..1, and to the confidence of the search.
    """
    best = found.best
    own = {hit.id: found.fused.get(hit.id, 0.0) / best for hit in (*direct, *reached)}
    match = {}
    for id, value in own.items():
        weight = settings.graph_weight * (OF_CODE if list_of(id) == CODE else 1.0)
        file = found.stands_for.get(id, id)
        support = max(walk.support.get(id, 0.0), walk.support.get(file, 0.0))
        match[id] = value + weight * support
    decays: dict[str, float] = {}
    for hit in reached:
        if not own[hit.id]:
            way = walk.reached[hit.id]
            decays[hit.id] = settings.hop_decay**way.hop
            if hit.id in walk.roots:
                most = way.steps()[0].score * decays[hit.id]
                match[hit.id] = min(match[hit.id], most)
    _keep_first(match, direct)
    scale = best * found.confidence / max(1.0, *match.values()) if match else 0.0
    return {
        id: {"match": value / decays[id], "decay": decays[id], "scale": scale}
        if decays.get(id)
        else {"match": value, "scale": scale}
        for id, value in match.items()
    }


def _keep_first(match: dict[str, float], direct: Iterable[Hit]) -> None:
    """Lift the first ``KEPT`` direct matches of each list to its highest score."""
    highest: dict[str, float] = {}
    for id, value in match.items():
        highest[list_of(id)] = max(value, highest.get(list_of(id), 0.0))
    kept = dict.fromkeys(highest, 0)
    for hit in direct:
        name = list_of(hit.id)
        if kept[name] < KEPT:
            match[hit.id] = highest[name] * (1 - kept[name] * JUST_BELOW)
            kept[name] += 1


def path_factors(
    direct: Sequence[Hit], reached: Sequence[Hit], walk: Walk, found: Matches, settings: Settings
) -> dict[str, Factors]:
    """Map id to factors: of a reached hit, what is left of its seed's score."""
    factors = {hit.id: found.factors(hit.id) for hit in direct}
    for hit in reached:
        factors[hit.id] = {"path": walk.reached[hit.id].score, "confidence": found.confidence}
    return factors
