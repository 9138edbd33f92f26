"""Which nodes a walk must not enter, asked as it comes upon them."""

from __future__ import annotations

from . import relations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from typing import TypeAlias

    from ..core.model import EdgeKey
    from ..store.edges import Bundle
    from .walk import Bundles


if TYPE_CHECKING:
    Hidden = Callable[[Sequence[str]], Collection[str]]


class HiddenNodes:
    """Edges, and in ``barred`` what of all that they have led to is not to be entered.

    ``hidden`` says which of some ids that are.
    """

    __slots__ = ("_edges", "_hidden", "_met", "barred")

    def __init__(self, edges: Bundles, hidden: Hidden, barred: Iterable[str] = ()) -> None:
        self._edges = edges
        self._hidden = hidden
        self._met: set[str] = set()
        self.barred = set(barred)

    def bundles(
        self, frontier: Sequence[str], relations: Sequence[str], limit: int
    ) -> list[Bundle]:
        """``Edges.bundles``; ``barred`` has those of the other ends then."""
        found = self._edges.bundles(frontier, relations, limit)
        fresh = {other for bundle in found for other in bundle[3]} - self._met
        if fresh:
            self._met |= fresh
            self.barred.update(self._hidden([*fresh]))
        return found


if TYPE_CHECKING:
    Touching: TypeAlias = Callable[[Sequence[str]], Collection[EdgeKey]]


class DiscountedEdges:
    """Edges, those that have a place with ``OF_A_PLACE`` of their weight.

    A citation belongs to the passage in which it stands: what matches there is counted
    elsewhere (``search.expand``). ``touching`` says which edges of some nodes these are.
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
            weight * relations.OF_A_PLACE
            if ((node, other, name) if outgoing else (other, node, name)) in self._placed
            else weight
            for name, other, weight in zip(names, others, weights, strict=True)
        ]  # fmt: skip
