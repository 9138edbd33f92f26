"""Looking whether the anchors in a store still hold, and keeping what was found."""

from __future__ import annotations

import os

from ..core.errors import LoreError
from ..core.ids import is_own, own
from ..core.model import Edge, Record
from ..core.text import counted
from ..core.times import now
from ..core.vocabulary import INVALIDATED_BY
from ..indexing.embed import embed_missing
from ..indexing.indexer import Index, write_nodes
from .attach import link_anchor, unlink_anchor, unlink_if_whole
from .definitions import find_definitions
from .fingerprint import definitions, line_numbers
from .project import Project, Unreadable, fault_of, is_open, root_of
from .verdict import Judge
from .verdict_cache import told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from ..core.model import Anchor, AnchorKey, Node
    from ..embed import Embedder
    from ..store import Store
    from .claims import ClaimResult, CodeReader

    Places = Callable[[Anchor], Sequence[tuple[str, str]]]
    """Anchor → the (path, detail) that it has led to before."""

_NO_CLAIMS: Mapping[AnchorKey, ClaimResult] = {}

NOTED = 20
"""Files that could not be read and are named one by one."""


class Verified(Record):
    """``found``: each anchor as it was and as it is; and how many could not be examined.

    ``unlooked`` are those that may not be: they lead where this user has nothing. ``claims`` has
    how far each rule holds that was counted.
    """

    __slots__ = ("away", "claims", "found", "notes", "unlooked", "unreadable")

    def __init__(self) -> None:
        self.found: list[tuple[Anchor, Anchor]] = []
        self.claims: dict[AnchorKey, ClaimResult] = {}
        self.unlooked: set[AnchorKey] = set()
        self.unreadable = 0
        self.away = 0
        self.notes: list[str] = []

    def counts(self) -> dict[str, int]:
        """Map verdict to the number of anchors."""
        counts = dict.fromkeys(("valid", "relocated", "drifted", "invalid"), 0)
        for _, anchor in self.found:
            counts[anchor.verdict] = counts.get(anchor.verdict, 0) + 1
        return counts

    def leave(self, anchors: Iterable[Anchor]) -> None:
        """Take these anchors as they are."""
        self.found += [(anchor, anchor) for anchor in anchors]

    def leave_unread(self, anchor: Anchor, why: str) -> None:
        """Take an anchor as it is that could not be judged."""
        self.leave([anchor])
        self.unreadable += 1
        if self.unreadable <= NOTED:
            self.notes.append(f"{anchor.node_id}: {why}: its verdict is as it was")


def verify(
    store: Store,
    embedder: Callable[[], Embedder | None],
    ids: Sequence[str] = (),
    *,
    reader: CodeReader | None = None,
    since: str = "",
    progress: Callable[[int], None] = lambda done: None,
) -> Verified:
    """Judge the anchors of these nodes, or of all, and write what has changed.

    Symbols are found by the looks of lines first; where one seems to be gone or to have
    changed, ``reader`` reads all such files at once. What is like a symbol that is defined
    nowhere is looked for among what the change defines that lost it. Of rules, what is against
    them in the commit ``since`` is known. Files are read before the store is locked. A store that
    cannot be written keeps its verdicts, and what was found is returned all the same.
    """
    with store.faults:
        anchors = store.anchors.live(ids)
        result = _judge_all(store, anchors, reader, since, progress)
        changes = [(old, new) for old, new in result.found if old is not new]
        broken = [new for old, new in result.found
                  if new.is_broken and old.key not in result.unlooked]  # fmt: skip
        if store.scope:  # what is common is judged, and kept by whoever has no scope
            changes = [pair for pair in changes if is_own(pair[0].node_id, store.scope)]
            broken = [anchor for anchor in broken if is_own(anchor.node_id, store.scope)]
        if store.writable:
            _keep(store, embedder, changes, broken)
        elif changes:
            result.notes.append("the store cannot be written: the verdicts are not kept")
    return result


