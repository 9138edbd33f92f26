"""Writing what was read: nodes, ``defines`` edges, and then the edges between names."""

from __future__ import annotations

import json
import os
from collections import Counter
from functools import cache
from typing import Any

from ..core.model import Edge, Node
from ..core.times import now
from ..core.vocabulary import CODE, CODE_IDS, COMMIT_IDS, file_id, qualified_of, symbol_id
from ..indexing.indexer import Index
from ..system.files import GONE, lstamp_of, size_in
from .extract import Mentions, asked_by
from .facts import FileFacts
from .resolution_cache import (
    KEPT,
    KeptAnswers,
    KeptMentions,
    about,
    answers_as_json,
    outline,
    put_reads,
    read_about,
    rows_of,
)
from .resolve import scopes
from .resolve.kept import MENTIONS, Reads, put
from .resolve.scopes import fields_of
from .worker import Entry, FileOutcome, facts_from_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping

    from ..core.settings import Settings
    from ..store import Store
    from ..system.listing import FileTree, Listing
    from .resolve.calls import Resolution
    from .resolve.incremental import IncrementalResult


class Changes:
    """Work to do, from a look at the tree alone."""

    def __init__(self, listing: Listing) -> None:
        self.listing = listing
        self.read: dict[str, int] = {}
        """Path → bytes."""
        self.gone: list[str] = []
        self.unchanged = 0


def changes(
    stamps: dict[str, str], tree: FileTree, root: str, below: str, *,
    anew: bool = False,
) -> Changes:  # fmt: skip
    """Compare the tree with what was read before.

    ``anew`` reads everything again, the same content too.
    """
    found = Changes(tree.files())
    prefix = f"{below}/" if below else ""
    gone = {path for path in stamps if path.startswith(prefix)} if prefix else set(stamps)
    start = root.rstrip("/") + "/"
    for path in found.listing.paths:
        old = stamps.get(path)
        stamp = lstamp_of(start + path)
        if stamp == old and not anew and stamp:
            gone.discard(path)
        elif "-" in stamp:
            gone.discard(path)
            found.read[path] = size_in(stamp)
        elif stamp != GONE:
            found.listing.skip(stamp)
    found.unchanged = len(stamps) - len(gone) - sum(path in stamps for path in found.read)
    if prefix:
        found.unchanged -= sum(not path.startswith(prefix) for path in stamps)
    found.gone = sorted(gone)
    return found


OWED = "code_owed"
RULES = "code_rules"
TOTALS = "code_totals"
INDEXED = "code_indexed_at"
"""Keys of ``meta``."""


def new_token() -> str:
    """Return what marks one run's debt, so that another run's is distinguished."""
    return f"{now()} {os.urandom(4).hex()}"


def packed_totals(totals: dict[str, Any]) -> str:
    """Pack nested counts as lines, which are read without ``json``: its import takes long."""
    lines = []
    for name, value in totals.items():
        lines.append(f"{name}\t{value}" if isinstance(value, int) else name)
        if isinstance(value, dict):
            lines += [f"\t{key}\t{count}" for key, count in value.items()]
    return "\n".join(lines)


def unpacked_totals(text: str) -> dict[str, Any]:
    """Return the counts that ``packed_totals`` packed."""
    totals: dict[str, Any] = {}
    group: dict[str, int] = {}
    for line in text.split("\n"):
        name, _, value = line.rpartition("\t")
        if name.startswith("\t"):
            group[name[1:]] = int(value)
        elif name:
            totals[name] = int(value)
        else:
            group = totals[value] = {}
    return totals


if TYPE_CHECKING:
    Held = dict[tuple[str, str, str], tuple[float, str, str, bool]]
    Wanted = dict[tuple[str, str, str], tuple[float, str]]
    """Both ends and the relation of an edge, to its weight and why."""

_BATCH = 300
"""Files of one transaction."""
_SEEN = ("title", "body")
"""Fields of a node that a search finds: a change of them is indexed."""
_CONTENT = (*_SEEN, "file", "line_start", "line_end", "data", "invalidated_at")


