"""Say where a record is, and require that what a link leads to is there."""

from __future__ import annotations

import os

from ..core.errors import LoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..core.model import Edge, Node
    from ..store import Store


def require_ends(store: Store, edge: Edge) -> None:
    """Raise LoreError where an end of an edge is forgotten or missing."""
    for id in edge.key[:2]:
        if store.nodes.require(id).invalidated_at is not None:
            raise LoreError(f"'{id}' is forgotten: 'lore restore {id}' brings it back")


def location_of(node: Node) -> tuple[str, str]:
    """Return ``(path, lines)`` of a node as its anchor has them: ``("a.py", "10-20")``."""
    lines = "" if node.line_start is None else f"{node.line_start}-{node.line_end}"
    return node.file or "", lines


def split_location(file: str) -> tuple[str, int | None, int | None]:
    """Turn ``a.py:10-20`` into ``("a.py", 10, 20)``; without numbers the whole file."""
    path, colon, lines = file.rpartition(":")
    first, dash, last = lines.partition("-")
    if not (colon and _is_line(first) and (not dash or _is_line(last))):
        return file, None, None
    return path, int(first), int(last or first)


def _is_line(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


def path_in_store(path: str, root: str) -> str:
    """Return a path as the store spells it: from the project's root where it lies inside, with
    ``/``."""
    full = os.path.realpath(path)
    base = os.path.realpath(root) if root else ""
    if base and (full == base or full.startswith(base + os.sep)):
        path = os.path.relpath(full, base)
    return os.path.normpath(path).replace(os.sep, "/")


def set_file(node: Node, file: str, root: str) -> str:
    """Write ``PATH[:FIRST[-LAST]]`` into a node; the path as the store spells it."""
    if not file:
        return ""
    path, first, last = split_location(file)
    if first is not None and last is not None and first > last:
        raise LoreError(f"{file}: line {first} comes after line {last}: turn them around")
    node.file = path_in_store(path, root)
    node.line_start, node.line_end = first, last
    return node.file


def missing_file(path: str, root: str) -> list[str]:
    """Return what to say of a file that a record is about, where it is not there or far away."""
    if path.startswith(("/", "../")):
        return [f"{path} lies outside the project: nothing tells when it changes"]
    if path and root and not os.path.lexists(os.path.join(root, path)):
        return [f"{path}: there is no such file in {root}; kept as it is"]
    return []
