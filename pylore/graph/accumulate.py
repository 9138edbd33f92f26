"""The second rule of expansion: what several matches point to adds up.

A match of score ``b`` (the best has 1) stands for its neighbours with a mass of
``b²``, thinned by the number of its edges, so that a hub says little of each. What was
reached stands for its own with its support:

    v(i → j) = decay × mass(i) × edge weight × relation weight / degree(i)^0.25
    support(j) = √ Σ v(i → j)², the sum over all i

Squares let one strong tie count more than many weak ones, and many of the same
strength more than one. Two records that name the same entity or concept are tied
through it in one step: by 1 / ln(1 + n) where n records name it. Some ways from a symbol up
to its file cost no hop and no decay (``ways_up``).
"""

from __future__ import annotations

from math import log, sqrt

from ..core.scoring import best_first
from ..core.vocabulary import DEFINES, THING_IDS, UNDIRECTED
from .relations import FRONTIER, MOST_NAMING, THINNING
from .walk import Step, Walk, capped_edges, sure_edges, ways_up

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set

    from ..store.edges import Bundle
    from .walk import Bundles, Weights

    Way = tuple[float, Step, str, float, float, bool]
    """What makes a ``Step``, but for its id."""

    Tie = tuple[Step, str, float, float]
    """(the step to a record, the relation by which it names a bridge, edge and relation weight)"""

BRIDGES = THING_IDS
"""Ids of nodes that tie those that name them to each other."""


