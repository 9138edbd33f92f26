"""Nodes for files that something links to, before or without an index of the code."""

from __future__ import annotations

from ..core.errors import LoreError
from ..core.ids import check_id
from ..core.model import Node
from ..core.times import now
from ..store.filter import Scope
from ..store.resolve_id import file_node_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..store import Store

    Write = Callable[[Sequence[Node]], object]
    """Writes new nodes and indexes them."""


class FileNodes:
    """``ids``: path to the id of its live node; and how many have none, by the reason."""

    __slots__ = ("forgotten", "ids", "unusable")

    def __init__(self) -> None:
        self.ids: dict[str, str] = {}
        self.forgotten = 0
        self.unusable = 0


def file_nodes(store: Store, write: Write, paths: Sequence[str]) -> FileNodes:
    """Return the nodes of these files; those that are not there are made. The caller holds a
    transaction.

    A file that was forgotten stays so. A name that cannot be an id, as one with a
    line break, has no node.
    """
    found = FileNodes()
    wanted: dict[str, str] = {}
    for path in paths:
        try:
            wanted[path] = check_id(file_node_id(store, path))
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
            missing.append(_file_node(id, path))
            found.ids[path] = id
    if missing:
        write(missing)
    return found


def _file_node(id: str, path: str) -> Node:
    node = Node(id, "file", title=path, file=path, source="file")
    node.created_at = node.updated_at = now()
    return node
