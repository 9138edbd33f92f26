"""The anchors that a person makes, takes away, and accepts."""

from __future__ import annotations

import os

from ..core.errors import LoreError
from ..core.vocabulary import BROKEN
from ..store.anchor import Anchor
from ..system.trusted_roots import remember
from .definitions import find_definitions
from .edges import link_anchor, unlink_anchor, unlink_commits
from .fingerprint import line_numbers, take
from .project import Project, Unreadable
from .project_paths import fault_of, is_open, root_of
from .verdict import HOLDS, Judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..store import Store
    from .definitions import Finder, FindSymbol
    from .file_nodes import Write


def place_anchor(
    store: Store, write: Write, project: Project, wanted: Anchor,
    find_symbol: FindSymbol = find_definitions,
) -> tuple[Anchor, str]:  # fmt: skip
    """Anchor a node to the code as it is now: the anchor, and whether it is a new one.

    A record without a file gets the anchor's. The caller holds a transaction.

    Raises:
        LoreError: no such node, or nothing to anchor to.
    """
    node = store.nodes.require(wanted.node_id)
    if node.invalidated_at is not None:
        raise LoreError(f"'{node.id}' is forgotten: 'lore restore {node.id}' brings it back")
    anchor = take(project, wanted, find_symbol)
    remember(anchor.root)
    old = {other.key: other for other in store.anchors.of(node.id)}.get(anchor.key)
    anchor.created_at = old.created_at if old else anchor.created_at
    state = store.anchors.put(anchor)
    if old and old.verdict in BROKEN:
        _unlink_commits(store, node.id)
    matches = project.matching(anchor.path) if anchor.kind == "glob" else []
    link_anchor(store, write, anchor, matches, "user_edit")
    if node.file is None and anchor.kind != "glob" and node.type not in ("file", "symbol"):
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
        _unlink_commits(store, wanted.node_id)
    return found


def _unlink_commits(store: Store, node_id: str) -> None:
    """Take back what links a node to commits that broke it, where no anchor is broken any more."""
    if all(anchor.verdict in HOLDS for anchor in store.anchors.of(node_id)):
        unlink_commits(store, node_id)


def accept_anchors(store: Store, node_id: str, finder: Finder | None = None) -> int:
    """Let a node's broken anchors hold for the code as it is now; how many there were.

    ``finder`` finds symbols; by the looks of lines, if there is none. The links to the
    commits that broke them are taken back.
    """
    broken = [anchor for anchor in store.anchors.of(node_id) if anchor.verdict in BROKEN]
    count = 0
    for anchor in broken:
        fault = fault_of(anchor) or ("" if is_open(anchor.root) else f"it leads to {anchor.root}")
        if fault:
            raise LoreError(f"'{node_id}' has an anchor that is not yours to follow: {fault}: "
                            f"'lore anchor {node_id}' lists them")  # fmt: skip
        root = root_of(store, anchor.root)
        find: FindSymbol = find_definitions
        if finder and anchor.kind == "symbol" and os.path.isfile(os.path.join(root, anchor.path)):
            find = finder(root, anchor.path)
        judge = Judge(Project(root), find)
        try:
            store.anchors.replace([(anchor.key, judge.accept(anchor))])
            count += 1
        except Unreadable as error:
            raise LoreError(f"{error}: make it readable, or take the anchor away") from None
    return count + unlink_commits(store, node_id) if count else 0