def _judge_all(
    store: Store,
    anchors: Sequence[Anchor],
    reader: CodeReader | None,
    since: str,
    progress: Callable[[int], None],
) -> Verified:
    """Return each anchor with what it is now; nothing is written."""
    result = Verified()
    by_root: dict[str, list[Anchor]] = {}
    for anchor in anchors:
        by_root.setdefault(anchor.root, []).append(anchor)
    for kept, some in by_root.items():
        root = root_of(store, kept)
        lead = counted(len(some), "anchor leads", "anchors lead")
        if not is_open(kept):
            result.unlooked |= {anchor.key for anchor in some}
            result.notes.append(f"{lead} to {root}, where you have not anchored anything: not "
                                "looked at until 'lore anchor' was used there")  # fmt: skip
            result.leave(some)
        elif not os.path.isdir(root):
            result.away += len(some)
            result.notes.append(f"{lead} to {root}, which is not there")
            result.leave(some)
        else:
            places = _places_before(store)
            _judge_project(Project(root), some, places, reader, since, result, progress)
    result.found.sort(key=lambda pair: pair[1].key)
    if result.unreadable > NOTED:
        result.notes.append(f"{result.unreadable - NOTED} more anchors could not be looked at")
    return result


def _places_before(store: Store) -> Places:
    """Return what tells where an anchor has led to, the last place first, and its node's others
    not."""

    def places(anchor: Anchor) -> list[tuple[str, str]]:
        taken = {other.key[1:] for other in store.anchors.of(anchor.node_id)}
        left = store.anchors.left_for_others(anchor.node_id, anchor.kind)
        return [place for place in left if (anchor.kind, *place) not in taken]

    return places


def _judge_project(
    project: Project,
    anchors: Iterable[Anchor],
    places: Places,
    reader: CodeReader | None,
    since: str,
    result: Verified,
    progress: Callable[[int], None],
) -> None:
    """Add the verdicts on the anchors of one project to ``result``."""
    judge = Judge(project, places, reader)
    rules, doubtful = [], []
    for anchor in anchors:
        progress(1)
        fault = fault_of(anchor)
        if fault:
            result.unlooked.add(anchor.key)
            result.leave_unread(anchor, fault)
        elif anchor.kind == "rule":
            rules.append(anchor)
        elif not _judged(judge, anchor, result):
            doubtful.append(anchor)
    if rules:
        _judge_claims(project, rules, reader, since, result)
    if doubtful:
        judge.search_all()
        # What held before comes first, and the anchors to one file together.
        for anchor in sorted(doubtful, key=lambda one: (one.verdict == "invalid", one.path)):
            _judged(judge, anchor, result)
        if judge.skipped:
            result.notes.append(f"what became of {judge.skipped} more symbols was not looked for: "
                                "'lore verify ID' does it")  # fmt: skip


def _judged(judge: Judge, anchor: Anchor, result: Verified) -> bool:
    """Add the verdict on an anchor; return False if it needs ``search_all``."""
    try:
        found = judge.judge(anchor)
    except Unreadable as error:
        result.leave_unread(anchor, str(error))
        return True
    if found is not None:
        result.found.append((anchor, found))
    return found is not None


def _judge_claims(
    project: Project,
    anchors: Sequence[Anchor],
    reader: CodeReader | None,
    since: str,
    result: Verified,
) -> None:
    """Add the verdicts on rules; an unreadable rule is invalid."""
    if reader is None:
        result.leave(anchors)
        return
    from .claims import counted_claims, judged_anchor, places_against

    found = counted_claims(project, anchors, reader)
    before = counted_claims(project, anchors, reader, since) if since else {}
    for anchor in anchors:
        known = places_against(anchor, before[anchor.key]) if since else None
        new, judged = judged_anchor(anchor, found[anchor.key], project.head, known)
        result.found.append((anchor, new))
        result.claims[anchor.key] = judged


# --- keeping what was found


def _keep(
    store: Store,
    embedder: Callable[[], Embedder | None],
    changes: Sequence[tuple[Anchor, Anchor]],
    broken: Sequence[Anchor],
) -> None:
    commits = _breaking_commits(store, _without_commit(store, broken))
    if not changes and not commits:
        return

    def write(nodes: Sequence[Node]) -> None:
        write_nodes(store, nodes)

    with store.transaction():
        store.anchors.replace((old.key, new) for old, new in changes)
        for old, new in changes:
            if (old.path, old.detail) != (new.path, new.detail):
                unlink_anchor(store, old)
                link_anchor(store, write, new, [], "system")
                _move_node(store, old, new)
        for id in sorted(
            {new.node_id for old, new in changes if old.is_broken and not new.is_broken}
        ):
            unlink_if_whole(store, id)
        _link_commits(store, write, commits)
    embed_missing(store, embedder())


