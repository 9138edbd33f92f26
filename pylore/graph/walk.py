"""The walk: from the seeds along the edges, hop by hop, best path first.

The score of a reached node is its seed's score times, for each edge walked,
``edge weight × relation weight × decay``, along the path where that product is
the largest. Every factor is at most 1, so a cycle never pays and a path is
followed only while it improves on what is known. Where a symbol stands is no step of
meaning: some ways up to its file cost no hop and no decay (``ways_up``).
"""

from __future__ import annotations

from ..core.vocabulary import ANCHORED_TO, DEFINES, FROM_CODE, SYMBOL_IDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence, Set
    from typing import Protocol

    from ..store.edges import Bundle


if TYPE_CHECKING:
    Weights = Mapping[str, tuple[float, float]]
    """Relation to its weight walked forwards and backwards."""

    class Bundles(Protocol):
        """What a walk asks of a store."""

        def bundles(
            self, frontier: Sequence[str], relations: Sequence[str], limit: int
        ) -> list[Bundle]:
            """As ``store.edges.Edges.bundles``."""

    Walker = Callable[..., "Walk"]
    """A walk from seeds (id to score) along edges, within caps: see ``walk``."""


class Step:
    """How a node was reached: the edge that led to it, from which step, at what score."""

    __slots__ = (
        "before", "edge_weight", "hop", "id", "outgoing", "relation", "relation_weight", "score",
    )  # fmt: skip

    def __init__(
        self,
        id: str,
        score: float,
        before: Step | None = None,
        relation: str | None = None,
        edge_weight: float = 1.0,
        relation_weight: float = 1.0,
        outgoing: bool = True,
    ) -> None:
        self.id = id
        self.score = score
        self.before = before
        self.hop: int = before.hop + 1 if before else 0
        self.relation = relation
        self.edge_weight = edge_weight
        self.relation_weight = relation_weight
        self.outgoing = outgoing

    def steps(self) -> list[Step]:
        """From the seed to here."""
        chain: list[Step] = []
        step: Step | None = self
        while step is not None:
            chain.append(step)
            step = step.before
        return chain[::-1]


class Walk:
    """Nodes that a walk reached, best first, without its seeds; and what its caps left out."""

    __slots__ = (
        "anchored", "edges_seen", "hubs", "left_out", "reached", "roots", "support",
    )  # fmt: skip

    def __init__(self) -> None:
        self.reached: dict[str, Step] = {}
        self.anchored: set[str] = set()
        """Of nodes with more edges than the cap, the neighbours that something is anchored to."""
        self.edges_seen = 0
        self.hubs: set[str] = set()
        """Nodes with more edges than the fan-out cap let through."""
        self.left_out = 0
        """Nodes reached beyond the cap on their number."""
        self.support: dict[str, float] = {}
        """With ``accumulate``: what the graph says for each node, seeds too."""
        self.roots: dict[str, str] = {}
        """With ``accumulate``: the seed that led to a node, where no other one did."""


