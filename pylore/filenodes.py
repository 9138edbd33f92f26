"""Nodes for files that something links to, before or without an index of the code."""

from __future__ import annotations

from .errors import LoreError
from .ids import check_id, named_id
from .index import Index
from .model import Node
from .store.scope import Scope
from .times import now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .embed import Embedder
    from .store import Store


class FileNodes:
    """``ids``: path to the id of its live node; and how many have none, by the reason."""

    __slots__ = ("added", "forgotten", "ids", "unusable")

    def __init__(self) -> None:
        self.ids: dict[str, str] = {}
        self.added = 0
        self.forgotten = 0
        self.unusable = 0


def file_nodes(
    store: Store, embedder: Callable[[], Embedder | None], paths: Sequence[str]
) -> FileNodes:
    """The nodes of these files; those that are not there are made. The caller holds a transaction.

    A file that was forgotten stays so. A name that cannot be an id, as one with a
    line break, has no node.
    """
    found = FileNodes()
    wanted: dict[str, str] = {}
    for path in paths:
        try:
            wanted[path] = check_id(named_id("file", path))
        except LoreError:
            found.unusable += 1
    live = store.nodes.match(Scope(), list(wanted.values()))
    missing = []
    for path, id in wanted.items():
        if id in live:
            found.ids[path] = id
        elif store.nodes.get(id) is not None:
            found.forgotten += 1
        else:
            missing.append(Node(id, "file", title=path, file=path, source="file"))
            found.ids[path] = id
    if missing:
        _write(store, embedder(), missing)
    found.added = len(missing)
    return found


def _write(store: Store, embedder: Embedder | None, nodes: Sequence[Node]) -> None:
    at = now()
    for node in nodes:
        node.created_at = node.updated_at = at
        store.nodes.put(node)
    Index(store, embedder).update(nodes)
