"""The ways from results along the edges that a walk has found."""

from __future__ import annotations

from .walk import Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .walk import Weights

    Link = tuple[str, str, float, bool, str]
    """(other end, relation, edge weight, True if the edge points there, entity between)"""


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
        self._of: dict[str, list[Link]] = {}
        self._symbols = {file: symbol for symbol, file in stands_for.items()}
        for step in steps:
            while step.before is not None:
                self._add(step.before.id, step)
                step = step.before

    def _add(self, start: str, step: Step) -> None:
        start, end = self._symbols.get(start, start), self._symbols.get(step.id, step.id)
        if start != end:
            relation, weight, through = step.relation or "", step.edge_weight, step.through
            link = (end, relation, weight, step.outgoing, through)
            self._of.setdefault(start, []).append(link)
            link = (start, relation, weight, not step.outgoing, through)
            self._of.setdefault(end, []).append(link)

    def ways_from(self, starts: Mapping[str, float], depth: int) -> dict[str, Step]:
        """Return a way from ``starts`` (id to score) to each node within ``depth`` edges.

        It is the best of the ways with the fewest edges. The ways are a tree for each start: a way
        extends the way to the node before, and never passes through another start.
        """
        ways = {id: Step(id, score) for id, score in starts.items()}
        frontier = [*ways.values()]
        for _ in range(depth):
            reached: dict[str, Step] = {}
            for step in frontier:
                for end, relation, weight, outgoing, through in self._of.get(step.id, ()):
                    strength = self._weights.get(relation, (1.0, 1.0))[0 if outgoing else 1]
                    score = step.score * weight * strength * self._decay
                    if end not in ways and score > (reached[end].score if end in reached else 0.0):
                        reached[end] = Step(
                            end, score, step, relation, weight, strength, outgoing, through
                        )
            ways |= reached
            frontier = [*reached.values()]
        return ways