def walk(
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
    """Walks up to ``depth`` hops from ``seeds`` (id to score), both directions of an edge.

    One query a hop fetches the neighbours of the whole frontier. ``fanout`` caps
    the edges followed from one node, ``max_nodes`` the nodes reached; the
    strongest stay. Edges from code that are less sure than ``min_confidence`` count
    as absent. ``barred`` nodes are not entered.
    """
    result = Walk()
    best = {id: Step(id, score) for id, score in seeds.items()}
    frontier = dict(best)
    most = decay * max((max(pair) for pair in weights.values()), default=0.0)
    for _ in range(depth):
        # A step from a node this weak cannot be among the nodes that are kept.
        floor = _weakest_kept(best, seeds, max_nodes)
        frontier = {id: step for id, step in frontier.items() if step.score * most > floor}
        if not frontier:
            break
        bundles = edges.bundles(list(frontier), list(weights), fanout + 1)
        bundles = sure_edges(bundles, min_confidence)
        improved = _best_steps(bundles, frontier, best, weights, decay, fanout, floor, result)
        files = _up(bundles, frontier, weights, best, barred)
        if files:
            bundles = sure_edges(edges.bundles([*files], [*weights], fanout + 1), min_confidence)
            known = {**best, **improved}
            improved |= _best_steps(bundles, files, known, weights, decay, fanout, floor, result)
        for id in barred & improved.keys():
            del improved[id]
        best.update(improved)
        _keep_best(best, seeds, max_nodes, result)
        frontier = {id: step for id, step in improved.items() if best.get(id) is step}
    reached = [step for id, step in best.items() if id not in seeds]
    reached.sort(key=lambda step: (-step.score, step.id))
    result.reached = {step.id: step for step in reached}
    return result


def _up(
    bundles: Sequence[Bundle],
    frontier: Mapping[str, Step],
    weights: Weights,
    best: Mapping[str, Step],
    barred: Set[str],
) -> dict[str, Step]:
    """Return the files to go on from in the same hop, without decay."""
    files: dict[str, Step] = {}
    for here, file, weight in ways_up(bundles, frontier):
        strength = weights[DEFINES][1]
        score = here.score * (weight * strength)
        known = files.get(file) or best.get(file)
        if file not in barred and score > (known.score if known else 0.0):
            files[file] = Step(file, score, here, DEFINES, weight, strength, False)
            files[file].hop = here.hop
    return files


def ways_up(
    bundles: Sequence[Bundle], frontier: Mapping[str, Step]
) -> list[tuple[Step, str, float]]:
    """``(step to a symbol, its file, weight)`` of the edges that cost no hop.

    Free is the way from a symbol that something is anchored to, between that step and the
    next one: once, so that a walk ends, and two records that are anchored to two symbols
    of one file are three hops apart. The file itself is a hop away as ever.
    """
    symbols = {
        id
        for id, step in frontier.items()
        if step.relation == ANCHORED_TO and id.startswith(SYMBOL_IDS)
    }
    if not symbols:
        return []
    return [
        (frontier[node], other, weight)
        for node, outgoing, names, others, weights in bundles
        if node in symbols and not outgoing
        for relation, other, weight in zip(names, others, weights, strict=True)
        if relation == DEFINES
    ]


def sure_edges(bundles: Sequence[Bundle], least: float) -> list[Bundle]:
    """Return the bundles without the edges from code that are less sure than ``least``."""
    return [
        bundle
        if min(bundle[4], default=1.0) >= least or FROM_CODE.isdisjoint(bundle[2])
        else _sure(bundle, least)
        for bundle in bundles
    ]


def _sure(bundle: Bundle, least: float) -> Bundle:
    node, outgoing, names, others, weights = bundle
    kept = [i for i, weight in enumerate(weights) if weight >= least or names[i] not in FROM_CODE]
    return (
        node, outgoing, [names[i] for i in kept], [others[i] for i in kept],
        [weights[i] for i in kept],
    )  # fmt: skip


def _best_steps(
    bundles: Sequence[Bundle],
    frontier: Mapping[str, Step],
    best: Mapping[str, Step],
    weights: Weights,
    decay: float,
    fanout: int,
    floor: float,
    result: Walk,
) -> dict[str, Step]:
    """Return the best step to each neighbour of the frontier that improves on what is known."""
    scores: dict[str, float] = {}
    ways: dict[str, tuple[Step, str, float, float, bool]] = {}
    capped = capped_edges(
        bundles, fanout, result, lambda own: _strongest(own, weights, fanout, result.anchored)
    )
    for node, outgoing, names, others, edge_weights in capped:
        here = frontier[node]
        side = 0 if outgoing else 1
        for relation, other, edge_weight in zip(names, others, edge_weights, strict=True):
            strength = weights[relation][side]
            score = here.score * (edge_weight * strength) * decay
            if score <= floor:
                continue
            known = scores.get(other)
            if known is None and other in best:
                known = best[other].score
            if known is None or score > known:
                scores[other] = score
                ways[other] = (here, relation, edge_weight, strength, outgoing)
    return {id: Step(id, scores[id], *ways[id]) for id in scores}


def capped_edges(
    bundles: Sequence[Bundle],
    fanout: int,
    result: Walk,
    pick: Callable[[Sequence[Bundle]], list[Bundle]],
) -> Sequence[Bundle]:
    """Return the bundles, with ``fanout`` edges of a node that has more: those that ``pick`` takes.

    Counts what it saw and cut in ``result``, and says there what has to come first.
    """
    by_node: dict[str, list[Bundle]] = {}
    for bundle in bundles:
        by_node.setdefault(bundle[0], []).append(bundle)
    kept: list[Bundle] = []
    for node, own in by_node.items():
        degree = sum(len(bundle[2]) for bundle in own)
        result.edges_seen += degree
        if degree > fanout:
            result.hubs.add(node)
            result.anchored |= _anchored(own)
            own = pick(own)
        kept += own
    return kept


def _anchored(bundles: Sequence[Bundle]) -> set[str]:
    """Return what stands before the other edges that one node has by ``defines``."""
    defining = [bundle for bundle in bundles if bundle[1] and DEFINES in bundle[2]]
    return set(defining[0][3]) if len(defining) > 1 else set()


def _strongest(
    bundles: Sequence[Bundle], weights: Weights, fanout: int, first: Set[str]
) -> list[Bundle]:
    """Return the ``fanout`` strongest edges of one node; ties go to the neighbour that is among
    the ``first``, or whose id is.
    """
    strengths = [
        [
            weight * weights[relation][0 if outgoing else 1]
            for relation, weight in zip(names, edge_weights, strict=True)
        ]
        for _, outgoing, names, _, edge_weights in bundles
    ]
    least = sorted([one for row in strengths for one in row], reverse=True)[fanout - 1]
    kept: list[Bundle] = []
    ties: list[tuple[str, str, Bundle, float]] = []
    for bundle, row in zip(bundles, strengths, strict=True):
        node, outgoing, names, others, edge_weights = bundle
        best = [i for i, strength in enumerate(row) if strength > least]
        kept.append(
            (node, outgoing, [names[i] for i in best], [others[i] for i in best],
             [edge_weights[i] for i in best])
        )  # fmt: skip
        ties += [
            (others[i], names[i], bundle, edge_weights[i])
            for i, strength in enumerate(row)
            if strength == least
        ]
    room = fanout - sum(len(bundle[2]) for bundle in kept)
    ties.sort(key=lambda tie: (tie[0] not in first, tie[0], tie[1], tie[2][1]))
    kept += [(tie[2][0], tie[2][1], [tie[1]], [tie[0]], [tie[3]]) for tie in ties[:room]]
    return kept


def _weakest_kept(best: Mapping[str, Step], seeds: Mapping[str, float], max_nodes: int) -> float:
    """Return the score that a new node must exceed: 0 while there is room."""
    reached = [step.score for id, step in best.items() if id not in seeds]
    return min(reached) if len(reached) >= max_nodes else 0.0


def _keep_best(
    best: dict[str, Step], seeds: Mapping[str, float], max_nodes: int, result: Walk
) -> None:
    excess = len(best) - len(seeds) - max_nodes
    if excess > 0:
        reached = sorted(
            (step for id, step in best.items() if id not in seeds),
            key=lambda step: (-step.score, step.id),
        )
        for step in reached[max_nodes:]:
            del best[step.id]
        result.left_out += excess
