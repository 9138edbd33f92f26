"""What the graph brings to a search: from seeds to reached nodes and their scores."""

from __future__ import annotations

from ..core.model import Hit
from ..core.scoring import rounded
from ..core.text import counted
from ..core.vocabulary import RUN_IDS
from ..graph.relations import relation_weights
from .scoring import adjust, best_first, describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..core.settings import Settings
    from ..graph.best_path import Step, Walk
    from ..store import Store
    from ..store.filter import Scope
    from .retrieve import Candidates


def reach(
    store: Store,
    settings: Settings,
    seeds: Mapping[str, float],
    notes: list[str],
    *,
    rule: str,
    excluded: frozenset[str] = frozenset(),
) -> Walk:
    """Walks from the seeds (id to score) by ``rule``, one of the setting ``expansion``.

    ``excluded`` nodes are not entered. What the caps left out is said in ``notes``.

    Raises:
        UsageError: a relation that was asked for is not known.
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    result = _rule(rule)(
        store.edges, seeds, relation_weights(store, settings), depth=settings.depth,
        decay=settings.hop_decay, fanout=settings.graph_fanout,
        max_nodes=settings.graph_max_nodes, min_confidence=settings.min_confidence,
        barred=excluded,
    )  # fmt: skip
    _say_what_was_left_out(result, settings, notes)
    return result


def within(
    store: Store, walk: Walk, scope: Scope, returned: set[str], settings: Settings
) -> list[str]:
    """What was reached within ``scope`` and is not ``returned`` anyway, best first."""
    looked_at = list(walk.reached)[: LOOKED_AT * settings.graph_max_nodes]
    if "run" not in scope.types:  # they tie records to each other, and have no text
        looked_at = [id for id in looked_at if not id.startswith(RUN_IDS)]
    among = store.nodes.match(scope, looked_at) - returned
    return [id for id in looked_at if id in among]


def _rule(name: str) -> Callable[..., Walk]:
    if name == "accumulate":
        from ..graph.accumulate import accumulate

        return accumulate
    if name == "activation":
        from ..graph.activation import activate

        return activate
    from ..graph.best_path import walk

    return walk


def walk_hits(
    store: Store,
    settings: Settings,
    seeds: Mapping[str, float],
    scope: Scope,
    notes: list[str],
    *,
    excluded: frozenset[str] = frozenset(),
    explain: bool = False,
) -> list[Hit]:
    """What the best paths from the seeds reach, within ``scope``, best first.

    Raises:
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    wide = [pair for pair in WIDE if pair[0] not in settings.origins]
    found = reach(
        store, settings.changed(wide, "default:related"), seeds, notes, rule="best-path",
        excluded=excluded,
    )  # fmt: skip
    hits = []
    among = within(store, found, scope, set(), settings)
    most = settings.graph_max_nodes
    if len(among) > most:
        notes.append(
            f"{len(among) - most} more related nodes are not shown: graph_max_nodes is {most}"
        )
    for id in among[:most]:
        hit = hit_of(found.reached[id], settings, explain=explain)
        hit.score = found.reached[id].score
        hits.append(hit)
    hits = describe(store, settings, hits)
    adjust(hits, settings)
    return best_first(hits)


WIDE = (("graph_fanout", "200"), ("graph_max_nodes", "500"))
"""Around one node there is room for more than a search has, unless a setting says otherwise:
the symbols of a file must not hide what else it is linked to."""

LOOKED_AT = 20
"""For each node that may be reached, how many are looked at for one within the scope."""

KEPT = 2
"""How many of the best direct matches nothing that the graph says can overtake."""


JUST_BELOW = 0.001
"""What the second of the kept ones is below the first."""


def add_support(hits: list[Hit], walk: Walk, found: Candidates, settings: Settings) -> None:
    """Scores direct and reached hits by what they match and what the graph says for them.

    In units of the best match: score = match + graph_weight × support. The best
    ``KEPT`` direct ones are lifted to the highest of all, and everything is brought
    back to 0..1 and to what the search is sure of.
    """
    top = max(found.fused.values(), default=0.0) or 1.0
    scores = {
        hit.id: found.fused.get(hit.id, 0.0) / top
        + settings.graph_weight * walk.support.get(hit.id, 0.0)
        for hit in hits
    }
    highest = max(scores.values(), default=1.0)
    for rank, hit in enumerate([hit for hit in hits if not hit.hops][:KEPT]):
        scores[hit.id] = highest * (1 - rank * JUST_BELOW)
    unit = top * found.confidence / max(1.0, highest)
    for hit in hits:
        hit.score = scores[hit.id] * unit
        if hit.explain is not None:
            hit.explain["support"] = rounded(walk.support.get(hit.id, 0.0))


def hit_of(step: Step, settings: Settings, *, explain: bool) -> Hit:
    """A reached node as a result, with the way that led there; the score is the caller's."""
    chain = step.steps()
    hit = Hit(step.id, 0.0)
    hit.hops = step.hop
    hit.path = [one.id for one in chain]
    hit.edge = step.relation
    if explain:
        hit.explain = {"walk": _explain_walk(chain, settings.hop_decay)}
    return hit


def _say_what_was_left_out(result: Walk, settings: Settings, notes: list[str]) -> None:
    if result.left_out:
        notes.append(
            f"{counted(result.left_out, 'more connected node was', 'more connected nodes were')} "
            "left out: "
            f"graph_max_nodes is {settings.graph_max_nodes}"
        )
    if result.hubs:
        hubs = counted(len(result.hubs), "well-connected node")
        notes.append(
            f"the weaker edges of {hubs} were left out: graph_fanout is {settings.graph_fanout}"
        )


def _explain_walk(chain: list[Step], decay: float) -> dict[str, object]:
    return {
        "seed": chain[0].id,
        "seed_score": round(chain[0].score, 6),
        "hops": [
            {
                "from": step.before.id if step.before else None,
                "to": step.id,
                "relation": step.relation,
                "direction": "out" if step.outgoing else "in",
                "edge_weight": step.edge_weight,
                "relation_weight": step.relation_weight,
                "decay": decay,
            }
            for step in chain[1:]
        ],
    }
