"""The spread of scores along edges, from the matches of a search to what they are linked to.

A node of mass ``m`` sends each neighbour along an edge, walked in either direction

    v(i → j) = decay × m(i) × edge weight × relation weight / degree(i)^THINNING

and there are two rules for what several of them bring to a node:

best    the highest; a match has its score as its mass, and degrees do not count. Every factor is
        at most 1, so a cycle never pays, and a node is walked from again if a longer way is better.
adds    support(j) = √ Σ v(i → j)², the sum over all i. A match of score ``b`` (the best has 1) has
        the mass ``b²``, a reached node its support. Squares let a strong tie count more than many
        weak ones, and thinning lets a hub say little of each neighbour. Two records that name the
        same entity or concept are tied in one step, by 1 / ln(1 + n) where n records name it.

An anchor to a symbol counts as one to its file: two records that are anchored to symbols of a file
are two hops apart.
"""

from __future__ import annotations

from math import log, sqrt

from ..core.scoring import best_first
from ..core.vocabulary import (
    ANCHORED_TO,
    DEFINES,
    FROM_CODE,
    SYMBOL_IDS,
    THING_IDS,
    UNDIRECTED,
    file_id,
    path_of,
)
from .relations import FRONTIER, MOST_NAMING, THINNING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set
    from typing import Protocol

    from ..store.edges import Bundle

    Weights = Mapping[str, tuple[float, float]]
    """Relation to its weight walked forwards and backwards."""

    class Bundles(Protocol):
        """What a walk asks of a store."""

        def bundles(
            self, frontier: Sequence[str], relations: Sequence[str], limit: int
        ) -> list[Bundle]:
            """As ``store.edges.Edges.bundles``."""

    Way = tuple[float, "Step", str, float, float, bool, str]
    """A ``Step`` without its id."""

    Tie = tuple["Step", str, float, float]
    """(step to a record, the relation by which it names a bridge, edge and relation weight)"""

BRIDGES = THING_IDS
"""Ids of nodes that tie the records that name them to each other."""


class Step:
    """How a node was reached: the edge that led to it, from which step, at what score.

    ``through`` is the entity that ties two records.
    """

    __slots__ = (
        "before", "edge_weight", "hop", "id", "outgoing", "relation", "relation_weight", "score",
        "through",
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
        through: str = "",
    ) -> None:
        self.id = id
        self.score = score
        self.before = before
        self.hop: int = before.hop + 1 if before else 0
        self.relation = relation
        self.edge_weight = edge_weight
        self.relation_weight = relation_weight
        self.outgoing = outgoing
        self.through = through

    def steps(self) -> list[Step]:
        """From the seed to here."""
        chain: list[Step] = []
        step: Step | None = self
        while step is not None:
            chain.append(step)
            step = step.before
        return chain[::-1]


class Walk:
    """Nodes that a walk reached, best first; if scores add up, with the seeds that an edge led to.

    ``support`` is their score by ``adds``, ``roots`` the seed that led to a node if it was one
    alone, ``hubs`` the nodes with more edges than the fan-out cap let through.
    """

    __slots__ = ("edges_seen", "hubs", "reached", "roots", "support")

    def __init__(self) -> None:
        self.reached: dict[str, Step] = {}
        self.edges_seen = 0
        self.hubs: set[str] = set()
        self.support: dict[str, float] = {}
        self.roots: dict[str, str] = {}


