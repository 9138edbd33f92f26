"""Where a record is, and whether what a link leads to is there."""

from __future__ import annotations

from ..core.errors import LoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..core.model import Edge, Node
    from ..store import Store


def require_ends(store: Store, edge: Edge) -> None:
    """LoreError where an end of an edge is forgotten, or there is none."""
    for id in edge.key[:2]:
        if store.nodes.require(id).invalidated_at is not None:
            raise LoreError(f"'{id}' is forgotten: 'lore restore {id}' brings it back")


def location_of(node: Node) -> tuple[str, str]:
    """``(path, lines)`` of a node as its anchor has them: ``("a.py", "10-20")``."""
    lines = "" if node.line_start is None else f"{node.line_start}-{node.line_end}"
    return node.file or "", lines
