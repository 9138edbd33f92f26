"""Judge the anchors of a store, and write the verdicts.

A file that is there is valid, other anchors with the same content, body or text. They are relocated
with the same code elsewhere, drifted with other code there or elsewhere, else invalid.
A relocated anchor has the new place, where the next run finds it valid. A drifted anchor has the
fingerprint of the code that was anchored, also under a new name.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from functools import partial

from ..core.errors import LoreError
from ..core.ids import is_own, own
from ..core.model import Edge
from ..core.text import counted
from ..core.times import now
from ..core.vocabulary import INVALIDATED_BY
from ..indexing.embed import embed_missing
from ..indexing.indexer import Index, write_nodes
from ..system.files import GONE
from .attach import link_anchor, source_of, tie, unlink_anchor, unlink_if_whole
from .definitions import Definitions
from .moves import Successors
from .project import Project, Unreadable, fault_of, find_stretch, is_open, last_name, line_numbers
from .show import anchor_row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from ..core.model import Anchor, AnchorKey, Node
    from ..embed import Embedder
    from ..store import Store
    from .claims import ClaimResult, CodeReader

    Change = tuple[Anchor, Anchor]

NOTED = 20  # unreadable anchors that get a note each
MOST_PARSED = 2_000  # files in which missing symbols are searched


class Verified:
    """``found``: each anchor before and after; ``claims``: the counts of rules."""

    def __init__(self) -> None:
        self.found: list[Change] = []
        self.claims: dict[AnchorKey, ClaimResult] = {}
        self.notes: list[str] = []

    def counts(self) -> dict[str, int]:
        """Map verdict to the number of anchors."""
        counts = Counter(anchor.verdict for _, anchor in self.found)
        return {**dict.fromkeys(("valid", "relocated", "drifted", "invalid"), 0), **counts}


def verify(
    store: Store,
    embedder: Callable[[], Embedder | None],
    reader: CodeReader,
    ids: Sequence[str] = (),
    progress: Callable[[int], None] = lambda done: None,
) -> Verified:
    """Judge the anchors of these nodes, or of all, and write the changes if the store can be
    written. Files are read before the store is locked."""
    result = Verified()
    judged: list[Change] = []
    by_root: dict[str, list[Anchor]] = {}
    with store.faults:
        for anchor in store.anchors.live(ids):
            by_root.setdefault(anchor.root, []).append(anchor)
        for kept, anchors in by_root.items():
            root = kept or store.project
            if is_open(kept) and os.path.isdir(root):
                judged += _Verdicts(store, Project(root), reader, result).of(anchors, progress)
                continue
            why = "which is not there" if is_open(kept) else "where 'lore anchor' was not used yet"
            lead = counted(len(anchors), "anchor leads", "anchors lead")
            result.notes.append(f"{lead} to {root}, {why}")
            result.found += [(anchor, anchor) for anchor in anchors]
        result.found = sorted(result.found + judged, key=lambda pair: pair[1].key)
        if store.scope:  # verdicts on common records are written without a scope
            judged = [pair for pair in judged if is_own(pair[0].node_id, store.scope)]
        changes = [(old, new) for old, new in judged if old is not new]
        if store.writable:
            _keep(store, embedder, changes, [new for _, new in judged if new.is_broken])
        elif changes:
            result.notes.append("the store cannot be written: the verdicts are not kept")
    return result


class _Verdicts:
    """Judge the anchors of one project: parse changed files together, then files with the names of
    missing symbols."""

    def __init__(self, store: Store, project: Project, reader: CodeReader, into: Verified) -> None:
        self._store, self._project = store, project
        self._reader, self._result = reader, into
        self._definitions = Definitions(project, reader.outline)
        self._successors = Successors(project, self._definitions)
        self._files: set[str] = set()  # to parse
        self._words: set[str] = set()  # last names of missing symbols
        self._stage = 0

    def of(self, anchors: Sequence[Anchor], progress: Callable[[int], None]) -> list[Change]:
        """Return the readable anchors with their new states; add the rest to the result."""
        found: list[Change] = []
        unread: list[str] = []
        rules: list[Anchor] = []
        for self._stage in range(3):
            if self._stage == 1:
                self._definitions.read("", sorted(self._files))
            elif self._stage == 2:
                others = self._project.files_with(sorted(self._words))
                self._definitions.read("", others[:MOST_PARSED])
            doubtful: list[Anchor] = []
            for anchor in anchors:
                try:
                    if fault := fault_of(anchor):
                        raise Unreadable(fault)
                    new = self._judge(anchor) if anchor.kind != "rule" else None
                except Unreadable as error:
                    unread.append(f"{anchor.node_id}: {error}: its verdict is as it was")
                    self._result.found.append((anchor, anchor))
                    continue
                if new is not None:
                    at = {"verified_at": ""}
                    same = new is anchor or new.to_dict() | at == anchor.to_dict() | at
                    found.append((anchor, anchor if same else new))
                else:
                    (rules if anchor.kind == "rule" else doubtful).append(anchor)
            progress(len(anchors) - len(doubtful))
            # Valid anchors come first, and anchors to the same file together.
            anchors = sorted(doubtful, key=lambda one: (one.verdict == "invalid", one.path))
        more = [f"{len(unread) - NOTED} more anchors could not be read"]
        self._result.notes += unread[:NOTED] + more * (len(unread) > NOTED)
        if skipped := self._successors.skipped:
            self._result.notes.append(f"{skipped} symbols were not searched: use 'lore verify ID'")
        return found + self._count(rules)

    def _count(self, rules: Sequence[Anchor]) -> list[Change]:
        from .claims import counted_claims, judged_anchor

        counts, found = counted_claims(self._project, rules, self._reader), []
        for rule in rules:
            new, judged = judged_anchor(rule, counts[rule.key], self._project.head)
            found.append((rule, new))
            self._result.claims[rule.key] = judged
        return found

    # --- verdicts

    def _judge(self, anchor: Anchor) -> Anchor | None:
        """Return the new state; None for a symbol that needs the next stage.

        A file with an unchanged stamp is not read, unless the anchor was invalid or relocated.
        """
        project, path = self._project, anchor.path
        if anchor.kind == "glob":
            if anchor.verdict == "valid" and anchor.stamp and project.has(anchor.stamp):
                return anchor
            first = next(iter(project.matching(path)), "")
            changed = self._at(anchor, path, "", "" if first else "matches no file", invalid=True)
            changed.stamp = first or anchor.stamp
            return changed
        stamp = project.stamp(path)
        if stamp == anchor.stamp and anchor.verdict not in ("invalid", "relocated"):
            return anchor
        new: str | None = path
        if stamp == GONE:
            content = anchor.hash if anchor.kind in ("file", "hash") else ""
            new = project.moved_to(path, anchor.commit_id, content, anchor.stamp)
        if anchor.kind == "symbol":
            return self._symbol(anchor, new or path)
        return self._look(anchor, new) if new else self._lost(anchor, "no such file")

    def _look(self, anchor: Anchor, path: str) -> Anchor:
        """Return the state by the content of a file, which defines the symbol of the anchor."""
        detail, fault, hash = anchor.detail, "", anchor.hash
        if anchor.kind == "symbol":
            known = self._definitions.find("", path, detail)
            same = hash.partition(" ")[0] in [one.hash for one in known]
            fault = "" if same else "its body changed"
        elif anchor.kind == "lines":
            found = find_stretch(self._project.lines(path), hash, detail)
            fault = "" if found else "the text changed"
            detail = found or detail
        elif anchor.kind == "file":
            hash = self._project.hash(path)
        elif self._project.digest(path) != hash:
            fault = "the content changed"
        changed = self._at(anchor, path, detail, fault)
        changed.hash = hash
        return changed

    def _symbol(self, anchor: Anchor, path: str) -> Anchor | None:
        name = anchor.detail
        there_now = self._project.has(path) and self._project.digest(path)  # or Unreadable
        if there_now == anchor.hash.partition(" ")[2]:
            return self._at(anchor, path, name, "")
        if self._stage == 0:
            self._files.add(path)
            return None
        if self._definitions.find("", path, name):
            return self._look(anchor, path)
        if self._stage == 1:
            self._words.update(re.findall(r"\w+", last_name(name)))
            return None
        there = self._definitions.elsewhere(path, name)
        for one in there:
            if one.hash == anchor.hash.partition(" ")[0]:
                return self._at(anchor, one.path, one.qualified, "")
        reason = f"{name} is defined nowhere"
        if there:
            reason = f"gone; another {name} is in {there[0].path}"
        found = self._successors.of(anchor, path)
        if len(found) == 1:
            figure, new = found[0]
            fault = "" if anchor.hash.partition(" ")[0] == new.hash else "its body changed"
            moved = self._at(anchor, new.path, new.qualified, fault)
            moved.reason += f", similarity {figure:.2f}"
            return moved
        named = [f"{one.path}::{one.qualified} (similarity {alike:.2f})" for alike, one in found]
        reason += f"; it may be {' or '.join(named)}" if named else ""
        return self._lost(anchor, reason)

    def _lost(self, anchor: Anchor, reason: str) -> Anchor:
        """Return the anchor at the last former place that has such code again, or else as
        invalid."""
        found = self._at(anchor, anchor.path, anchor.detail, reason, invalid=True)
        taken = {other.key for other in self._store.anchors.of(anchor.node_id)}
        for path, detail in self._store.anchors.left_by(anchor):
            before = anchor.copy()
            before.path, before.detail = path, detail
            if before.key in taken or self._project.stamp(path) == GONE:
                continue
            if anchor.kind == "symbol" and not self._definitions.find("", path, detail):
                continue
            there = self._look(before, path)
            fault = there.reason.partition(";")[0] if there.is_broken else ""
            if not fault or found.verdict == "invalid":
                found = self._at(anchor, there.path, there.detail, fault)
                found.hash = there.hash
            if not fault:
                break
        return found

    def _at(
        self, anchor: Anchor, path: str, detail: str, fault: str, *, invalid: bool = False
    ) -> Anchor:
        """Return the anchor at a place; without a fault it holds, relocated if the place is new."""
        changed = anchor.copy()
        changed.path, changed.detail, changed.reason = path, detail, fault
        changed.verdict = ("invalid" if invalid else "drifted") if fault else "valid"
        if (path, detail) != (anchor.path, anchor.detail):
            mark = "::" if anchor.kind == "symbol" else ":"
            before = f"was {mark.join(filter(None, (anchor.path, anchor.detail)))}"
            changed.verdict = "drifted" if fault else "relocated"
            changed.reason = f"{fault}; {before}" if fault else before
            if detail != anchor.detail:  # the file's hash belongs to the former name
                changed.hash = anchor.hash.partition(" ")[0]
        if not fault:
            changed.commit_id = self._project.head
        stamp = self._project.stamp(path) if anchor.kind != "glob" else GONE
        if stamp != GONE:  # the size of a missing file helps to find it elsewhere
            changed.stamp = stamp
        changed.verified_at = now()
        return changed


# --- writing


def _keep(
    store: Store,
    embedder: Callable[[], Embedder | None],
    changes: Sequence[Change],
    broken: Sequence[Anchor],
) -> None:
    commits = _breaking_commits(store, broken)
    if not changes and not commits:
        return
    write = partial(write_nodes, store)
    with store.transaction():
        store.anchors.replace((old.key, new) for old, new in changes)
        for old, new in changes:
            if (old.path, old.detail) != (new.path, new.detail):
                link_anchor(store, write, new, [], source_of(store, old))
                unlink_anchor(store, old)
                _move_node(store, old, new)
            if old.is_broken and not new.is_broken:
                unlink_if_whole(store, new.node_id)
        for anchor, node in commits:
            if store.scope and store.nodes.get(node.id) is None:
                node.id = own(node.id, store.scope)
            if store.nodes.get(node.id) is None:
                write([node])
            tie(store, Edge(anchor.node_id, node.id, INVALIDATED_BY, source="system"))
    embed_missing(store, embedder())


def _move_node(store: Store, old: Anchor, new: Anchor) -> None:
    """Move a record with the anchor of the record's file."""
    node = store.nodes.get(new.node_id)
    if node is None or node.file != old.path:
        return
    node.file = new.path
    if new.kind == "lines" and (node.line_start, node.line_end) == line_numbers(old.detail):
        node.line_start, node.line_end = line_numbers(new.detail)
    if store.nodes.put(node) == "updated" and new.path != old.path:
        Index(store).update([node])


