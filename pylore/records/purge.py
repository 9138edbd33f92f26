"""Deleting for good: what is left is that it was deleted, and when."""

from __future__ import annotations

from ..core.states import clock
from ..core.times import now
from ..core.vocabulary import path_of
from ..indexing.indexer import Index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..core.model import Node
    from ..store import Store


def delete_for_good(store: Store, node: Node) -> None:
    """Takes a node away with its edges, its anchors and the history of all.

    No older export brings it back: it was deleted after all that is known of it here.
    """
    with store.whole(node.id):
        edges = store.edges.of(node.id, forgotten=True)
        at = max(now(), clock(node), *map(clock, edges))
        take_away(store, node)
        store.edges.delete_node(node.id)
        store.anchors.delete_node(node.id)
        store.history.purge(node.id, at)


def take_away(store: Store, node: Node) -> None:
    """Takes the node itself away, and what is indexed of it."""
    node.invalidated_at = node.invalidated_at or now()
    store.nodes.invalidate(node.id, node.invalidated_at)  # what is stated of it ends, too
    Index(store, None).update([node])
    store.nodes.delete(node.id)
    if node.type == "file":
        store.whole_files.remove([path_of(node.id)])