def spread(
    edges: Bundles,
    seeds: Mapping[str, float],
    weights: Weights,
    *,
    adds: bool,
    depth: int,
    decay: float,
    fanout: int,
    max_nodes: int,
    min_confidence: float = 0.0,
    barred: Set[str] = frozenset(),
) -> Walk:
    """Walk up to ``depth`` hops from ``seeds`` (id to score), one query a hop.

    ``fanout`` caps the edges followed from one node, ``max_nodes`` the nodes that the next hop
    starts from; if scores ``adds`` up these are no more than the seeds, or ``FRONTIER``. Edges from
    code that are less sure than ``min_confidence`` count as absent. ``barred`` nodes are not
    entered.
    """
    result = Walk()
    frontier = {id: Step(id, score) for id, score in seeds.items()}
    masses = {id: score**2 if adds else score for id, score in seeds.items()}
    totals = {} if adds else dict(seeds)
    seen = {*seeds}
    steps: dict[str, Step] = {}
    roots = {id: id for id in seeds}
    most = min(max_nodes, max(len(seeds), FRONTIER)) if adds else max_nodes
    for _ in range(depth):
        bundles = sure_edges(edges.bundles([*frontier], [*weights], fanout + 1), min_confidence)
        bundles = _capped(_with_files(bundles, weights, barred), fanout, result)
        hop = _Hop(barred, decay, roots, adds=adds)
        ties = hop.along(bundles, frontier, masses, weights)
        if ties:
            hop.across(edges, ties, masses, weights)
        fresh: dict[str, float] = {}
        for id, value in hop.values.items():
            if adds:
                totals[id] = totals.get(id, 0.0) + value
            elif value > totals.get(id, 0.0):
                totals[id] = value
            else:
                continue
            if not adds or id not in steps:
                steps[id] = Step(id, *hop.ways[id])
            if not adds or id not in seen:
                fresh[id] = value
        seen.update(fresh)
        going_on = [*best_first(fresh)][:most]
        frontier = {id: steps[id] for id in going_on}
        masses = {id: sqrt(fresh[id]) if adds else fresh[id] for id in going_on}
        if not frontier:
            break
    if adds:
        totals = {id: sqrt(square) for id, square in totals.items()}
        result.support = totals
        for id, step in steps.items():
            step.score = totals[id]
    for id in best_first({id: totals[id] for id in steps if adds or id not in seeds}):
        result.reached[id] = steps[id]
    result.roots = {id: root for id, root in roots.items() if root and id not in seeds}
    return result


class _Hop:
    """One hop: what it brings to each node (a sum of squares, or the highest value), and the
    strongest way to it."""

    __slots__ = ("_adds", "_barred", "_decay", "_most", "_roots", "values", "ways")

    def __init__(
        self, barred: Set[str], decay: float, roots: dict[str, str], *, adds: bool
    ) -> None:
        self._adds = adds
        self._barred = barred
        self._decay = decay
        self._roots = roots
        self._most: dict[str, float] = {}
        self.values: dict[str, float] = {} if adds else self._most
        self.ways: dict[str, Way] = {}

    def along(
        self,
        bundles: Sequence[Bundle],
        frontier: Mapping[str, Step],
        masses: Mapping[str, float],
        weights: Weights,
    ) -> dict[str, list[Tie]]:
        """Add what single edges bring; return the bridges met, with the records that name them."""
        way_to = {node: _way_to(step) for node, step in frontier.items()}
        degrees = _degrees(bundles, way_to) if self._adds else {}
        ties: dict[str, list[Tie]] = {}
        # Thousands of edges: what is looked up once is not looked up for each of them.
        values, most, ways, roots = self.values, self._most, self.ways, self._roots
        adds, barred = self._adds, self._barred
        for node, outgoing, names, others, edge_weights in bundles:
            here, way, root = frontier[node], way_to[node], roots[node]
            mass = self._decay * masses[node]
            if adds:
                mass /= max(1, degrees[node]) ** THINNING
            side = 0 if outgoing else 1
            may_tie = adds and outgoing and not node.startswith(BRIDGES)
            for relation, other, weight in zip(names, others, edge_weights, strict=True):
                if other in way:
                    continue
                strength = weights[relation][side]
                value = mass * weight * strength
                if value > 0 and other not in barred:
                    if adds:
                        values[other] = values.get(other, 0.0) + value * value
                    if roots.setdefault(other, root) not in (root, other):
                        roots[other] = ""
                    if value > most.get(other, 0.0):
                        most[other] = value
                        ways[other] = (value, here, relation, weight, strength, outgoing, "")
                if may_tie and other.startswith(BRIDGES):
                    ties.setdefault(other, []).append((here, relation, weight, strength))
        return ties

    def across(
        self,
        edges: Bundles,
        ties: Mapping[str, list[Tie]],
        masses: Mapping[str, float],
        weights: Weights,
    ) -> None:
        """Add what records bring that name the same bridge: of two, the strongest tie counts."""
        relations = frozenset(tie[1] for own in ties.values() for tie in own)
        best: dict[tuple[str, str], Way] = {}
        bridges = [id for id in ties if id not in self._barred]
        found = edges.bundles(bridges, [*weights], MOST_NAMING + 1) if bridges else []
        for bridge, outgoing, names, others, edge_weights in found:
            naming = sum(1 for name in names if name in relations)
            if outgoing or not 2 <= naming <= MOST_NAMING:
                continue
            common = 1 / log(1 + naming)
            for start, relation, weight, strength in ties[bridge]:
                way = _way_to(start)
                value = self._decay * masses[start.id] * weight * strength * common
                for name, other, other_weight in zip(names, others, edge_weights, strict=True):
                    brings = value * other_weight
                    if name == relation and other not in way and other not in self._barred:
                        known = best.get((start.id, other))
                        if brings > (known[0] if known else 0.0):
                            both = weight * other_weight
                            tie = (brings, start, relation, both, strength, True, bridge)
                            best[start.id, other] = tie
        for (start_id, id), found_way in best.items():
            value, root = found_way[0], self._roots[start_id]
            self.values[id] = self.values.get(id, 0.0) + value * value
            if self._roots.setdefault(id, root) not in (root, id):
                self._roots[id] = ""
            if value > self._most.get(id, 0.0):
                self._most[id] = value
                self.ways[id] = found_way


