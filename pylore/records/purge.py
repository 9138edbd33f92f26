"""Deleting for good: what is left is that it was deleted, and when."""

from __future__ import annotations

from ..core.states import clock
from ..core.times import now
from ..core.vocabulary import path_of
from ..indexing.indexer import Index
from ..store.candidate import KNOWN, PROMOTED, REFUSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..core.model import Node
    from ..store import Store


def delete_for_good(store: Store, node: Node) -> None:
    """Take a node away with its edges, its anchors and the history of all.

    No older export brings it back: it was deleted after all that is known of it here.
    """
    with store.whole(node.id):
        edges = store.edges.of(node.id, forgotten=True)
        at = max(now(), clock(node), *map(clock, edges))
        take_away(store, node)
        store.edges.delete_node(node.id)
        store.anchors.delete_node(node.id)
        store.history.purge(node.id, at)
        _blank_candidates(store, node.id)


def _blank_candidates(store: Store, id: str) -> None:
    """Take the texts of candidates away that became a record; their ids never come again."""
    rows = [row for row in store.candidates.all((PROMOTED, KNOWN)) if row.promoted_as == id]
    for row in rows:
        row.title, row.body, row.data, row.promoted_as = "", "", "{}", None
        row.status, row.command = REFUSED, None
    if rows:
        store.candidates.put(rows)


def take_away(store: Store, node: Node) -> None:
    """Take the node itself away, and what is indexed of it."""
    node.invalidated_at = node.invalidated_at or now()
    store.nodes.invalidate(node.id, node.invalidated_at)  # what is stated of it ends, too
    Index(store, None).update([node])
    store.nodes.delete(node.id)
    if node.type == "file":
        store.whole_files.remove([path_of(node.id)])
