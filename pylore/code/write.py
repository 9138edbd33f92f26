"""Write outcomes: nodes, ``defines`` edges, and then the edges between names."""

from __future__ import annotations

import json
import os
from functools import cache
from typing import TYPE_CHECKING, Any

from ..anchors.attach import link_anchor, source_of
from ..anchors.project import root_to_keep
from ..core.model import Edge, Node
from ..core.times import now
from ..core.vocabulary import CODE, CODE_IDS, COMMIT_IDS, file_id, qualified_of, symbol_id
from ..indexing.indexer import Index
from . import OWED
from .edges import MENTION, Mentions, Resolver
from .facts import calls_from_json, exported, facts_from_json
from .tree import nearest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from ..store import Store
    from .worker import Entry, FileOutcome

    Wanted = dict[tuple[str, str, str], tuple[float, str]]  # edge → weight and metadata

_BATCH = 300  # files of a transaction
_MARKS = str.maketrans(dict.fromkeys("\"'./:,()[]<>&*~#@?!", " "))  # between names
_SEEN = ("title", "body")  # fields of a node that a search finds: a change of them is indexed
_CONTENT = (*_SEEN, "file", "line_start", "line_end", "data", "invalidated_at")


class Writer:
    """Take outcomes as they come; ``finish`` writes the edges."""

    def __init__(self, store: Store, root: str, read: Iterable[str], gone: Iterable[str]) -> None:
        self.done = {"read": 0, "added": 0, "changed": 0, "removed": 0, "unchanged": 0}
        store.code.enlarge_cache()
        self.known = store.code.known([*read, *gone])  # path → hash, language
        self._store = store
        self._root = root
        self._gone = [path for path in gone if path in self.known]  # but for parallel runs
        self._index = Index(store)
        self._waiting: list[FileOutcome] = []
        self._changed: set[str] = set()
        self._exporting: set[str] = set()
        self._importing: set[str] = set()  # ids of files that import a file that is gone
        self._names: set[str] = set()
        """Files that export something else than before, and the names in them and of them."""
        self._new: dict[str, list[str]] = {}  # hash of a content to new files
        self._now = now()
        self._token = f"{self._now} {os.urandom(4).hex()}"  # in ``meta`` until edges are written
        self._is_whole = False  # true if edges of a parallel or interrupted run are missing

    def take(self, outcomes: Iterable[FileOutcome]) -> None:
        """Write outcomes, as soon as there are enough of them for a transaction."""
        for outcome in outcomes:
            self._waiting.append(outcome)
            if outcome.same:
                self.done["unchanged"] += 1
                continue
            self.done["read"] += 1
            self._changed.add(outcome.path)
            old = self.known.get(outcome.path)
            if outcome.facts:
                self.done["changed" if old is not None and old[2] else "added"] += 1
                if old is None and outcome.text:
                    self._new.setdefault(outcome.hash, []).append(outcome.path)
        if len(self._waiting) >= _BATCH:
            with self._store.transaction():
                self._write_files()

    def finish(self) -> None:
        """Write the rest, forget files that are gone, and resolve all names."""
        with self._store.transaction():
            self._write_files()
            self._forget_files()
        if not (self._changed or self._gone or self._is_whole):
            return
        wanted, owners = self._edges()
        with self._store.transaction():
            is_alone = self._store.meta.get(OWED) == self._token
            if not is_alone:  # a parallel run has written
                self._is_whole = True
                wanted, owners = self._edges()
            self._write_edges(wanted, owners)
            if is_alone:
                self._store.meta.set(OWED, None)

    def _write_files(self) -> None:
        code, whole = self._store.code, self._store.whole_files
        changed = [outcome for outcome in self._waiting if not outcome.same]
        held = self._store.meta.get(OWED)
        if changed or self._gone or held:
            self._is_whole = self._is_whole or held not in (None, self._token)
            self._store.meta.set(OWED, self._token)
        code.restamp((o.stamp, o.path) for o in self._waiting if o.same)
        self._note_names({outcome.path: outcome.facts for outcome in changed})
        code.put(
            (o.path, o.hash, o.stamp, o.language, o.facts or json.dumps({"skipped": o.skipped}))
            for o in changed
        )
        whole.remove([o.path for o in changed if not o.language])
        whole.put((o.path, o.text, o.parts) for o in changed if o.language)
        self._write_nodes(changed)
        self._waiting = []

    def _note_names(self, facts: Mapping[str, str]) -> None:
        """Note the files that export something else by these facts, "" for none, than before."""
        before = {path: text for path, _, text in self._store.code.facts([*facts])}
        for path, text in facts.items():
            comes_or_goes = path not in before or not text
            old, new = exported(before.get(path, "")), exported(text)
            if comes_or_goes or old != new:
                self._exporting.add(path)
                rows = (*old[0], *new[0])
                spaces = {row[0] for row in old[0] if row[2] == "module" and row in new[0]}
                self._names |= {part for row in rows for part in _parts(row[1])[-2:]} - spaces
            if comes_or_goes:
                self._names.update(_parts(os.path.splitext(path)[0])[-2:])

    def _forget_files(self) -> None:
        self._note_names(dict.fromkeys(self._gone, ""))
        old = self._store.code.nodes_of(self._gone)
        for path in self._gone:
            edges = self._store.edges.of(file_id(path))
            self._importing |= {edge.from_id for edge in edges if edge.relation == "imports"}
            equal = self._new.get(self.known[path][1], [])
            named = [one for one in equal if os.path.basename(one) == os.path.basename(path)]
            if target := nearest(named or equal, path):
                self._move_links(path, target, old)
        self._index.update(self._forget(old.values()))
        self._store.whole_files.remove(self._gone)
        self._store.code.remove(self._gone)
        self.done["removed"] = sum(bool(self.known[path][2]) for path in self._gone)

    def _write_nodes(self, outcomes: Collection[FileOutcome]) -> None:
        """Write the nodes of files that were read again, and of their symbols."""
        code = self._store.code
        old = code.nodes_of([outcome.path for outcome in outcomes])
        put: list[Node] = []
        new: list[Node] = []
        rows: list[tuple[str, Any]] = []
        edges: list[Edge] = []
        for outcome in outcomes:
            for entry in outcome.entries:
                node = _node(entry, outcome.path, self._now)
                known = old.pop(node.id, None)
                if known is None:
                    new.append(node)
                    rows.append((entry.id, entry.rows))
                elif differing := {f for f in _CONTENT if getattr(known, f) != getattr(node, f)}:
                    if known.invalidated_at or not differing.isdisjoint(_SEEN):
                        known.updated_at = self._now
                        rows.append((entry.id, entry.rows))
                    for name in differing:
                        setattr(known, name, getattr(node, name))
                    put.append(known)
                if entry.first is not None:
                    ends = file_id(outcome.path), entry.id
                    edges.append(Edge(*ends, "defines", 1.0, "file", created_at=self._now))
        code.put_nodes([*put, *new])
        lost = (node for node in old.values() if node.type != "file")  # a skipped file remains
        rows += [(node.id, []) for node in self._forget(lost)]
        self._index.replace(CODE, rows)
        self._index.update([node for node in put if node.tags])  # the rows have no tags
        live = code.defined([file_id(one.path) for one in outcomes if one.path in self.known])
        fresh = {node.id for node in new}
        code.add_edges(edge for edge in edges if edge.to_id in fresh)
        code.put_edges(one for one in edges if one.to_id not in fresh and one.key[:2] not in live)
        kept = root_to_keep(self._store, self._root)
        tied = self._store.anchors.about(kept, [outcome.path for outcome in outcomes])
        for anchor in (one for id, _ in tied for one in self._store.anchors.of(id)):
            if symbol_id(anchor.path, anchor.detail) in fresh:  # anchored before it was indexed
                source = source_of(self._store, anchor)
                link_anchor(self._store, self._index.update, anchor, [], source)

    def _forget(self, nodes: Iterable[Node]) -> list[Node]:
        """Invalidate nodes that are gone, and drop the edges that were found in them."""
        forgotten = [node for node in nodes if node.invalidated_at is None]
        for node in forgotten:
            node.invalidated_at = self._now
            self._store.nodes.invalidate(node.id, self._now)
        self._store.edges.drop_derived(self._store.code.resolved([node.id for node in forgotten]))
        return forgotten

    def _move_links(self, path: str, target: str, old: Mapping[str, Node]) -> None:
        """Move links of records to nodes with a new path."""
        edges = self._store.edges
        for node in old.values():
            if node.file != path or node.invalidated_at is not None:
                continue
            name = qualified_of(node.id)
            new_id = symbol_id(target, name) if name else file_id(target)
            for edge in edges.of(node.id):
                is_start = edge.from_id == node.id
                if (edge.to_id if is_start else edge.from_id).startswith((*CODE_IDS, COMMIT_IDS)):
                    continue
                ends = (new_id, edge.to_id) if is_start else (edge.from_id, new_id)
                moved = Edge(*ends, edge.relation, edge.weight, created_at=self._now)
                moved.source, moved.status, moved.metadata = edge.source, edge.status, edge.metadata
                edges.put(moved)

    def _edges(self) -> tuple[Wanted, Collection[str] | None]:
        """Return edges, and the ids that they come from; None for all. Resolved are the changed
        files, and files that import files with other exports, or mention a name in these."""
        stored = {path: (language, text) for path, language, text in self._store.code.facts()}
        files = {path: facts_from_json(path, *row) for path, row in stored.items()}
        resolver = Resolver(files, self._root)
        changed = {*self._changed, *self._gone}
        owners = None
        if not (self._is_whole or resolver.has_read(changed)):
            names = self._names | resolver.adopted(self._names)
            others = files.keys() - changed if names else ()
            owners = {path for path in others if not names.isdisjoint(_parts(stored[path][1]))}
            owners |= {path for path in files if file_id(path) in self._importing}
            owners |= resolver.dependents(self._exporting) | (changed & files.keys())
        paths = files if owners is None else owners
        edges = resolver.edges({path: calls_from_json(stored[path][1]) for path in paths})
        wanted = {ends: (sure, _metadata(*why)) for ends, (sure, *why) in edges.items()}
        mentions = Mentions(files)
        mentioning = set()
        for path, facts in files.items():
            if any(item.kind == MENTION for item in facts.imports):
                mentioning.add(file_id(path))
                for id, weight in mentions.of(facts).items():
                    wanted[file_id(path), id, "mentions"] = (weight, "{}")
        if owners is None:
            return wanted, None
        ids = {file_id(path) for path in owners | changed} | mentioning
        ids |= {symbol_id(path, one.qualified) for path in owners for one in files[path].symbols}
        return wanted, ids

    def _write_edges(self, wanted: Wanted, owners: Collection[str] | None) -> None:
        """Drop unwanted edges; write new and changed edges."""
        code = self._store.code
        held = code.resolved(None if owners is None else [*owners])
        self._store.edges.drop_derived(key for key in held if key not in wanted)
        new: list[Edge] = []
        changed: list[Edge] = []
        for key, (weight, metadata) in wanted.items():
            known = held.get(key)
            if known != (weight, metadata, "system", True):
                edge = Edge(*key, weight, "system", metadata=metadata, created_at=self._now)
                (new if known is None else changed).append(edge)
        code.add_edges(new)
        code.put_edges(changed)


def _parts(text: str) -> list[str]:
    """Return the words of facts, or the names in a path."""
    return text.translate(_MARKS).split()


@cache
def _metadata(reason: str, import_type: str) -> str:
    return json.dumps({"reason": reason, **({"import_type": import_type} if import_type else {})})


def _node(entry: Entry, path: str, at: str) -> Node:
    type = "file" if entry.first is None else "symbol"
    node = Node(entry.id, type, entry.title, entry.body, source="file", file=path, data=entry.data)
    node.line_start, node.line_end = entry.first, entry.last
    node.created_at = node.updated_at = at
    return node
