"""The best ways from some nodes along the edges of the ways that a walk has found."""

from __future__ import annotations

from heapq import heappop, heappush

from .walk import Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from .walk import Weights

    Link = tuple[str, str, float, bool]
    """(other end, relation, edge weight, whether the edge leads there)"""


class Links:
    """Edges, passable from both ends: at first those of the ways that end in ``steps``."""

    __slots__ = ("_decay", "_of", "_weights")

    def __init__(self, steps: Iterable[Step], weights: Weights, decay: float) -> None:
        self._weights = weights
        self._decay = decay
        self._of: dict[str, list[Link]] = {}
        for step in steps:
            before = step.before
            while before is not None:
                relation = step.relation or ""
                self.add(before.id, step.id, relation, step.edge_weight, step.outgoing)
                step, before = before, before.before

    def add(self, start: str, end: str, relation: str, weight: float, outgoing: bool) -> None:
        """Add one edge; ``outgoing`` if it leads from ``start`` to ``end``."""
        self._of.setdefault(start, []).append((end, relation, weight, outgoing))
        self._of.setdefault(end, []).append((start, relation, weight, not outgoing))

    def ways_from(self, starts: Mapping[str, float], to: Collection[str]) -> dict[str, Step]:
        """Return the best way from one of ``starts`` (id to score) to each node of ``to`` that one
        leads to, and to those nearer by.

        The ways are a tree for each start (Dijkstra, 1959): a way to a node goes on from the way
        to the node before it, and never through another start.
        """
        ways = {id: Step(id, score) for id, score in starts.items()}
        wanted = {*to} - ways.keys()
        queue: list[tuple[float, int, Step]] = []
        fresh = [*ways.values()]
        pushed = 0
        while wanted:
            for step in fresh:
                for end, relation, weight, outgoing in self._of.get(step.id, ()):
                    strength = self._weights.get(relation, (1.0, 1.0))[0 if outgoing else 1]
                    if end not in ways and weight * strength > 0:
                        score = step.score * weight * strength * self._decay
                        way = Step(end, score, step, relation, weight, strength, outgoing)
                        heappush(queue, (-score, pushed, way))
                        pushed += 1
            if not queue:
                break
            *_, step = heappop(queue)
            fresh = [] if step.id in ways else [step]
            ways.setdefault(step.id, step)
            wanted.discard(step.id)
        return ways