class Writer:
    """Take outcomes as they come, and finishes with what follows from all of them."""

    def __init__(
        self, store: Store, settings: Settings, root: str,
        known: dict[str, tuple[str, str]], found: Changes,
    ) -> None:  # fmt: skip
        self.done = {"read": 0, "added": 0, "changed": 0, "removed": 0, "unchanged": 0}
        self._store = store
        self._root = root
        self._known = known
        self._gone = found.gone
        self._index = Index(store)
        self._facts: dict[str, FileFacts] = {}
        self._waiting: list[FileOutcome] = []
        self._moved: dict[str, str] = {}
        self._lost = {known[path][0]: path for path in found.gone if known[path][0]}
        self._now = now()
        self.token = new_token()
        self._about = None if store.meta.get(OWED) else read_about(store.meta.get(KEPT) or "")
        self._totals_before = store.meta.get(TOTALS)
        with store.transaction():
            store.meta.set(OWED, self.token)

    def take(self, outcomes: list[FileOutcome]) -> None:
        """Write outcomes, as soon as there are enough of them for a transaction."""
        self._count(outcomes)
        self._waiting += outcomes
        if len(self._waiting) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        self._about = None  # what the files said before is written over
        self._store.code.hold_more()
        with self._store.faults, self._store.transaction():
            self._write_waiting()
        self._waiting = []

    def _write_waiting(self) -> None:
        """Write what waits."""
        waiting = self._waiting
        if not waiting:
            return
        store = self._store
        changed = [outcome for outcome in waiting if not outcome.same]
        store.code.restamp((o.stamp, o.path) for o in waiting if o.same)
        store.code.put(
            (o.path, o.hash, o.stamp, o.language, o.facts or json.dumps({"skipped": o.skipped}))
            for o in changed
        )
        store.whole_files.remove([o.path for o in changed if not o.language])
        store.whole_files.put((o.path, o.text, o.parts) for o in changed if o.language)
        self._write_nodes(changed)

    def _count(self, outcomes: Iterable[FileOutcome]) -> None:
        for outcome in outcomes:
            if outcome.same:
                self.done["unchanged"] += 1
                continue
            self.done["read"] += 1
            old = self._known.get(outcome.path)
            if outcome.facts:
                self._facts[outcome.path] = facts_from_json(
                    outcome.path, outcome.language, outcome.facts
                )
                self.done["changed" if old is not None and old[1] else "added"] += 1
                if old is None and outcome.hash in self._lost:
                    self._moved.setdefault(self._lost[outcome.hash], outcome.path)

    def _write_nodes(self, outcomes: list[FileOutcome]) -> None:
        """Write the nodes of files that were read again, and of their symbols."""
        code = self._store.code
        old = code.nodes_of([outcome.path for outcome in outcomes])
        put: list[Node] = []
        new: list[Node] = []
        seen: list[tuple[Node, Entry]] = []
        edges: list[Edge] = []
        for outcome in outcomes:
            for entry in outcome.entries or ():
                node = _node(entry, outcome.path, self._now)
                known = old.pop(node.id, None)
                if known is None:
                    new.append(node)
                    seen.append((node, entry))
                else:
                    self._compare(node, entry, known, put, seen)
                if entry.first is not None:
                    edges.append(Edge(file_id(outcome.path), entry.id, "defines", 1.0, "file",
                                      created_at=self._now))  # fmt: skip
        code.put_nodes(put)
        code.add_nodes(new)
        forgotten = self._forget(old.values())
        self._index.replace(CODE, [
            *((entry.id, entry.rows) for _, entry in seen), *((node.id, []) for node in forgotten),
        ])  # fmt: skip
        file_ids = [file_id(outcome.path) for outcome in outcomes if outcome.path in self._known]
        live = code.defined(file_ids)
        fresh = {node.id for node in new}
        code.add_edges(edge for edge in edges if edge.to_id in fresh)
        code.put_edges(
            edge for edge in edges
            if edge.to_id not in fresh and (edge.from_id, edge.to_id) not in live
        )  # fmt: skip

    def _compare(
        self, node: Node, entry: Entry, old: Node, put: list[Node],
        seen: list[tuple[Node, Entry]],
    ) -> None:  # fmt: skip
        """Queue a changed node for writing, and for indexing."""
        if all(getattr(old, name) == getattr(node, name) for name in _CONTENT):
            return
        is_indexed = _is_indexed(entry, old)
        for name in _CONTENT:
            setattr(old, name, getattr(node, name))
        put.append(old)
        if not is_indexed:
            old.updated_at = self._now
            seen.append((old, entry))

    def _forget(self, nodes: Iterable[Node]) -> list[Node]:
        """Invalidate what is no longer there, and drop what was found in it; other edges are out
        with it."""
        forgotten: list[Node] = []
        for node in nodes:
            if node.invalidated_at is None:
                node.invalidated_at = self._now
                self._store.nodes.invalidate(node.id, self._now)
                forgotten.append(node)
        found = self._store.code.resolved_from([node.id for node in forgotten])
        self._store.edges.drop_derived(found)
        return forgotten

    def finish(self) -> dict[str, Any]:
        """Write what is left, forget files that are gone, and resolve the names of all.

        What the store holds then: files, symbols, languages, edges, unresolved, skipped.
        """
        store = self._store
        again = self._resolve_incremental()
        if again is None:
            store.code.hold_more()
        found = facts = None
        if again is None and store.meta.get(OWED) == self.token:
            old = {outcome.path for outcome in self._waiting if not outcome.same}
            facts = self._stored_facts(old.union(self._facts, self._gone)) | self._facts
            found = self._found(facts, self._write_rest_now)
        with store.transaction():
            is_alone = store.meta.get(OWED) == self.token
            if found is None or not is_alone:
                self._write_rest()  # another run may have written: then what the store has counts
            if again is not None and is_alone:
                unresolved = self._write_incremental(*again)
            else:
                if found is None or facts is None or not is_alone:
                    facts = self._stored_facts(())
                    found = self._found(facts, lambda: None)
                unresolved = self._write_all(found, facts)
            totals = self._totals(unresolved)
            store.meta.set(INDEXED, self._now)
        return totals

    # Where little has changed.

    def _resolve_incremental(self) -> tuple[IncrementalResult, Wanted] | None:
        """Return what depends on the change; None where everything is to be resolved."""
        if self._about is None or not self._totals_before:
            return None
        from .resolve.incremental import MOST_CHANGED, FileChange, Tree, resolve_incremental
        from .resolve.lazy import WholeError

        code = self._store.code
        paths = {outcome.path for outcome in self._waiting if not outcome.same}.union(self._gone)
        if len(paths) > MOST_CHANGED:
            return None
        kept = KeptAnswers(self._store)
        changes = {
            path: FileChange(kept.facts(path), self._facts.get(path)) for path in sorted(paths)
        }
        changes = {path: change for path, change in changes.items() if change.says_other()}
        languages = code.languages_of_all()
        for path, change in changes.items():
            if change.new is not None:
                languages[path] = change.new.language
            else:
                languages.pop(path, None)
        adopting, manifests = self._about
        tree = Tree(self._root, languages, manifests, adopting, kept.outlines)
        try:
            again = resolve_incremental(kept, changes, tree)
        except WholeError:
            return None
        wanted = {ends: (sure, _reason(reason)) for ends, (sure, reason) in again.edges.items()}
        changed = {path: change.new for path, change in changes.items()}
        mentioning = {*again.mentioning, *changes} & languages.keys()
        mentions = KeptMentions(sorted(languages), kept, changed) if mentioning else None
        for path in mentioning:
            facts = changed[path] if path in changed else kept.facts(path)
            again.relations.setdefault(path, set()).add("mentions")
            again.ids.setdefault(path, set()).add(file_id(path))
            if facts is not None and mentions is not None:
                self._mention(facts, mentions, wanted)
                self._keep_asked(again.reads, path, facts)
        return again, wanted

    def _write_incremental(self, again: IncrementalResult, wanted: Wanted) -> dict[str, int]:
        """Write what depends on the change; the names that lead nowhere, as they are now."""
        code, answers = self._store.code, self._store.code_answers
        relations = {id: again.relations[path] for path, ids in again.ids.items() for id in ids}
        held = {
            key: row for key, row in code.resolved_from(list(relations)).items()
            if key[2] in relations[key[0]]
        }  # fmt: skip
        self._compare_edges(held, wanted)
        # What has come back has its edges again, of files too that name it no more.
        come = code.resolved_to(sorted(again.come))
        self._store.edges.drop_derived(key for key in come if key not in wanted)
        answers.put_answers(
            (path, outline(again.facts[path]), answers_as_json(each))
            for path, each in again.answers.items()
        )  # fmt: skip
        put_reads(self._store, again.reads)
        for path, (gone, new) in again.posts.items():
            answers.put_marks(path, gone, new)
        answers.remove(path for path in again.before if path not in again.answers)
        unresolved = Counter(_group(self._totals_before or "", "unresolved"))
        unresolved.subtract(_unresolved(each.counts for each in again.before.values()))
        unresolved.update(_unresolved(each.counts for each in again.answers.values()))
        return dict(sorted((name, count) for name, count in unresolved.items() if count > 0))

    # Where everything is resolved.

    def _write_all(
        self, found: tuple[Wanted, Resolution], facts: dict[str, FileFacts]
    ) -> dict[str, int]:  # fmt: skip
        wanted, resolution = found
        self._compare_edges(self._store.code.resolved(), wanted)
        answers = self._store.code_answers
        answers.clear()
        answers.fill(rows_of(resolution, facts))
        self._store.meta.set(KEPT, about(resolution))
        return _unresolved(each.counts for each in resolution.answers.values())

    def _forget_files(self) -> None:
        code = self._store.code
        old = code.nodes_of(self._gone)
        for path, target in self._moved.items():
            self._move_links(path, target, old)
        self._index.update(self._forget(old.values()))
        self._store.whole_files.remove(self._gone)
        code.remove(self._gone)
        self.done["removed"] = sum(bool(self._known[path][1]) for path in self._gone)

    def _move_links(self, path: str, target: str, old: dict[str, Node]) -> None:
        """Move links of records to nodes that have another path now."""
        edges = self._store.edges
        for node in old.values():
            if node.file != path or node.invalidated_at is not None:
                continue
            name = qualified_of(node.id)
            new_id = symbol_id(target, name) if name else file_id(target)
            for edge in edges.of(node.id):
                other = edge.to_id if edge.from_id == node.id else edge.from_id
                if other.startswith((*CODE_IDS, COMMIT_IDS)):
                    continue
                edges.put(
                    Edge(
                        new_id if edge.from_id == node.id else edge.from_id,
                        new_id if edge.to_id == node.id else edge.to_id,
                        edge.relation,
                        edge.weight,
                        edge.source,
                        edge.status,
                        edge.metadata,
                        self._now,
                    )  # fmt: skip
                )

    def _found(
        self, facts: dict[str, FileFacts], meanwhile: Callable[[], object]
    ) -> tuple[Wanted, Resolution]:
        """Return the edges between names, and what became of the names.

        ``meanwhile`` is called while other processes are at it.
        """
        found = _resolved(facts, self._root, meanwhile)
        wanted = {ends: (sure, _reason(reason)) for ends, (sure, reason) in found.edges.items()}
        mentions = Mentions(facts)
        for path, each in facts.items():
            self._mention(each, mentions, wanted)
            self._keep_asked(found.reads, path, each)
        return wanted, found

    @staticmethod
    def _mention(facts: FileFacts, mentions: Mentions, wanted: Wanted) -> None:
        for id, weight in mentions.of(facts).items():
            wanted[file_id(facts.path), id, "mentions"] = (weight, "{}")

    @staticmethod
    def _keep_asked(reads: Reads, path: str, facts: FileFacts) -> None:
        asked = {scopes.mentioned(name) for name in asked_by(facts)}
        if asked:
            put(reads, path, MENTIONS, asked)

    def _write_rest(self) -> None:
        self._write_waiting()
        self._waiting = []
        self._forget_files()

    def _write_rest_now(self) -> None:
        with self._store.transaction():
            self._write_rest()

    def _stored_facts(self, but: Container[str]) -> dict[str, FileFacts]:
        return {
            path: facts_from_json(path, language, text)
            for path, language, text in self._store.code.facts(but)
        }

    def _compare_edges(self, held: Held, wanted: Wanted) -> None:
        """Drop the edges that are not wanted any more, and write those that are new or other."""
        code = self._store.code
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

    def _totals(self, unresolved: dict[str, int]) -> dict[str, Any]:
        code = self._store.code
        languages = code.languages()
        return {
            "files": sum(languages.values()),
            "symbols": code.symbol_count(),
            "languages": dict(sorted(languages.items())),
            "edges": code.edge_counts(),
            "unresolved": unresolved,
            "skipped": code.skipped(),
        }


