"""Nodes that the graph adds to a search, and the paths that lead to them."""

from __future__ import annotations

from math import sqrt

from ..core.model import Hit
from ..core.scoring import best_first, rounded
from ..core.text import counted
from ..core.vocabulary import DEFINES, RUN_IDS
from ..graph.accumulate import accumulate
from ..graph.relations import relation_weights, weight_notes
from ..graph.walk import EdgeCache, Step, walk
from .rules import narrowed, path_factors, path_seeds, summed_factors, summed_seeds
from .score import assemble, describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence, Set
    from typing import Any

    from ..core.settings import Settings
    from ..graph.walk import Bundles, Walk, Walker
    from ..store.filter import Scope
    from ..store.protocols import SearchStore as Store
    from .legs import Matches

    WaysFrom = Callable[[Mapping[str, float], Collection[str]], Mapping[str, Step]]
    """The best ways from some nodes (id to score) to others: ``graph.ways``."""

HIDDEN_LISTED = 500
"""Most superseded and retracted nodes that are listed for a walk; with more, it asks about those
it reaches. Measured: listing a node takes as long as asking about one."""

LENDING, LENT = 50, 0.7
"""Best passages that lend, and their weight. With 20 passages recall@5 on PEPs is a point lower,
with 100 nearly the same; more and less weight are worse there (docs/decisions/0017)."""


def expanded(
    store: Store,
    settings: Settings,
    starts: Matches,
    found: Matches,
    direct: Sequence[Hit],
    scope: Scope,
    notes: list[str],
    *,
    excluded: frozenset[str],
    hides: tuple[str, ...],
    explain: bool,
) -> tuple[list[Hit], dict[str, Step], WaysFrom]:
    """Return the ``direct`` hits, made of what was ``found``, with at most ``graph_limit`` nodes
    that the graph leads to from ``starts``, best first; the ways to all that was reached; and
    those from some of the hits.

    Nodes are within ``scope``, neither ``excluded`` nor in a status of ``hides``.

    Raises:
        UsageError: a relation of the settings is unknown.
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    settings = narrowed(settings)
    if settings.expansion == "accumulate":
        seeds, factors = summed_seeds(starts, found, settings), summed_factors
        lends = store.positional_edges.any()
        walked = reach(store, settings, seeds, notes, accumulate, excluded, hides, lends=lends)
        if lends:
            lend(store, settings, starts, walked, hides)
    else:
        seeds, factors = path_seeds(starts, settings, notes), path_factors
        walked = reach(store, settings, seeds, notes, walk, excluded, hides)
    stands_for = {**starts.stands_for, **found.stands_for}
    known = {hit.id for hit in direct}
    known |= {stands_for[id] for id in known & stands_for.keys()}
    among = within(store, walked, scope)
    others = [id for id in among if id not in known]
    say_caps(walked, len(others) - min(settings.graph_limit, settings.graph_max_nodes), notes)
    steps = [walked.reached[id] for id in others[: settings.graph_max_nodes]]
    reached = [led(Hit(step.id), step, settings.hop_decay, explain=explain) for step in steps]
    reached = describe(store, settings, reached)
    matched = factors(direct, reached, walked, found, settings)
    hits = assemble([*direct, *assemble(reached, matched)[: settings.graph_limit]], matched)
    if explain and walked.support:
        for hit in hits:
            support = rounded(walked.support.get(hit.id, 0.0))
            hit.explain = {**(hit.explain or {}), "support": support}

    def ways_from(results: Mapping[str, float], to: Collection[str]) -> Mapping[str, Step]:
        from ..graph.ways import Links

        weights = relation_weights(store, settings)
        links = Links(walked.reached.values(), weights, settings.hop_decay)
        for symbol, file in stands_for.items():
            links.add(file, symbol, DEFINES, 1.0, True)
        return links.ways_from(results, to)

    return hits, {id: walked.reached[id] for id in among}, ways_from


def reach(
    store: Store,
    settings: Settings,
    seeds: Mapping[str, float],
    notes: list[str],
    walker: Walker,
    excluded: frozenset[str] = frozenset(),
    hides: tuple[str, ...] = (),
    *,
    lends: bool = False,
) -> Walk:
    """Walk from the seeds (id to score); ``excluded`` nodes are not entered, nor those in a status
    of ``hides``.

    With ``lends``, edges in a passage count less: the passage itself lends to what it links to.

    Raises:
        UsageError: a relation of the settings is unknown.
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    notes += weight_notes(store, settings)
    if store.walked is not None:
        at_hub: Walk = store.walked(settings)
        at_hub.barred = excluded
        return at_hub
    of_all: Bundles = store.edges
    if store.cache is not None:
        of_all = store.cache.setdefault("edges", EdgeCache(store.edges))
    edges: Bundles = EdgeCache(of_all)
    if lends:
        from ..graph.edge_views import DiscountedEdges

        edges = DiscountedEdges(edges, store.positional_edges.touching)
    barred: Set[str] = excluded
    hidden = store.nodes.hidden(hides, HIDDEN_LISTED) if hides else ()
    if hidden is None:
        from ..graph.edge_views import HiddenNodes

        edges = HiddenNodes(edges, lambda ids: store.nodes.hidden_among(ids, hides), excluded)
        barred = edges.barred
    elif hidden:
        barred = excluded.union(hidden)
    result = walker(
        edges, seeds, relation_weights(store, settings), depth=settings.depth,
        decay=settings.hop_decay, fanout=settings.graph_fanout,
        max_nodes=settings.graph_max_nodes, min_confidence=settings.min_confidence, barred=barred,
    )  # fmt: skip
    result.barred = barred
    return result


