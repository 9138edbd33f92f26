"""The spread of scores along edges, from the matches of a search.

A node of mass ``m`` sends each neighbour along an edge, walked in either direction

    v(i → j) = decay × m(i) × edge weight × relation weight / degree(i)^THINNING

and there are two rules for the values at a node:

best    the highest; the mass of a match is the score, and degrees do not count. Every factor is
        at most 1, so a cycle never pays, and a node is walked from again if a longer way is better.
adds    support(j) = √ Σ v(i → j)², the sum over all i. A match of score ``b`` (the best has 1) has
        the mass ``b²``, a reached node the support. Squares let a strong tie count more than many
        weak ties, and thinning lowers the ties of hubs. Two records that name the same entity or
        concept are tied in a single step, by 1 / ln(1 + n) where n records name it.

An anchor to a symbol counts as an anchor to the file: two records with anchors to symbols of a
file are two hops apart.
"""

from __future__ import annotations

from math import log, sqrt

from ..core.scoring import best_first
from ..core.vocabulary import (
    ANCHORED_TO,
    CO_CHANGES,
    DEFINES,
    FROM_CODE,
    SYMBOL_IDS,
    THING_IDS,
    file_id,
    path_of,
)
from .relations import FRONTIER, MOST_NAMING, OF_A_PLACE, THINNING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import Protocol

    from ..core.model import EdgeKey
    from ..store.edges import Bundle

    Weights = Mapping[str, tuple[float, float]]
    """Relation to the weights forwards and backwards."""

    class Bundles(Protocol):
        def bundles(self, ids: Sequence[str], relations: Sequence[str], limit: int) -> list[Bundle]:
            """As ``store.edges.Edges.bundles``."""

    Link = tuple[str, str, float, bool]
    """(relation, other end, edge weight, True if the edge points there)"""

    Between = tuple[str, float] | None
    """(entity between two records, weight of the edge from the first)"""

    Tied = tuple[str, str, float, bool, Between]
    """(other end, relation, edge weight, True if the edge points there, entity between)"""

    Way = tuple[float, "Step", str, float, float, bool, Between]
    """A ``Step`` without the id."""

    Tie = tuple["Step", str, float, float]
    """(step to a record, the relation by which it names a bridge, edge and relation weight)"""

UNDIRECTED = frozenset({"similar_to", CO_CHANGES})
"""Relations without direction: their edges begin at the lesser id."""
BRIDGES = THING_IDS
"""Ids of nodes that tie the records that name them to each other."""


class Step:
    """A step of a way to a node: the edge, the step before, and the score.

    ``through`` is the entity that ties two records, with the weight of the first edge.
    """

    __slots__ = (
        "before",
        "edge_weight",
        "hop",
        "id",
        "outgoing",
        "relation",
        "relation_weight",
        "score",
        "through",
    )

    def __init__(
        self,
        id: str,
        score: float,
        before: Step | None = None,
        relation: str | None = None,
        edge_weight: float = 1.0,
        relation_weight: float = 1.0,
        outgoing: bool = True,
        through: Between = None,
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
    """Nodes that a walk reached, best first; with ``adds`` also seeds at the end of an edge.

    ``support`` is the score by ``adds``, ``roots`` the seed behind a node if only a single seed is,
    ``hubs`` the nodes with more edges than the fan-out cap.
    """

    __slots__ = ("hubs", "reached", "roots", "support")

    def __init__(self) -> None:
        self.reached: dict[str, Step] = {}
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
    barred: Collection[str] = (),
    hidden: Callable[[Sequence[str]], Collection[str]] | None = None,
    placed: Callable[[Sequence[str]], Collection[EdgeKey]] | None = None,
) -> Walk:
    """Walk up to ``depth`` hops from ``seeds`` (id to score), with a query per hop.

    ``fanout`` caps the edges of a node, ``max_nodes`` the nodes at the start of the next hop; with
    ``adds`` at most as many as seeds, or ``FRONTIER``. Edges from code below ``min_confidence``
    are absent. ``barred`` and ``hidden`` nodes are not entered. ``placed`` edges, in a passage of a
    longer text, have ``OF_A_PLACE`` of their weight.
    """
    result = Walk()
    reader = _Reader(edges, weights, min_confidence, barred, hidden, placed)
    frontier = {id: Step(id, score) for id, score in seeds.items()}
    masses = {id: score**2 if adds else score for id, score in seeds.items()}
    totals = {} if adds else dict(seeds)
    seen = {*seeds}
    steps: dict[str, Step] = {}
    roots = {id: id for id in seeds}
    most = min(max_nodes, max(len(seeds), FRONTIER)) if adds else max_nodes
    for _ in range(depth):
        links = reader.links(frontier, fanout + 1)
        for node, own in links.items():
            own += _to_files(own, weights, reader.barred)
            if len(own) > fanout:
                result.hubs.add(node)
                links[node] = _in_turn(own, fanout)
        hop = _Hop(reader, decay, roots, adds=adds)
        if ties := hop.along(links, frontier, masses):
            hop.across(ties, masses)
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