def accumulate(
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
    """Walks up to ``depth`` hops from ``seeds`` (id to score, 1 for the best).

    ``Walk.support`` has the support of every node that an edge led to, seeds too. A
    node reached in one hop stands for its own neighbours in the next one with its support,
    and each hop takes ``decay`` of it. ``Walk.roots`` has the seed that led to a node where
    it was one alone. ``fanout`` caps the edges followed from one node,
    ``max_nodes`` the nodes that the next hop starts from, which are no more than the
    seeds, or ``FRONTIER``. All that was reached comes
    back, best first; edges from code that are less sure than ``min_confidence`` count
    as absent, and ``barred`` nodes are not entered.
    """
    result = Walk()
    frontier = {id: Step(id, score) for id, score in seeds.items()}
    seen = set(frontier)
    squares: dict[str, float] = {}
    ways: dict[str, Step] = {}
    roots = {id: id for id in seeds}
    for _ in range(depth):
        spread = _Spread(barred, decay, roots)
        going = frontier
        while going:
            bundles = edges.bundles([*going], [*weights], fanout + 1)
            bundles = sure_edges(bundles, min_confidence)
            capped = capped_edges(
                bundles, fanout, result, lambda own: _in_turn(own, fanout, result.anchored)
            )
            ties = spread.along(capped, going, weights)
            if ties:
                spread.across(edges, ties, weights)
            going = spread.up(capped, going, weights, seen)
        for id, square in spread.squares.items():
            squares[id] = squares.get(id, 0.0) + square
            if id not in ways:
                ways[id] = Step(id, *spread.ways[id])
        fresh = {id: squares[id] - spread.passed.get(id, 0.0)
                 for id in spread.squares if id not in seen}  # fmt: skip
        seen.update(fresh)
        going_on = [id for id in best_first(fresh) if fresh[id] > 0]
        if result.anchored:
            going_on.sort(key=lambda id: (-fresh[id], id not in result.anchored))
        going_on = going_on[: min(max_nodes, max(len(seeds), FRONTIER))]
        frontier = {id: _as_start(ways[id], fresh[id] ** 0.25) for id in going_on}
        if not frontier:
            break
    result.roots = {id: root for id, root in roots.items() if root and id not in seeds}
    result.support = {id: sqrt(square) for id, square in squares.items()}
    for id in best_first(squares):
        ways[id].score = result.support[id]
        result.reached[id] = ways[id]
    return result


def _in_turn(bundles: Sequence[Bundle], fanout: int, first: Set[str]) -> list[Bundle]:
    """``fanout`` edges of one node, taken in turn from its relations, the strongest first; of
    equal ones those to what is among the ``first``.

    Otherwise the hundred symbols that a file defines would leave no room for the three
    files that it imports.
    """
    groups: dict[tuple[bool, str], list[tuple[float, bool, str, bool]]] = {}
    for _, outgoing, names, others, weights in bundles:
        for relation, other, weight in zip(names, others, weights, strict=True):
            key = (outgoing or relation in UNDIRECTED, relation)
            groups.setdefault(key, []).append((-weight, other not in first, other, outgoing))
    turns = [
        (turn, key, edge)
        for key, edges in groups.items()
        for turn, edge in enumerate(sorted(edges)[:fanout])
    ]
    turns.sort()
    node = bundles[0][0]
    return [
        (node, outgoing, [relation], [other], [-weight])
        for _, (_, relation), (weight, _, other, outgoing) in turns[:fanout]
    ]


def _way_to(step: Step) -> frozenset[str]:
    """Return the ids before a step and its own: it says nothing more for what it came from."""
    return frozenset((step.id,) if step.before is None else [one.id for one in step.steps()])


def _as_start(step: Step, score: float) -> Step:
    """``step`` as the start of the next hop, with what it then stands for."""
    start = Step(
        step.id, score, step.before, step.relation, step.edge_weight, step.relation_weight,
        step.outgoing,
    )  # fmt: skip
    start.hop = step.hop
    return start


class _Spread:
    """One hop: the squares that it adds to each node, and the strongest way to it."""

    __slots__ = ("_barred", "_decay", "_masses", "_most", "_roots", "passed", "squares", "ways")

    def __init__(self, barred: Set[str], decay: float, roots: dict[str, str]) -> None:
        self._barred = barred
        self._decay = decay
        self._roots = roots
        self._masses: dict[str, float] = {}
        self._most: dict[str, float] = {}
        self.passed: dict[str, float] = {}
        self.squares: dict[str, float] = {}
        self.ways: dict[str, Way] = {}

    def along(
        self, bundles: Sequence[Bundle], frontier: Mapping[str, Step], weights: Weights
    ) -> dict[str, list[Tie]]:
        """Adds what single edges bring; gives the bridges met, with those that name them."""
        degrees: dict[str, int] = {}
        # A node with many edges has a bundle for each that is followed.
        way_to = {node: _way_to(step) for node, step in frontier.items()}
        for node, outgoing, _, others, _ in bundles:
            way = way_to[node]
            plain = sum(
                [1 for id in others if id not in way and not (outgoing and id.startswith(BRIDGES))]
            )
            degrees[node] = degrees.get(node, 0) + plain
        ties: dict[str, list[Tie]] = {}
        # Thousands of edges: what is looked up once is not looked up for each of them.
        squares, most, ways, roots = self.squares, self._most, self.ways, self._roots
        barred = self._barred
        for node, outgoing, names, others, edge_weights in bundles:
            here = frontier[node]
            way = way_to[node]
            root = roots[here.id]
            mass = self._decay * here.score**2 / max(1, degrees[node]) ** THINNING
            self._masses[node] = mass
            side = 0 if outgoing else 1
            may_tie = outgoing and not node.startswith(BRIDGES)
            for relation, other, weight in zip(names, others, edge_weights, strict=True):
                if other in way:
                    continue
                strength = weights[relation][side]
                value = mass * weight * strength
                if value > 0 and other not in barred:
                    squares[other] = squares.get(other, 0.0) + value * value
                    if roots.setdefault(other, root) not in (root, other):
                        roots[other] = ""
                    if value > most.get(other, 0.0):
                        most[other] = value
                        ways[other] = (value, here, relation, weight, strength, outgoing)
                if may_tie and other.startswith(BRIDGES):
                    ties.setdefault(other, []).append((here, relation, weight, strength))
        return ties

    def up(
        self,
        bundles: Sequence[Bundle],
        frontier: Mapping[str, Step],
        weights: Weights,
        seen: Set[str],
    ) -> dict[str, Step]:
        """Return the files to go on from in the same hop, without decay; ``passed`` says what of
        the squares goes on so, and not again in the next one.
        """
        files: dict[str, Step] = {}
        for here, file, weight in ways_up(bundles, frontier):
            strength = weights[DEFINES][1]
            value = self._masses[here.id] * weight * strength
            if value <= 0 or file in seen or file not in self.squares:
                continue
            self.passed[file] = self.passed.get(file, 0.0) + value * value
            if file not in files or value > files[file].score:
                files[file] = Step(file, value, here, DEFINES, weight, strength, False)
                files[file].hop = here.hop
        for file, step in files.items():
            step.score = (self.passed[file] / self._decay**2) ** 0.25
        return files

    def across(self, edges: Bundles, ties: Mapping[str, list[Tie]], weights: Weights) -> None:
        """Adds what records bring that name the same bridge: of two, the strongest tie counts."""
        relations = frozenset(tie[1] for own in ties.values() for tie in own)
        best: dict[tuple[str, str], tuple[float, Tie, str, float]] = {}
        bridges = [id for id in ties if id not in self._barred]
        found = edges.bundles(bridges, [*weights], MOST_NAMING + 1) if bridges else []
        for bridge, outgoing, names, others, edge_weights in found:
            naming = sum(1 for name in names if name in relations)
            if outgoing or not 2 <= naming <= MOST_NAMING:
                continue
            common = 1 / log(1 + naming)
            for tie in ties[bridge]:
                start, relation, weight, strength = tie
                way = _way_to(start)
                value = self._decay * start.score**2 * weight * strength * common
                for name, other, other_weight in zip(names, others, edge_weights, strict=True):
                    pair = (start.id, other)
                    brings = value * other_weight
                    known = best.get(pair, (0.0,))[0]
                    if name == relation and other not in way and brings > known:
                        best[pair] = (brings, tie, bridge, other_weight)
        for (_, other), (value, tie, bridge, other_weight) in best.items():
            start, relation, weight, strength = tie
            through = Step(bridge, start.score, start, relation, weight, strength, True)
            through.hop = start.hop
            self._add(other, value, start, through, relation, other_weight, strength, False)

    def _add(
        self,
        id: str,
        value: float,
        start: Step,
        before: Step,
        relation: str,
        edge_weight: float,
        relation_weight: float,
        outgoing: bool,
    ) -> None:
        if id in self._barred or value <= 0:
            return
        self.squares[id] = self.squares.get(id, 0.0) + value * value
        root = self._roots[start.id]
        if self._roots.setdefault(id, root) not in (root, id):
            self._roots[id] = ""
        if value > self._most.get(id, 0.0):
            self._most[id] = value
            self.ways[id] = (value, before, relation, edge_weight, relation_weight, outgoing)
