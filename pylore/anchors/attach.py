"""The anchors that a person makes, takes away, and accepts."""

from __future__ import annotations

import os

from ..core.errors import LoreError
from ..core.ids import check_id, plain
from ..core.model import Anchor, Edge, Node
from ..core.times import now
from ..core.vocabulary import ANCHORED_TO, BROKEN, INVALIDATED_BY, file_id, symbol_id
from ..store.filter import Scope
from ..store.resolve_id import file_ids, file_node_id
from ..system.projects import trust_root
from .definitions import find_definitions
from .fingerprint import line_numbers, take
from .globs import parse_glob
from .project import Project, fault_of, is_open, root_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..store import Store
    from .claims import CodeReader
    from .definitions import FindSymbol

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


MOST_MATCHES = 25
"""Files that a glob links to, at the most: beyond that it is about a whole project."""

MOVED = "superseded"
"""The status of an edge whose anchor went elsewhere."""


def link_anchor(store: Store, write: Write, anchor: Anchor, paths: list[str], source: str) -> None:
    """Link a node to what its anchor leads to; ``paths`` are a glob's matches.

    A symbol that is not in the store is stood for by its file.
    """
    targets = []
    if anchor.kind == "rule":
        return  # it is about what it matches, whichever files these are
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
        if source != "conversation":
            status = "confirmed"
        elif edge is None or edge.ended_at is not None:
            status = "staged"
        else:
            continue  # it stands already
        if edge is None:
            edge = Edge(anchor.node_id, id, ANCHORED_TO, source=source, created_at=now())
        edge.status, edge.ended_at = status, None
        store.edges.put(edge)


def unlink_anchor(store: Store, anchor: Anchor) -> None:
    """Take back the links of an anchor that is gone, as far as no other one needs them."""
    rest = [other for other in store.anchors.of(anchor.node_id) if other.key != anchor.key]
    needed = {id for other in rest for id in _ends(store, other)}
    gone = {*_ends(store, anchor)}
    if anchor.kind == "glob":
        glob = parse_glob(file_id(anchor.path))
        gone = {edge.to_id for edge in store.edges.of(anchor.node_id)
                if glob.matches(plain(edge.to_id))}  # fmt: skip
    for id in sorted(gone - needed):
        edge = store.edges.get(anchor.node_id, id, ANCHORED_TO)
        if edge is not None and edge.ended_at is None:
            store.edges.invalidate(edge.key, now(), MOVED)


def unlink_if_whole(store: Store, node_id: str) -> None:
    """End the links of a node to the commits that broke it, if none of its anchors is broken."""
    if any(anchor.is_broken for anchor in store.anchors.of(node_id)):
        return
    for edge in store.edges.of(node_id):
        if (edge.from_id, edge.relation, edge.source) == (node_id, INVALIDATED_BY, "system"):
            store.edges.invalidate(edge.key, now(), MOVED)


def _ends(store: Store, anchor: Anchor) -> tuple[str, ...]:
    """Return what the anchor may be linked to: its file, its symbol."""
    return *file_ids(store, anchor.path), symbol_id(anchor.path, anchor.detail)


def place_anchor(
    store: Store, write: Write, project: Project, wanted: Anchor,
    reader: CodeReader | None = None, source: str = "user_edit",
) -> tuple[Anchor, str]:  # fmt: skip
    """Anchor a node to the code as it is now: the anchor, and whether it is a new one.

    ``reader`` finds symbols and counts rules. A record without a file gets the anchor's, unless a
    conversation is the ``source``: then the link is staged. The caller holds a transaction.

    Raises:
        LoreError: no such node, or nothing to anchor to.
    """
    node = store.nodes.require_live(wanted.node_id)
    if wanted.kind == "rule":
        from .claims import taken_claim

        anchor = taken_claim(project, wanted, reader)
    else:
        anchor = take(project, wanted, _finder(project, wanted, reader))
    trust_root(anchor.root)
    old = {other.key: other for other in store.anchors.of(node.id)}.get(anchor.key)
    anchor.created_at = old.created_at if old else anchor.created_at
    state = store.anchors.put(anchor)
    if old and old.verdict in BROKEN:
        unlink_if_whole(store, node.id)
    matches = project.matching(anchor.path) if anchor.kind == "glob" else []
    link_anchor(store, write, anchor, matches, source)
    gives = source != "conversation" and anchor.kind not in ("glob", "rule")
    if node.file is None and gives and node.type not in ("file", "symbol"):
        node.file = anchor.path
        if anchor.kind == "lines":
            node.line_start, node.line_end = line_numbers(anchor.detail)
        write([node])
    return anchor, state


def remove_anchors(store: Store, wanted: Anchor) -> list[Anchor]:
    """Take away a node's anchors to a path: of one kind, of one detail, or all.

    The caller holds a transaction.

    Raises:
        LoreError: there is none such.
    """
    found = [
        anchor
        for anchor in store.anchors.of(store.nodes.require(wanted.node_id).id)
        if anchor.path == wanted.path
        and wanted.kind in ("", anchor.kind)
        and wanted.detail in ("", anchor.detail)
    ]
    if not found:
        raise LoreError(f"'{wanted.node_id}' has no such anchor to {wanted.path}: "
                        f"'lore anchor {wanted.node_id}' lists them")  # fmt: skip
    for anchor in found:
        store.anchors.delete(anchor.key)
        unlink_anchor(store, anchor)
    if any(anchor.verdict in BROKEN for anchor in found):
        unlink_if_whole(store, wanted.node_id)
    return found


def accept_anchors(store: Store, node_id: str, reader: CodeReader | None = None) -> int:
    """Take a node's broken anchors for the code as it is now; return how many changed.

    An anchor whose code is gone stays broken. With a ``reader`` all violations of its rules are
    known from then on. Links to the commits that broke it end when no anchor is broken.
    """
    changed = 0
    for anchor in store.anchors.of(node_id):
        broken = anchor.is_broken
        if not (reader if anchor.kind == "rule" else broken):
            continue
        fault = fault_of(anchor) or ("" if is_open(anchor.root) else f"it leads to {anchor.root}")
        if fault:
            raise LoreError(f"'{node_id}' has an anchor that is not yours to follow: {fault}: "
                            f"'lore anchor {node_id}' lists them")  # fmt: skip
        new = _accepted(Project(root_of(store, anchor.root)), anchor, reader)
        if new is not None and (broken or new.hash != anchor.hash):
            changed += 1
            store.anchors.replace([(anchor.key, new)])
    if changed:
        unlink_if_whole(store, node_id)
    return changed


def _accepted(project: Project, anchor: Anchor, reader: CodeReader | None) -> Anchor | None:
    if anchor.kind == "rule":
        from .claims import taken_claim

        return taken_claim(project, anchor, reader)
    try:
        return take(project, anchor, _finder(project, anchor, reader))
    except LoreError:
        return None


def _finder(project: Project, anchor: Anchor, reader: CodeReader | None) -> FindSymbol:
    """Return what finds the symbol of an anchor: by its grammar, or by the looks of lines."""
    there = os.path.isfile(os.path.join(project.root, anchor.path))
    if reader is None or anchor.kind != "symbol" or not there:
        return find_definitions
    return reader.finder(project.root, anchor.path)
