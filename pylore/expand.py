"""The walk: from the seeds along the edges, hop by hop, best path first.

The score of a reached node is its seed's score times, for each edge walked,
``edge weight × relation weight × decay``, along the path where that product is
the largest. Every factor is at most 1, so a cycle never pays and a path is
followed only while it improves on what is known.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .store.edges import Edges

    Weights = Mapping[str, tuple[float, float]]
    """Relation to its weight walked forwards and backwards."""


class Step:
    """How a node was reached: the edge that led to it, from which step, at what score."""

    __slots__ = ("before", "edge_weight", "id", "outgoing", "relation", "relation_weight", "score")

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
    """What a walk reached (seeds are not in it), and what its caps left out."""

    __slots__ = ("edges_seen", "hubs", "left_out", "reached")

    def __init__(self) -> None:
        self.reached: dict[str, Step] = {}
        self.edges_seen = 0
        self.hubs: set[str] = set()
        """Nodes with more edges than the fan-out cap let through."""
        self.left_out = 0
        """Nodes reached beyond the cap on their number."""


def walk(
    edges: Edges,
    seeds: Mapping[str, float],
    weights: Weights,
    *,
    depth: int,
    decay: float,
    fanout: int,
    max_nodes: int,
    barred: frozenset[str] = frozenset(),
) -> Walk:
    """Walks up to ``depth`` hops from ``seeds`` (id to score), both directions of an edge.

    One query a hop fetches the neighbours of the whole frontier. ``fanout`` caps
    the edges followed from one node, ``max_nodes`` the nodes reached; the
    strongest stay. ``barred`` nodes are not entered.
    """
    result = Walk()
    best = {id: Step(id, score) for id, score in seeds.items()}
    frontier = dict(best)
    for _ in range(depth):
        improved: dict[str, Step] = {}
        for node, offers in _offers(edges, list(frontier), weights, fanout, result).items():
            here = frontier[node]
            for strength, neighbour, relation, edge_weight, outgoing in offers:
                score = here.score * strength * decay
                known = improved.get(neighbour) or best.get(neighbour)
                if score > (known.score if known else 0.0) and neighbour not in barred:
                    improved[neighbour] = Step(
                        neighbour, score, here, relation, edge_weight,
                        weights[relation][0 if outgoing else 1], outgoing,
                    )  # fmt: skip
        best.update(improved)
        _keep_best(best, seeds, max_nodes, result)
        frontier = {id: step for id, step in improved.items() if best.get(id) is step}
        if not frontier:
            break
    result.reached = {id: step for id, step in best.items() if id not in seeds}
    return result


def _offers(
    edges: Edges, frontier: Sequence[str], weights: Weights, fanout: int, result: Walk
) -> dict[str, list[tuple[float, str, str, float, bool]]]:
    """The strongest edges of each frontier node: (strength, neighbour, relation, weight, out)."""
    offers: dict[str, list[tuple[float, str, str, float, bool]]] = {}
    # One more than the cap, so that a hub is seen to be one.
    for node, neighbour, relation, weight, outgoing in edges.neighbours(
        frontier, list(weights), fanout + 1
    ):
        strength = weight * weights[relation][0 if outgoing else 1]
        offers.setdefault(node, []).append((strength, neighbour, relation, weight, outgoing))
    for node, found in offers.items():
        result.edges_seen += len(found)
        if len(found) > fanout:
            result.hubs.add(node)
            found.sort(key=_strongest_first)
            del found[fanout:]
    return offers


def _strongest_first(offer: tuple[float, str, str, float, bool]) -> tuple[float, str, str]:
    return (-offer[0], offer[1], offer[2])


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
