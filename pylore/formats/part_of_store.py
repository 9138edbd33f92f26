"""A part of a store, to be read as if it were all of it: what belongs to some ids."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from typing import Any

    from ..core.model import Edge, Node, Past
    from ..store import Store
    from ..store.anchor import Anchor

_MANY = 5000
"""From so many ids on all is read, and what is not of them left out."""


class PartOfStore:
    """Has what ``exchange`` and an export read of a ``Store``, of these ids alone.

    An edge belongs to the id that it leads from. What is declared, and what was deleted
    for good, is that of the whole store.
    """

    def __init__(self, store: Store, ids: Collection[str]) -> None:
        self.types = store.types
        self.relations = store.relations
        ids = frozenset(ids)
        self.nodes = _Nodes(store, ids)
        self.edges = _Edges(store, ids)
        self.history = _History(store, ids)
        self.anchors = _Anchors(store, ids)


class _Of:
    """A part of the store; what is not restricted is asked of the store itself."""

    _part = ""

    def __init__(self, store: Store, ids: frozenset[str]) -> None:
        self._store = store
        self._ids = ids
        self._many = len(ids) > _MANY
        self._sorted = [] if self._many else sorted(ids)

    def __getattr__(self, name: str) -> Any:
        return getattr(getattr(self._store, self._part), name)


class _Nodes(_Of):
    _part = "nodes"

    def all(self) -> Iterator[Node]:
        """As ``Nodes.all``."""
        if self._many:
            return (node for node in self._store.nodes.all() if node.id in self._ids)
        found = self._store.nodes.get_many(self._sorted)
        return (found[id] for id in self._sorted if id in found)


class _Edges(_Of):
    _part = "edges"

    def all(self) -> Iterator[Edge]:
        """As ``Edges.all``."""
        if self._many:
            yield from (edge for edge in self._store.edges.all() if edge.from_id in self._ids)
            return
        for id in self._sorted:
            edges = [e for e in self._store.edges.of(id, forgotten=True) if e.from_id == id]
            yield from sorted(edges, key=lambda edge: edge.key)

    def history(self, key: tuple[str, str, str] | None = None) -> Iterator[dict[str, object]]:
        """As ``Edges.history``."""
        if key is not None:
            return self._store.edges.history(key)
        if self._many:
            return (one for one in self._store.edges.history() if one["from_id"] in self._ids)
        return self._store.contents.past_edges(self._sorted)


class _History(_Of):
    _part = "history"

    def ancestors(self, ids: Sequence[str] | None = None) -> dict[str, list[str]]:
        """As ``PastStates.ancestors``."""
        if ids is None and not self._many:
            ids = self._sorted
        return self._store.history.ancestors(ids)

    def of_nodes(self) -> Iterator[Past]:
        """As ``PastStates.of_nodes``."""
        if self._many:
            yield from (one for one in self._store.history.of_nodes() if one.node.id in self._ids)
            return
        for id in self._sorted:
            yield from self._store.history.of_node(id)


class _Anchors(_Of):
    _part = "anchors"

    def all(self) -> Iterator[Anchor]:
        """As ``Anchors.all``."""
        if self._many:
            yield from (one for one in self._store.anchors.all() if one.node_id in self._ids)
            return
        for id in self._sorted:
            yield from sorted(self._store.anchors.of(id), key=lambda anchor: anchor.key)

    def history(self, node_id: str = "") -> Iterator[dict[str, str]]:
        """As ``Anchors.history``."""
        if self._many or node_id:
            found = self._store.anchors.history(node_id)
            yield from (one for one in found if one["node_id"] in self._ids)
            return
        for id in self._sorted:
            yield from self._store.anchors.history(id)
