"""Edges that go with an anchor: ``anchored_to`` the file or symbol that it leads to."""

from __future__ import annotations

from ..core.model import Edge
from ..core.scopes import plain
from ..core.times import now
from ..core.vocabulary import ANCHORED_TO, INVALIDATED_BY, file_id, symbol_id
from ..store.resolve_id import file_ids
from .file_nodes import file_nodes
from .globs import glob_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..store import Store
    from ..store.anchor import Anchor
    from .file_nodes import Write

MOST_MATCHES = 25
"""Files that a glob links to, at the most: beyond that it is about a whole project."""

MOVED = "superseded"
"""The status of an edge whose anchor went elsewhere."""


def link_anchor(store: Store, write: Write, anchor: Anchor, paths: list[str], source: str) -> None:
    """Link a node to what its anchor leads to; ``paths`` are a glob's matches.

    A symbol that is not in the store is stood for by its file.
    """
    targets = []
    if anchor.kind == "glob":
        if len(paths) <= MOST_MATCHES:
            targets = list(file_nodes(store, write, paths).ids.values())
    else:
        symbol = None
        if anchor.kind == "symbol":
            symbol = store.nodes.get(symbol_id(anchor.path, anchor.detail))
        if symbol is not None and symbol.invalidated_at is None:
            targets = [symbol.id]
        else:
            targets = list(file_nodes(store, write, [anchor.path]).ids.values())
    for id in targets:
        if id == anchor.node_id:
            continue
        edge = store.edges.get(anchor.node_id, id, ANCHORED_TO)
        if edge is None:
            edge = Edge(anchor.node_id, id, ANCHORED_TO, source=source, created_at=now())
        edge.status, edge.invalidated_at = "confirmed", None
        store.edges.put(edge)


def unlink_anchor(store: Store, anchor: Anchor) -> None:
    """Take back the links of an anchor that is gone, as far as no other one needs them."""
    rest = [other for other in store.anchors.of(anchor.node_id) if other.key != anchor.key]
    needed = {id for other in rest for id in _ends(store, other)}
    gone = {*_ends(store, anchor)}
    if anchor.kind == "glob":
        pattern = glob_pattern(file_id(anchor.path))
        gone = {edge.to_id for edge in store.edges.of(anchor.node_id)
                if pattern.fullmatch(plain(edge.to_id))}  # fmt: skip
    for id in sorted(gone - needed):
        edge = store.edges.get(anchor.node_id, id, ANCHORED_TO)
        if edge is not None and edge.invalidated_at is None:
            store.edges.invalidate(edge.key, now(), MOVED)


def unlink_commits(store: Store, node_id: str) -> int:
    """Take back the links to commits that broke a node's anchors; how many there were."""
    count = 0
    for edge in store.edges.of(node_id):
        if (edge.from_id, edge.relation, edge.source) == (node_id, INVALIDATED_BY, "system"):
            store.edges.invalidate(edge.key, now(), MOVED)
            count += 1
    return count


def _ends(store: Store, anchor: Anchor) -> tuple[str, ...]:
    """Return what the anchor may be linked to: its file, its symbol."""
    return *file_ids(store, anchor.path), symbol_id(anchor.path, anchor.detail)
