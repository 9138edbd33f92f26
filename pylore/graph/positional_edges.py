"""Edges that stand at a place of their node's text say less of the node as a whole."""

from __future__ import annotations

from . import tuning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import TypeAlias

    from ..core.model import EdgeKey
    from ..store.sqlite.edges import Bundle
    from .edge_cache import Bundles

    Touching: TypeAlias = Callable[[Sequence[str]], Collection[EdgeKey]]


class DiscountedEdges:
    """Edges, those that have a place with ``OF_A_PLACE`` of their weight.

    A citation belongs to the passage in which it stands: what matches there is counted
    elsewhere (``search.passage_links``). ``touching`` says which edges of some nodes these are.
    """

    __slots__ = ("_asked", "_edges", "_placed", "_touching")

    def __init__(self, edges: Bundles, touching: Touching) -> None:
        self._edges = edges
        self._touching = touching
        self._asked: set[str] = set()
        self._placed: set[EdgeKey] = set()

    def bundles(
        self, frontier: Sequence[str], relations: Sequence[str], limit: int
    ) -> list[Bundle]:
        """``Edges.bundles``, with these weights."""
        found = self._edges.bundles(frontier, relations, limit)
        fresh = [id for id in frontier if id not in self._asked]
        if fresh:
            self._asked.update(fresh)
            self._placed.update(self._touching(fresh))
        return [self._weighed(bundle) for bundle in found] if self._placed else found

    def _weighed(self, bundle: Bundle) -> Bundle:
        node, outgoing, names, others, weights = bundle
        return node, outgoing, names, others, [
            weight * tuning.OF_A_PLACE
            if ((node, other, name) if outgoing else (other, node, name)) in self._placed
            else weight
            for name, other, weight in zip(names, others, weights, strict=True)
        ]  # fmt: skip