class _Reader:
    """Reads edges; ``barred`` collects the nodes that must not be entered."""

    __slots__ = ("_edges", "_hidden", "_least", "_met", "_placed", "barred", "weights")

    def __init__(
        self,
        edges: Bundles,
        weights: Weights,
        least: float,
        barred: Iterable[str],
        hidden: Callable[[Sequence[str]], Collection[str]] | None,
        placed: Callable[[Sequence[str]], Collection[EdgeKey]] | None,
    ) -> None:
        self._edges = edges
        self._least = least
        self._hidden = hidden
        self._placed = placed
        self._met: set[str] = set()
        self.barred = set(barred)
        self.weights = weights

    def links(self, nodes: Iterable[str], limit: int) -> dict[str, list[Link]]:
        """Return the edges of nodes; ``limit`` at most a node, relation and direction."""
        found: dict[str, list[Link]] = {node: [] for node in nodes}
        bundles = self._edges.bundles([*found], [*self.weights], limit) if found else []
        placed = {*self._placed([*found])} if self._placed else ()
        least = self._least
        for node, outgoing, names, others, weights in bundles:
            own = found[node]
            for name, other, weight in zip(names, others, weights, strict=True):
                if weight < least and name in FROM_CODE:
                    continue
                if placed and ((node, other, name) if outgoing else (other, node, name)) in placed:
                    weight *= OF_A_PLACE
                own.append((name, other, weight, outgoing))
        if self._hidden:
            fresh = {other for bundle in bundles for other in bundle[3]} - self._met
            self._met |= fresh
            self.barred.update(self._hidden([*fresh]) if fresh else ())
        return found


class _Hop:
    """A hop: values of nodes (a sum of squares, or the highest), and the strongest way to each."""

    __slots__ = ("_adds", "_decay", "_most", "_reader", "_roots", "values", "ways")

    def __init__(self, reader: _Reader, decay: float, roots: dict[str, str], *, adds: bool) -> None:
        self._adds = adds
        self._reader = reader
        self._decay = decay
        self._roots = roots
        self._most: dict[str, float] = {}
        self.values: dict[str, float] = {} if adds else self._most
        self.ways: dict[str, Way] = {}

    def along(
        self,
        links: Mapping[str, Sequence[Link]],
        frontier: Mapping[str, Step],
        masses: Mapping[str, float],
    ) -> dict[str, list[Tie]]:
        """Add the values of single edges; return the bridges, with the records that name them."""
        ties: dict[str, list[Tie]] = {}
        # Lookups outside of the loop: there are thousands of edges.
        values, most, ways, roots = self.values, self._most, self.ways, self._roots
        adds, barred, weights = self._adds, self._reader.barred, self._reader.weights
        for node, own in links.items():
            here, root = frontier[node], roots[node]
            way = _way_to(here)
            mass = self._decay * masses[node]
            if adds:  # neighbours on the way, and bridges that are named, are no neighbours
                others = [id for _, id, _, out in own if not (out and id.startswith(BRIDGES))]
                mass /= max(1, len([id for id in others if id not in way])) ** THINNING
            may_tie = adds and not node.startswith(BRIDGES)
            for relation, other, weight, outgoing in own:
                if other in way:
                    continue
                strength = weights[relation][0 if outgoing else 1]
                value = mass * weight * strength
                if value > 0 and other not in barred:
                    if adds:
                        values[other] = values.get(other, 0.0) + value * value
                    if roots.setdefault(other, root) not in (root, other):
                        roots[other] = ""
                    if value > most.get(other, 0.0):
                        most[other] = value
                        ways[other] = (value, here, relation, weight, strength, outgoing, None)
                if may_tie and outgoing and other.startswith(BRIDGES):
                    ties.setdefault(other, []).append((here, relation, weight, strength))
        return ties

    def across(self, ties: Mapping[str, list[Tie]], masses: Mapping[str, float]) -> None:
        """Add the values of records that name the same bridge: of two ties, the stronger counts."""
        relations = frozenset(tie[1] for own in ties.values() for tie in own)
        best: dict[tuple[str, str], Way] = {}
        barred = self._reader.barred
        bridges = [id for id in ties if id not in barred]
        for bridge, links in self._reader.links(bridges, MOST_NAMING + 1).items():
            naming = [link for link in links if link[0] in relations and not link[3]]
            if not 2 <= len(naming) <= MOST_NAMING:
                continue
            for start, relation, weight, strength in ties[bridge]:
                way = _way_to(start)
                value = self._decay * masses[start.id] * weight * strength / log(1 + len(naming))
                for name, other, other_weight, _ in naming:
                    brings = value * other_weight
                    if name == relation and other not in way and other not in barred:
                        known = best.get((start.id, other))
                        if brings > (known[0] if known else 0.0):
                            both = weight * other_weight
                            through = bridge, weight
                            tie = (brings, start, relation, both, strength, True, through)
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
    """Return the ids of a chain of steps, which are not entered again."""
    return frozenset((step.id,) if step.before is None else [one.id for one in step.steps()])