def _move_node(store: Store, old: Anchor, new: Anchor) -> None:
    """Move a record with its anchor, if that was its own file."""
    node = store.nodes.get(new.node_id)
    if node is None or node.file != old.path:
        return
    node.file = new.path
    if new.kind == "lines" and (node.line_start, node.line_end) == line_numbers(old.detail):
        node.line_start, node.line_end = line_numbers(new.detail)
    if store.nodes.put(node) == "updated" and new.path != old.path:
        Index(store).update([node])


def _without_commit(store: Store, broken: Sequence[Anchor]) -> list[Anchor]:
    """Return those of these anchors whose node is not linked yet to a commit that broke it."""
    linked = {
        id
        for id in {anchor.node_id for anchor in broken}
        for edge in store.edges.of(id)
        if (edge.relation, edge.from_id) == (INVALIDATED_BY, id)
    }
    return [anchor for anchor in broken if anchor.node_id not in linked]


def _breaking_commits(store: Store, broken: Sequence[Anchor]) -> list[tuple[Anchor, Node]]:
    """Return the last commit that changed each anchor's file since it held, where there is one.

    What is not committed yet has none: a later look finds it. One pass over the commits
    since each state that anchors were seen to hold in.
    """
    found = []
    groups: dict[tuple[str, str], list[Anchor]] = {}
    for anchor in broken:
        groups.setdefault((anchor.root, anchor.commit_id), []).append(anchor)
    for (root, commit), anchors in groups.items():
        project = Project(root_of(store, root))
        if not os.path.isdir(project.root) or project.head in ("", commit):
            continue
        git = project.git
        paths = project.as_committed(sorted({_file_of(anchor) for anchor in anchors}))
        by_path = git.last_commits(commit, paths)
        nodes = {hash: git.commit(hash) for hash in sorted(set(by_path.values()))}
        found += [
            (anchor, nodes[by_path[_file_of(anchor)]])
            for anchor in anchors
            if _file_of(anchor) in by_path
        ]
    return found


def _file_of(anchor: Anchor) -> str:
    return anchor.stamp if anchor.kind in ("glob", "rule") else anchor.path


def _link_commits(
    store: Store,
    write: Callable[[Sequence[Node]], None],
    commits: Sequence[tuple[Anchor, Node]],
) -> None:
    for _, node in commits:
        if store.scope and store.nodes.get(node.id) is None:
            node.id = own(node.id, store.scope)
    fresh = {node.id: node for _, node in commits if store.nodes.get(node.id) is None}
    if fresh:
        write(list(fresh.values()))
    for anchor, node in commits:
        edge = store.edges.get(anchor.node_id, node.id, INVALIDATED_BY) or Edge(
            anchor.node_id, node.id, INVALIDATED_BY, source="system", created_at=now()
        )
        edge.status, edge.ended_at = "confirmed", None
        store.edges.put(edge)


# --- what commands print


def rows(
    store: Store, anchors: Iterable[Anchor], claims: Mapping[AnchorKey, ClaimResult] = _NO_CLAIMS
) -> list[dict[str, Any]]:
    """Return anchors as results: the node, where it leads, whether it holds; those of ``claims``
    with the places against them."""
    anchors = list(anchors)
    titles = store.nodes.briefs(list({anchor.node_id for anchor in anchors}))
    return [
        {
            "id": anchor.node_id,
            "title": titles[anchor.node_id][1] if anchor.node_id in titles else "",
            **told(anchor),
            **(claims[anchor.key].told() if anchor.key in claims else {}),
        }
        for anchor in anchors
    ]


def first_line(store: Store, anchor: Anchor) -> int:
    """Return the line that an anchor begins at in today's file; 1 if it is not there."""
    if anchor.kind == "lines":
        return line_numbers(anchor.detail)[0] or 1
    if anchor.kind != "symbol" or fault_of(anchor) or not is_open(anchor.root):
        return 1
    project = Project(root_of(store, anchor.root))
    try:
        found = definitions(project, anchor.path, anchor.detail, find_definitions)
        name = anchor.detail.rpartition(".")[2]
        found = found or definitions(project, anchor.path, name, find_definitions)
    except Unreadable:
        return 1
    return found[0].line_start if found else 1


def require_anchors(store: Store, ids: Sequence[str]) -> None:
    """Raise LoreError where one of these nodes is unknown, or has no anchor."""
    for id in ids:
        store.nodes.require(id)
        if not store.anchors.of(id):
            raise LoreError(f"'{id}' has no anchor: 'lore anchor {id} FILE' makes one")