def within(store: Store, found: Walk, scope: Scope) -> list[str]:
    """Return the reached nodes within ``scope``, best first."""
    ids = list(found.reached)
    if "run" not in scope.types:  # they tie records to each other, and have no text
        ids = [id for id in ids if not id.startswith(RUN_IDS)]
    among = store.nodes.match(scope, ids)
    return [id for id in ids if id in among]


def say_caps(walked: Walk, more: int, notes: list[str]) -> None:
    """Add one note on the links and nodes that a walk left out, ``more`` of these by a limit."""
    said = []
    if walked.hubs:
        said.append(f"weaker links of {counted(len(walked.hubs), 'node')} not followed")
    more = walked.left_out + max(0, more)
    if more:
        said.append(f"{counted(more, 'connected node')} not shown")
    if said:
        notes.append(", ".join(said))


# --- paths


def led(hit: Hit, step: Step, decay: float = 1.0, *, explain: bool = False) -> Hit:
    """Give a hit the way that leads to it; return the hit."""
    chain = step.steps()
    hit.path = [one.id for one in chain]
    hit.hops = len(chain) - 1
    hit.edge = step.relation
    if explain:
        hit.explain = {**(hit.explain or {}), "walk": explain_walk(chain, decay)}
    return hit


def begin_at_results(
    hits: list[Hit],
    limit: int,
    ways_from: WaysFrom,
    matches: Mapping[str, float],
    given: Collection[str],
    decay: float,
    *,
    explain: bool,
) -> list[Hit]:
    """Return the hits, the path of each reached one beginning at a direct match among them.

    A hit below ``limit`` that only one of the ``matches`` (id to score) past it leads to is left
    out. A path from a match that cannot be shown, as its type was not asked for or it is one of
    the files at hand (``given``), stays as it is.
    """
    starts = {hit.id: matches.get(hit.id, 0.0) for hit in hits if not hit.hops}
    if len(starts) == len(hits):
        return hits
    ways = ways_from(starts, [hit.id for hit in hits])
    shown = []
    for place, hit in enumerate(hits):
        if hit.hops and hit.id in ways:
            led(hit, ways[hit.id], decay, explain=explain)
        elif hit.hops and place >= limit and hit.path[0] in matches and hit.path[0] not in given:
            continue
        shown.append(hit)
    return shown


def explain_walk(chain: Sequence[Step], decay: float) -> dict[str, Any]:
    """Return the start of a way and its edges; an edge that was no hop took no ``decay``."""
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
                "decay": 1.0 if step.before and step.hop == step.before.hop else decay,
            }
            for step in chain[1:]
        ],
    }


# --- weight that a matching passage lends to what it links to


def lend(
    store: Store, settings: Settings, found: Matches, walk: Walk, hides: tuple[str, ...]
) -> None:
    """Add to a walk's support what passages lend, and the nodes that they alone lead to.

    A citation belongs to the passage in which it stands. Each of the best ``LENDING`` passages
    lends to what it links to by its own score ``b`` (the best has 1):

        support(j) = √(walk(j)² + Σ (LENT × b² × edge weight × relation weight)²)

    the sum over the passages with a link to ``j``, not thinned by the number of their links.

    Raises:
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    scores = {key: (id, score) for key, id, score in found.passages(settings, LENDING)}
    rows = store.positional_edges.within([*scores])
    if not rows:
        return
    weights = relation_weights(store, settings)
    barred = set(walk.barred)
    if hides:
        barred |= store.nodes.hidden_among([row[2] for row in rows], hides)
    squares: dict[str, float] = {}
    strongest: dict[str, tuple[float, Step]] = {}
    for key, relation, to, weight in rows:
        id, score = scores[key]
        if relation not in weights or to in barred or to == id:
            continue
        strength = weights[relation][0]
        value = LENT * score**2 * weight * strength
        squares[to] = squares.get(to, 0.0) + value**2
        if value > strongest.get(to, (0.0,))[0]:
            strongest[to] = value, Step(to, 0.0, Step(id, score), relation, weight, strength)
    for to, (_, way) in strongest.items():
        walk.support[to] = sqrt(walk.support.get(to, 0.0) ** 2 + squares[to])
        walk.roots.pop(to, None)
        walk.reached.setdefault(to, way).score = walk.support[to]
    best = best_first({to: step.score for to, step in walk.reached.items()})
    walk.reached = {to: walk.reached[to] for to in best}
