"""What the graph brings to a search: from seeds to reached nodes."""

from __future__ import annotations

from math import sqrt

from ..core.model import Hit
from ..core.scoring import best_first, rounded
from ..core.settings import BY_NAME
from ..core.text import counted
from ..core.vocabulary import COMMIT_IDS, RUN_IDS
from ..graph.relations import relation_weights, weight_notes
from ..graph.walk import MOST, EdgeCache, KnownEdges, Step
from ..graph.walk import walk as best_paths
from . import tuning
from .legs import add_leg_scores
from .rules import DirectMatches, rule_named
from .score import assemble, describe, in_order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence, Set
    from typing import Any

    from ..core.scoring import Factors
    from ..core.settings import Settings
    from ..graph.walk import Bundles, Walk, Walker, WaysFrom
    from ..store.filter import Scope
    from ..store.protocols import SearchStore as Store
    from .files import FileHistory
    from .legs import Matches
    from .rules import Rule


def expanded(
    store: Store,
    settings: Settings,
    matches: DirectMatches,
    scope: Scope,
    notes: list[str],
    *,
    excluded: frozenset[str],
    hides: tuple[str, ...],
    explain: bool,
) -> tuple[list[Hit], dict[str, Factors], dict[str, Step], WaysFrom | None]:
    """Return the direct hits and, at most ``graph_limit``, what the graph brings within ``scope``;
    of each id what it matches; the ways to all that the graph leads to; and those from some
    results to where the walk began.

    Neither what is ``excluded`` nor what is in a status of ``hides`` is entered.

    Raises:
        UsageError: a relation that was asked for is not known.
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    rule = rule_of(settings)
    ranks = matches.found.files
    if False:
        from .files import history_of

        matches.history = history_of(store, settings, ranks, excluded)
    caps: Callable[[Settings], Settings] | None = getattr(rule, "caps", None)
    settings = settings if caps is None else caps(settings)
    direct = list(matches.direct)
    seeds = rule.seeds(matches, settings, notes)
    lends = getattr(rule, "lends", False) and store.positional_edges.any()
    walk = reach(store, settings, seeds, notes, rule.walk, excluded, hides, lends=lends)
    if lends:
        lend(store, settings, matches.starts, walk, excluded, hides)
    returned = {hit.id for hit in direct}
    returned |= {matches.found.stands_for[id] for id in returned if id in matches.found.stands_for}
    every = within(store, walk, scope, settings)
    among = [id for id in every if id not in returned]
    _say_caps(walk, len(among), settings, notes)
    steps = {id: walk.reached[id] for id in among[: settings.graph_max_nodes]}
    if matches.history is not None:
        steps |= _by_commits(store, matches.history, scope, returned)
    reached = [hit_of(step, settings, explain=explain) for step in steps.values()]
    for hit in reached:
        add_leg_scores(hit, matches.starts)
    reached = describe(store, settings, reached)
    matched = rule.factors([*direct, *reached], walk, matches, settings)
    hits = direct + in_order(reached, matched)[: settings.graph_limit]
    if explain and walk.support:
        for hit in hits:
            support = rounded(walk.support.get(hit.id, 0.0))
            hit.explain = {**(hit.explain or {}), "support": support}
    if explain and matches.history is not None:
        for hit in hits:
            hit.explain = {**(hit.explain or {}), "history": matches.history.explained(hit.id)}
    return hits, matched, {id: walk.reached[id] for id in every} | steps, walk.ways_from


def rule_of(settings: Settings) -> Rule:
    """Return the rule that the settings ask for."""
    return rule_named(settings.expansion)


def _by_commits(
    store: Store, history: FileHistory, scope: Scope, returned: Set[str]
) -> dict[str, Step]:
    """Return the ways to what commits say most for, of files within the scope."""
    best = [id for id in best_first(history.support) if id in history.ways and id not in returned]
    best = best[: tuning.MOST_BY_COMMITS]
    among = store.nodes.match(scope, best)
    return {id: history.ways[id] for id in best if id in among}


def reach(
    store: Store,
    settings: Settings,
    seeds: Mapping[str, float],
    notes: list[str],
    walk: Walker,
    excluded: frozenset[str] = frozenset(),
    hides: tuple[str, ...] = (),
    *,
    lends: bool = False,
) -> Walk:
    """Walks from the seeds (id to score).

    ``excluded`` nodes are not entered, nor those in a status of ``hides``. That hubs' edges were
    cut is said in ``notes``; what the cap on nodes left out is for the caller to say. With
    ``lends``, edges that stand in a passage are of less weight: the passage speaks for them.

    Raises:
        UsageError: a relation that was asked for is not known.
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    notes += weight_notes(store, settings)
    if store.walked is not None:
        result: Walk = store.walked(settings)
        _say_hubs(result, settings, notes)
        return result
    asked = _edges(store)
    edges: Bundles = asked
    if lends:
        from ..graph.edge_views import DiscountedEdges

        edges = DiscountedEdges(edges, store.positional_edges.touching)
    barred: Set[str] = excluded
    if hides:
        edges, barred = _hiding(store, edges, excluded, hides)
    weights = relation_weights(store, settings)
    result = walk(
        edges, seeds, weights, depth=settings.depth, decay=settings.hop_decay,
        fanout=settings.graph_fanout, max_nodes=settings.graph_max_nodes,
        min_confidence=settings.min_confidence, barred=barred,
    )  # fmt: skip
    result.ways_from = lambda starts: best_paths(
        KnownEdges(asked), starts, weights, depth=settings.depth,
        decay=settings.hop_decay, fanout=settings.graph_fanout, max_nodes=MOST,
        min_confidence=settings.min_confidence, barred=barred,
    ).reached  # fmt: skip
    _say_hubs(result, settings, notes)
    return result


