"""Which nodes a walk must not enter, asked as it comes upon them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from ..store.sqlite.edges import Bundle
    from .edge_cache import Bundles

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
