"""Make, link, remove and accept anchors."""

from __future__ import annotations

import os

from ..core.errors import LoreError
from ..core.ids import check_id, plain
from ..core.model import Anchor, Edge, Node, first_status
from ..core.times import now
from ..core.vocabulary import ANCHORED_TO, BROKEN, INVALIDATED_BY, file_id, symbol_id
from ..store.filter import Scope
from ..system.files import GONE, is_known, trust_root
from .globs import Glob
from .project import Project, Unreadable, fault_of, line_numbers, root_to_keep, stretch_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..store import Store
    from .claims import CodeReader

    Write = Callable[[Sequence[Node]], object]
    """Writes new nodes and indexes them."""

MOST_MATCHES = 25  # files that a glob links to; beyond that it is about the project
MOVED = "superseded"  # the status of an edge after the anchor moved


def file_nodes(store: Store, write: Write, paths: Sequence[str]) -> dict[str, str]:
    """Map path to the id of its node, added if missing, except forgotten files and odd names."""
    found: dict[str, str] = {}
    for path in paths:
        try:
            found[path] = check_id(store.file_node_id(path))
        except LoreError:
            continue
    live = store.nodes.match(Scope(), list(found.values()))
    missing = []
    for path, id in [*found.items()]:
        if id not in live and store.nodes.get(id) is not None:
            del found[path]
        elif id not in live:
            missing.append(Node(id, "file", title=path, file=path, source="file"))
            missing[-1].created_at = missing[-1].updated_at = now()
    if missing:
        write(missing)
    return found


def link_anchor(store: Store, write: Write, anchor: Anchor, paths: list[str], source: str) -> None:
    """Link a node to the symbol, or else the file, of an anchor; ``paths`` are a glob's matches."""
    symbol = store.nodes.get(symbol_id(anchor.path, anchor.detail))
    if anchor.kind == "symbol" and symbol is not None and symbol.invalidated_at is None:
        targets = [symbol.id]
    else:
        some = paths if len(paths) <= MOST_MATCHES else []
        files = {"rule": [], "glob": some}.get(anchor.kind, [anchor.path])
        targets = list(file_nodes(store, write, files).values())
    for id in targets:
        if id != anchor.node_id:
            edge = Edge(anchor.node_id, id, ANCHORED_TO, source=source, status=first_status(source))
            tie(store, edge)


def tie(store: Store, wanted: Edge) -> None:
    """Write an edge, or its status into the edge that is there; a staged edge changes no live
    edge."""
    edge = store.edges.get(*wanted.key)
    if edge is None or edge.ended_at is not None or wanted.status != "staged":
        edge = edge or wanted
        edge.created_at = edge.created_at or now()
        edge.status, edge.ended_at = wanted.status, None
        store.edges.put(edge)


def source_of(store: Store, anchor: Anchor) -> str:
    """Return the source of further links of an anchor: a conversation while its link is staged."""
    ends = {*store.file_ids(anchor.path), symbol_id(anchor.path, anchor.detail)}
    staged = {edge.to_id for edge in store.edges.of(anchor.node_id) if edge.status == "staged"}
    return "user_edit" if ends.isdisjoint(staged) else "conversation"


def unlink_anchor(store: Store, anchor: Anchor) -> None:
    """End the links of a removed anchor, except links that the node needs for other anchors."""
    linked = [edge.to_id for edge in store.edges.of(anchor.node_id)]

    def ends(one: Anchor) -> set[str]:
        if one.kind == "glob":
            glob = Glob(file_id(one.path))
            return {id for id in linked if glob.matches(plain(id))}
        return {*store.file_ids(one.path), symbol_id(one.path, one.detail)}

    rest = [other for other in store.anchors.of(anchor.node_id) if other.key != anchor.key]
    for id in sorted(ends(anchor).difference(*map(ends, rest))):
        edge = store.edges.get(anchor.node_id, id, ANCHORED_TO)
        if edge is not None and edge.ended_at is None:
            store.edges.invalidate(edge.key, now(), MOVED)


def unlink_if_whole(store: Store, node_id: str) -> None:
    """End the links of a node to the commits that broke it, if no anchor is broken."""
    if any(anchor.is_broken for anchor in store.anchors.of(node_id)):
        return
    for edge in store.edges.of(node_id):
        if (edge.from_id, edge.relation, edge.source) == (node_id, INVALIDATED_BY, "system"):
            store.edges.invalidate(edge.key, now(), MOVED)


def place_anchor(
    store: Store,
    write: Write,
    project: Project,
    wanted: Anchor,
    reader: CodeReader | None = None,
    source: str = "user_edit",
) -> tuple[Anchor, str]:
    """Anchor a node to today's code, in a transaction; return the anchor and the state.

    ``reader`` finds symbols and counts rules. A record without a file gets the anchor's, unless a
    conversation is the ``source``: then the link is staged. Raise LoreError without node or code.
    """
    node = store.nodes.require_live(wanted.node_id)
    anchor = _taken(project, wanted, reader)
    trust_root(anchor.root)
    old = {other.key: other for other in store.anchors.of(node.id)}.get(anchor.key)
    if old and node.status != "staged" and source == "conversation":
        return old, "unchanged"  # only a person accepts the present code
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
    """Remove a node's anchors to a path, by kind and detail or all; raise LoreError without any."""
    id, path = store.nodes.require(wanted.node_id).id, wanted.path
    found = [
        one
        for one in store.anchors.of(id)
        if one.path == path and wanted.kind in ("", one.kind) and wanted.detail in ("", one.detail)
    ]
    if not found:
        see = f"'lore anchor {wanted.node_id}' lists them"
        raise LoreError(f"'{wanted.node_id}' has no such anchor to {wanted.path}: {see}")
    for anchor in found:
        store.anchors.delete(anchor.key)
        unlink_anchor(store, anchor)
    if any(anchor.verdict in BROKEN for anchor in found):
        unlink_if_whole(store, wanted.node_id)
    return found