def _say_hubs(walk: Walk, settings: Settings, notes: list[str]) -> None:
    if walk.hubs:
        hubs = counted(len(walk.hubs), "well-connected node")
        notes.append(f"the weaker edges of {hubs} were left out: {_cap(settings, 'graph_fanout')}")


def _hiding(
    store: Store, edges: Bundles, excluded: frozenset[str], hides: tuple[str, ...]
) -> tuple[Bundles, Set[str]]:
    """Return the edges, and what a walk along them does not enter: all, or what it has come
    upon."""
    listed = store.nodes.hidden(hides, tuning.HIDDEN_LISTED)
    if listed is not None:
        return edges, excluded.union(listed)
    from ..graph.edge_views import HiddenNodes

    hidden_nodes = HiddenNodes(edges, lambda ids: store.nodes.hidden_among(ids, hides), excluded)
    return hidden_nodes, hidden_nodes.barred


def _edges(store: Store) -> EdgeCache:
    """Return the traversal cache of this search, over that of all for which the store has a
    place."""
    if store.cache is None:
        return EdgeCache(store.edges)
    return EdgeCache(store.cache.setdefault("edges", EdgeCache(store.edges)))


def within(store: Store, walk: Walk, scope: Scope, settings: Settings) -> list[str]:
    """Return what was reached within ``scope``, best first."""
    looked_at = list(walk.reached)[: tuning.LOOKED_AT * settings.graph_max_nodes]
    if "run" not in scope.types:  # they tie records to each other, and have no text
        looked_at = [id for id in looked_at if not id.startswith(RUN_IDS)]
    among = store.nodes.match(scope, looked_at)
    return [id for id in looked_at if id in among]