def _breaking_commits(store: Store, broken: Sequence[Anchor]) -> list[tuple[Anchor, Node]]:
    """Return each anchor with the last commit that changed the file since the anchor was valid.
    Nodes with a link to such a commit are skipped."""
    found = []
    groups: dict[tuple[str, str], list[tuple[Anchor, str]]] = {}
    for anchor in broken:
        edges = store.edges.of(anchor.node_id)
        if (INVALIDATED_BY, anchor.node_id) not in [(one.relation, one.from_id) for one in edges]:
            file = anchor.stamp if anchor.kind in ("glob", "rule") else anchor.path
            groups.setdefault((anchor.root, anchor.commit_id), []).append((anchor, file))
    for (root, commit), anchors in groups.items():
        project = Project(root or store.project)
        if project.head not in ("", commit):
            git = project.git
            committed = {file for _, file in anchors}.difference(git.changed())
            by_path = git.last_commits(commit, committed)
            nodes = {hash: git.commit(hash) for hash in sorted(set(by_path.values()))}
            found += [(anchor, nodes[by_path[file]]) for anchor, file in anchors if file in by_path]
    return found


# --- rows


def rows(
    store: Store, anchors: Iterable[Anchor], claims: Mapping[AnchorKey, ClaimResult] | None = None
) -> list[dict[str, Any]]:
    """Return anchors as results, with their nodes; the rules of ``claims`` with their places."""
    anchors, claims = list(anchors), claims or {}
    titles = store.nodes.briefs(list({anchor.node_id for anchor in anchors}))
    found = []
    for anchor in anchors:
        title = titles[anchor.node_id][1] if anchor.node_id in titles else ""
        places = claims[anchor.key].to_row() if anchor.key in claims else {}
        found.append({"id": anchor.node_id, "title": title, **anchor_row(anchor), **places})
    return found


def first_line(store: Store, anchor: Anchor, reader: CodeReader) -> int:
    """Return the first line of an anchor's code in today's file; 1 if it is not there."""
    if anchor.kind == "lines":
        return line_numbers(anchor.detail)[0] or 1
    if anchor.kind != "symbol" or fault_of(anchor) or not is_open(anchor.root):
        return 1
    definitions = Definitions(Project(anchor.root or store.project), reader.outline)
    found = definitions.find("", anchor.path, anchor.detail)
    return found[0].line_start if found else 1


def require_anchors(store: Store, ids: Sequence[str]) -> None:
    """Raise LoreError if a node is unknown, or has no anchor."""
    for id in ids:
        store.nodes.require(id)
        if not store.anchors.of(id):
            raise LoreError(f"'{id}' has no anchor: 'lore anchor {id} FILE' makes one")
