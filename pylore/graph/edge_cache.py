"""Edges of nodes that are asked for once, however often a walk comes by."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from ..store.sqlite.edges import Bundle

    class Bundles(Protocol):
        """What a walk asks of a store."""

        def bundles(
            self, frontier: Sequence[str], relations: Sequence[str], limit: int
        ) -> list[Bundle]:
            """As ``store.protocols.Edges.bundles``."""


MOST = 200_000
"""Edges that are kept, and nodes: when there are more, all are let go of."""


class EdgeCache:
    """The traversal cache: it answers as the store did when it was first asked.

    It holds for as long as the store does not change; ``limit`` is the same for all nodes that
    are asked for with the same relations, so that an answer does not depend on what came before.
    """

    __slots__ = ("_edges", "_kept", "_room")

    def __init__(self, edges: Bundles) -> None:
        self._edges = edges
        self._room = MOST
        self._kept: dict[tuple[int, tuple[str, ...]], dict[str, list[Bundle]]] = {}

    def bundles(
        self, frontier: Sequence[str], relations: Sequence[str], limit: int
    ) -> list[Bundle]:
        """``Edges.bundles``, by the order of the frontier."""
        if self._room < 0:
            self._kept.clear()
            self._room = MOST
        kept = self._kept.setdefault((limit, tuple(relations)), {})
        fresh = [id for id in frontier if id not in kept]
        if fresh:
            for id in fresh:
                kept[id] = []
            for bundle in self._edges.bundles(fresh, relations, limit):
                kept[bundle[0]].append(bundle)
                self._room -= len(bundle[2])
            self._room -= len(fresh)
        return [bundle for id in frontier for bundle in kept[id]]