def walk_hits(
    store: Store,
    settings: Settings,
    seeds: Mapping[str, float],
    scope: Scope,
    notes: list[str],
    *,
    excluded: frozenset[str] = frozenset(),
    explain: bool = False,
    aside: frozenset[str] = frozenset(),
) -> list[Hit]:
    """Return what the best paths from the seeds reach, within ``scope``, best first; what is set
    ``aside`` is walked through and takes no place.

    Raises:
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    wide = [
        (name, str(most + len(aside))) for name, most in tuning.WIDE if name not in settings.origins
    ]
    found = reach(store, settings.changed(wide, "default:related"), seeds, notes, best_paths,
                  excluded)  # fmt: skip
    among = [id for id in within(store, found, scope, settings) if id not in aside]
    most = settings.graph_max_nodes
    more = found.left_out + max(0, len(among) - most)
    if more:
        notes.append(f"{more} more related nodes are not shown: graph_max_nodes is {most}")
    hits = [hit_of(found.reached[id], settings, explain=explain) for id in among[:most]]
    matched = {hit.id: {"path": found.reached[hit.id].score} for hit in hits}
    return assemble(describe(store, settings, hits), matched)


def hit_of(step: Step, settings: Settings, *, explain: bool) -> Hit:
    """Return a reached node as a result without a score, with the way that led there."""
    chain = step.steps()
    hit = Hit(step.id)
    hit.hops = step.hop
    hit.path = [one.id for one in chain]
    hit.edge = step.relation
    if explain:
        hit.explain = {"walk": explain_walk(chain, settings.hop_decay)}
    return hit


def begin_at_results(
    hits: Sequence[Hit], ways_from: WaysFrom, given: Collection[str], decay: float
) -> None:
    """Let the path of what was reached begin at a direct match among the results.

    A walk may have begun at what is none of them: of a type that was not asked for, past the
    limit, or a file for which a symbol stands. What led on from a direct match to there, along
    edges that the walk has read, then comes first. If nothing did, or it is a commit or one of the
    files at hand (``given``), the path stays. ``hops`` counts from where the walk began, as the
    score does.
    """
    matches = {hit.id: hit.score for hit in hits if not hit.hops}
    stay = matches.keys() | given
    others = [
        hit for hit in hits if hit.path[0] not in stay and not hit.path[0].startswith(COMMIT_IDS)
    ]
    ways = ways_from(matches) if others else {}
    for hit in others:
        if hit.path[0] not in ways:
            continue
        chain = ways[hit.path[0]].steps()
        before = [step.id for step in chain]
        on = max(place for place, id in enumerate(hit.path) if id in before)
        meeting = before.index(hit.path[on])
        if hit.path[on] == hit.id:
            hit.edge = chain[meeting].relation
        hit.path = before[:meeting] + hit.path[on:]
        walk = (hit.explain or {}).get("walk")
        if walk:
            walk["before"] = explain_walk(chain, decay)["hops"]


def _say_caps(walk: Walk, found: int, settings: Settings, notes: list[str]) -> None:
    """One note for the caps on what was reached; ``found`` is how much of it is in scope."""
    unseen = len(walk.reached) - tuning.LOOKED_AT * settings.graph_max_nodes
    cut = walk.left_out + max(0, unseen) + max(0, found - settings.graph_max_nodes)
    more = min(found, settings.graph_max_nodes) - settings.graph_limit
    caps = [f"graph_limit is {settings.graph_limit}"] if more > 0 else []
    caps += [_cap(settings, "graph_max_nodes")] if cut else []
    if caps:
        nodes = counted(cut + max(0, more), "more connected node was", "more connected nodes were")
        notes.append(f"{nodes} left out: {', '.join(caps)}")


def _cap(settings: Settings, name: str) -> str:
    """Return a cap and its value, by the name of the setting that it has come from."""
    origin = settings.origins.get(name, name)
    return f"{origin if origin in BY_NAME else name} is {getattr(settings, name)}"


def explain_walk(chain: Sequence[Step], decay: float) -> dict[str, Any]:
    """Return where a way begins, and each of its edges; an edge that was no hop took no
    ``decay``."""
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


# --- what a passage that matches lends to what it links to


def lend(
    store: Store,
    settings: Settings,
    found: Matches,
    walk: Walk,
    excluded: frozenset[str],
    hides: tuple[str, ...],
) -> None:
    """Add to a walk's support what passages lend, and what they alone lead to.

    A citation belongs to the passage in which it stands. Of the best ``LENDING`` passages, each
    stands for what it links to with its own score ``b`` (the best has 1):

        support(j) = √(walk(j)² + Σ (LENT × b² × edge weight × relation weight)²)

    the sum over the passages with a link to ``j``; a passage is not thinned by the number of
    its links. To the walk, such an edge is of less weight (``graph.positional_edges``).

    Neither what is ``excluded`` nor what is in a status of ``hides`` gets anything.

    Raises:
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    scores = {key: (id, score) for key, id, score in found.passages(settings, tuning.LENDING)}
    rows = store.positional_edges.within([*scores])
    if not rows:
        return
    weights = relation_weights(store, settings)
    barred = set(excluded)
    if hides:
        barred |= store.nodes.hidden_among([row[2] for row in rows], hides)
    squares: dict[str, float] = {}
    strongest: dict[str, tuple[float, Step]] = {}
    for key, relation, to, weight in rows:
        id, score = scores[key]
        if relation not in weights or to in barred or to == id:
            continue
        strength = weights[relation][0]
        value = tuning.LENT * score**2 * weight * strength
        squares[to] = squares.get(to, 0.0) + value**2
        if value > strongest.get(to, (0.0,))[0]:
            strongest[to] = value, Step(to, 0.0, Step(id, score), relation, weight, strength)
    _add(walk, squares, {to: step for to, (_, step) in strongest.items()})


def _add(walk: Walk, squares: Mapping[str, float], ways: Mapping[str, Step]) -> None:
    """Adds these squares to the support, and the nodes that the walk has not reached."""
    for to, way in ways.items():
        walk.support[to] = sqrt(walk.support.get(to, 0.0) ** 2 + squares[to])
        walk.roots.pop(to, None)
        walk.reached.setdefault(to, way)
        walk.reached[to].score = walk.support[to]
    best = best_first({to: step.score for to, step in walk.reached.items()})
    walk.reached = {to: walk.reached[to] for to in best}