def _way_to(step: Step) -> frozenset[str]:
    """Return the ids before a step and its own: it says nothing more for what it came from."""
    return frozenset((step.id,) if step.before is None else [one.id for one in step.steps()])


def _degrees(bundles: Sequence[Bundle], way_to: Mapping[str, Set[str]]) -> dict[str, int]:
    """Return the numbers of neighbours: not on the way to a node, and no bridges that it names."""
    degrees: dict[str, int] = {}
    for node, outgoing, _, others, _ in bundles:
        way = way_to[node]
        plain = [id for id in others if id not in way and not (outgoing and id.startswith(BRIDGES))]
        degrees[node] = degrees.get(node, 0) + len(plain)
    return degrees


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


def _with_files(bundles: list[Bundle], weights: Weights, barred: Set[str]) -> list[Bundle]:
    """Add an edge to the file of each symbol that a node is anchored to, at the weight of
    ``defines`` walked backwards; ``Edges.bundles`` has these edges from files."""
    if DEFINES not in weights or ANCHORED_TO not in weights:
        return bundles
    files: dict[tuple[str, str], float] = {}
    there: set[tuple[str, str]] = set()
    for node, outgoing, names, others, edge_weights in bundles:
        if not outgoing or ANCHORED_TO not in names:
            continue
        for name, other, weight in zip(names, others, edge_weights, strict=True):
            if name != ANCHORED_TO or other in barred:
                continue
            if other.startswith(SYMBOL_IDS):
                pair = (node, file_id(path_of(other)))
                files[pair] = max(weight * weights[DEFINES][1], files.get(pair, 0.0))
            else:
                there.add((node, other))
    return bundles + [
        (node, True, [ANCHORED_TO], [file], [weight])
        for (node, file), weight in files.items()
        if (node, file) not in there
    ]


def _capped(bundles: Sequence[Bundle], fanout: int, result: Walk) -> list[Bundle]:
    """Return the bundles, with ``fanout`` edges of a node that has more; count them in
    ``result``."""
    by_node: dict[str, list[Bundle]] = {}
    for bundle in bundles:
        by_node.setdefault(bundle[0], []).append(bundle)
    kept: list[Bundle] = []
    for node, own in by_node.items():
        degree = sum([len(bundle[2]) for bundle in own])
        result.edges_seen += degree
        if degree > fanout:
            result.hubs.add(node)
            own = _in_turn(own, fanout)
        kept += own
    return kept


def _in_turn(bundles: Sequence[Bundle], fanout: int) -> list[Bundle]:
    """Return ``fanout`` edges of one node, taken in turn from its relations, the strongest first.

    Otherwise the hundred symbols that a file defines would leave no room for the three
    files that it imports.
    """
    groups: dict[tuple[bool, str], list[tuple[float, str, bool]]] = {}
    for _, outgoing, names, others, weights in bundles:
        for relation, other, weight in zip(names, others, weights, strict=True):
            key = (outgoing or relation in UNDIRECTED, relation)
            groups.setdefault(key, []).append((-weight, other, outgoing))
    turns = [
        (turn, key, edge)
        for key, edges in groups.items()
        for turn, edge in enumerate(sorted(edges)[:fanout])
    ]
    turns.sort()
    node = bundles[0][0]
    return [
        (node, outgoing, [relation], [other], [-weight])
        for _, (_, relation), (weight, other, outgoing) in turns[:fanout]
    ]