def _to_files(links: Sequence[Link], weights: Weights, barred: Collection[str]) -> list[Link]:
    """Return an edge to the file of each symbol that a node is anchored to, at the weight of
    ``defines`` walked backwards; ``Edges.bundles`` has these edges from files."""
    anchors = [(id, weight) for name, id, weight, out in links if out and name == ANCHORED_TO]
    if not anchors or DEFINES not in weights:
        return []
    files: dict[str, float] = {}
    for id, weight in anchors:
        if id.startswith(SYMBOL_IDS) and id not in barred:
            file = file_id(path_of(id))
            files[file] = max(weight * weights[DEFINES][1], files.get(file, 0.0))
    there = {id for id, _ in anchors}
    return [(ANCHORED_TO, id, weight, True) for id, weight in files.items() if id not in there]


def _in_turn(links: Sequence[Link], fanout: int) -> list[Link]:
    """Return ``fanout`` edges of a node, taken in turn from the relations, the strongest first.
    Otherwise a hundred defined symbols would leave no room for three imported files."""
    groups: dict[tuple[bool, str], list[tuple[float, str, bool]]] = {}
    for relation, other, weight, outgoing in links:
        key = (outgoing or relation in UNDIRECTED, relation)
        groups.setdefault(key, []).append((-weight, other, outgoing))
    turns = sorted(
        (turn, key, edge)
        for key, edges in groups.items()
        for turn, edge in enumerate(sorted(edges)[:fanout])
    )
    return [
        (relation, other, -weight, outgoing)
        for _, (_, relation), (weight, other, outgoing) in turns[:fanout]
    ]


# --- ways along the edges of a walk


class Links:
    """The edges of the ways to ``steps``, passable from both ends.

    A symbol in the place of a file (``stands_for``: symbol to file) has the links of the file.
    """

    __slots__ = ("_decay", "_of", "_symbols", "_weights")

    def __init__(
        self, steps: Iterable[Step], weights: Weights, decay: float, stands_for: Mapping[str, str]
    ) -> None:
        self._weights = weights
        self._decay = decay
        self._of: dict[str, list[Tied]] = {}
        self._symbols = {file: symbol for symbol, file in stands_for.items()}
        for step in steps:
            while step.before is not None:
                self._add(step.before.id, step)
                step = step.before

    def _add(self, start: str, step: Step) -> None:
        start, end = self._symbols.get(start, start), self._symbols.get(step.id, step.id)
        edges = [(start, end, step.edge_weight, step.outgoing, step.through)]
        if step.through:
            entity, weight = step.through
            edges.append((start, entity, weight, True, None))
            edges.append((end, entity, step.edge_weight / weight, True, None))
        for one, other, weight, outgoing, through in edges if start != end else ():
            for here, there, out in ((one, other, outgoing), (other, one, not outgoing)):
                link = (there, step.relation or "", weight, out, through)
                self._of.setdefault(here, []).append(link)

    def ways_from(self, starts: Mapping[str, float], depth: int) -> dict[str, Step]:
        """Return a way from ``starts`` (id to score) to each node within ``depth`` edges.

        It is the best of the ways with the fewest edges; a way from record to record leaves out the
        entity between them only if ``depth`` has no room for it. The ways are a tree for each
        start: a way extends the way to the node before, and never passes through another start.
        """
        ways = {id: Step(id, score) for id, score in starts.items()}
        for turn in range(2 * depth):
            reached: dict[str, Step] = {}
            if turn in (0, depth):
                frontier = [step for step in ways.values() if step.hop < depth]
            for step in frontier:
                for end, relation, weight, outgoing, through in self._of.get(step.id, ()):
                    if through and turn < depth:
                        continue
                    strength = self._weights.get(relation, (1.0, 1.0))[0 if outgoing else 1]
                    score = step.score * weight * strength * self._decay
                    if end not in ways and score > (reached[end].score if end in reached else 0.0):
                        reached[end] = Step(
                            end, score, step, relation, weight, strength, outgoing, through
                        )
            ways |= reached
            frontier = [step for step in reached.values() if step.hop < depth]
        return ways