def _resolved(
    facts: dict[str, FileFacts], root: str, meanwhile: Callable[[], object]
) -> Resolution:  # fmt: skip
    from .resolve.resolve import resolve

    return resolve(facts, root, meanwhile=meanwhile)


def _group(totals: str, name: str) -> dict[str, int]:
    """Return one group of the counts that ``meta`` keeps."""
    found: dict[str, int] = unpacked_totals(totals).get(name) or {}
    return found


@cache
def _reason(reason: str) -> str:
    return json.dumps(fields_of(reason))


def _node(entry: Entry, path: str, at: str) -> Node:
    return Node(
        entry.id, "file" if entry.first is None else "symbol", entry.title, entry.body,
        source="file", file=path, line_start=entry.first, line_end=entry.last, data=entry.data,
        created_at=at, updated_at=at,
    )  # fmt: skip


def _is_indexed(entry: Entry, held: Node | None) -> bool:
    """Return whether a node that the store has is found by what the entry says."""
    return (
        held is not None
        and held.invalidated_at is None
        and all(getattr(held, name) == getattr(entry, name) for name in _SEEN)
    )


def _unresolved(counts: Iterable[Mapping[str, Mapping[str, int]]]) -> dict[str, int]:
    """Return the names that lead nowhere, by kind, over all files."""
    found: dict[str, int] = {}
    for kinds in counts:
        for what, outcomes in kinds.items():
            for outcome, count in outcomes.items():
                if outcome in ("unresolved", "ambiguous", "external"):
                    key = f"{what} {outcome}"
                    found[key] = found.get(key, 0) + count
    return dict(sorted(found.items()))