def accept_anchors(store: Store, node_id: str, reader: CodeReader | None = None) -> int:
    """Make a node's broken anchors valid for today's code; return the number of changes.
    An anchor without code stays broken. With a ``reader``, all violations of rules become known."""
    changed = 0
    for anchor in store.anchors.of(node_id):
        if not (anchor.is_broken or (reader and anchor.kind == "rule")):
            continue
        away = anchor.root and not is_known(anchor.root)
        if fault := f"it leads to {anchor.root}" if away else fault_of(anchor):
            see = f"'lore anchor {node_id}' lists them"
            raise LoreError(f"'{node_id}' has an anchor not yours to follow: {fault}: {see}")
        try:
            new = _taken(Project(anchor.root or store.project), anchor, reader)
        except LoreError:
            continue
        if anchor.is_broken or new.hash != anchor.hash:
            changed += 1
            store.anchors.replace([(anchor.key, new)])
    if changed:
        unlink_if_whole(store, node_id)
    return changed


def _taken(project: Project, anchor: Anchor, reader: CodeReader | None) -> Anchor:
    """Return the anchor as valid, with the fingerprint of today's code; LoreError without it."""
    if anchor.kind == "rule":
        from .claims import taken_claim

        return taken_claim(project, anchor, reader)
    taken = anchor.copy()
    try:
        if anchor.kind == "glob":
            taken.stamp = next(iter(project.matching(anchor.path)), "")
            if not taken.stamp:
                raise LoreError(f"{anchor.path}: matches no file: check the pattern, and quote it")
        else:
            taken.stamp = project.stamp(anchor.path)
            if taken.stamp == GONE:
                raise LoreError(f"{anchor.path}: no such file: check the name")
            taken.detail, taken.hash = _fingerprint(project, anchor, reader)
    except Unreadable as error:
        raise LoreError(f"{error}: anchor to a file that can be read") from None
    taken.commit_id = project.head
    taken.verdict, taken.reason = "valid", ""
    taken.verified_at = now()
    taken.created_at = anchor.created_at or taken.verified_at
    return taken


def _fingerprint(project: Project, anchor: Anchor, reader: CodeReader | None) -> tuple[str, str]:
    """Return the detail and the hash of an anchor; a symbol's also has the hash of the file."""
    path, detail = anchor.path, anchor.detail
    if anchor.kind == "file":
        return detail, project.hash(path)
    content = project.digest(path)
    if anchor.kind == "hash":
        return detail, content
    if anchor.kind == "symbol":
        from .definitions import Definitions

        found = Definitions(project, reader.outline).find("", path, detail) if reader else []
        names = sorted({one.qualified for one in found})
        if not found:
            raise LoreError(f"{path}: defines no {detail}: check the name, or give lines")
        if len(names) > 1:
            named = " or ".join(names[:5])
            raise LoreError(f"{path}: {detail} is ambiguous: give {named}")
        return names[0], f"{found[0].hash} {content}"
    first, last = line_numbers(detail)
    lines = project.lines(path)
    if not 1 <= first <= last <= len(lines):
        raise LoreError(f"{path}: has {len(lines)} lines, not {detail}: give lines that are there")
    return detail, stretch_hash(lines[first - 1 : last])


# --- anchors of the file of a record


def anchor_file(store: Store, root: str, node_id: str, path: str, lines: str) -> str:
    """Anchor a node to lines of a file, or to the file; keep an old anchor. A file outside the
    project gets no anchor, a missing file an invalid anchor. Return a note on such a file, or if it
    lacks the lines."""
    if path.startswith(("/", "../")):
        return f"{path} lies outside the project: nothing tells when it changes"
    is_missing = root and not os.path.lexists(os.path.join(root, path))
    note = f"{path}: there is no such file in {root}; kept as it is" if is_missing else ""
    wanted = (("file", path, ""), ("lines", path, lines))
    kept_already = any(anchor.key[1:] in wanted for anchor in store.anchors.of(node_id))
    if path in (".", "..") or not root or kept_already:
        return note
    project, kept = Project(root), root_to_keep(store, root)
    trust_root(kept)
    reason = ""
    for kind, detail in (("lines", lines), ("file", "")) if lines else (("file", ""),):
        anchor = Anchor(node_id, kind, path, detail, kept)
        try:
            store.anchors.put(_taken(project, anchor, None))
            return reason and f"{path}: {reason}: the record is tied to the whole file"
        except LoreError as error:
            reason = str(error).removeprefix(f"{path}: ").partition(": ")[0]
    anchor.verdict, anchor.reason = "invalid", reason.removeprefix("there is ")
    anchor.commit_id = project.head
    anchor.created_at = anchor.verified_at = now()
    store.anchors.put(anchor)
    return note


def drop_file_anchors(store: Store, node_id: str, path: str, lines: str) -> None:
    """Remove the anchors by ``anchor_file``."""
    for anchor in store.anchors.of(node_id):
        if anchor.key[1:] in (("file", path, ""), ("lines", path, lines)):
            store.anchors.delete(anchor.key)
