"""A second store, of dicts: what ``pylore/store/protocols.py`` asks for, and nothing faster.

It stands for whatever else may keep knowledge one day. Several ``MemoryStore`` of one
``Shared`` are like several processes with one file.
"""

from __future__ import annotations

import os
from calendar import timegm
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from copy import copy, deepcopy
from fnmatch import fnmatchcase
from json import loads
from math import log, sqrt
from struct import unpack
from time import strptime, time
from types import TracebackType
from typing import Any

from pylore.core.errors import (
    GraphUnavailable,
    LoreError,
    StoreBusy,
    StoreError,
    StoreReadOnly,
    UsageError,
    VerdictsUnavailable,
    nearest,
)
from pylore.core.model import EDGE_HISTORY, Edge, Node
from pylore.core.text import PREFIX_LENGTH, SHORT_QUERY, Query, composed, fold, inflections, words
from pylore.core.times import now
from pylore.core.vocabulary import (
    COLLECTIONS,
    NO_RECORDS,
    RECORDS,
    RELATIONS,
    TEXTS,
    THING_IDS,
    TYPES,
)
from pylore.store.anchor import ANCHOR_HISTORY, Anchor
from pylore.store.filter import Scope

CODE_RELATIONS = ("imports", "calls", "inherits", "instantiates", "mentions")
FIELDS = ("title", "body", "tags", "file", "parts")
STATE = ("weight", "source", "status", "metadata", "invalidated_at")
Key = tuple[str, str, str]


class State:
    """All that one store holds."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.edges: dict[Key, Edge] = {}
        self.edge_history: list[dict[str, object]] = []
        self.passages: dict[int, tuple[str, str]] = {}
        self.rows: dict[str, dict[int, tuple[str, ...]]] = {name: {} for name in _collections()}
        self.vectors: dict[int, bytes] = {}
        self.next_vectors: dict[int, bytes] = {}
        self.anchors: dict[tuple[str, str, str, str], Anchor] = {}
        self.anchor_history: list[dict[str, str]] = []
        self.code: dict[str, tuple[str, str, str, str]] = {}
        self.shown: dict[str, dict[str, tuple[int, str, str]]] = {}
        self.meta = {"fulltext": "memory"}
        self.types = dict(TYPES)
        self.relations: dict[str, tuple[float, float, str]] = dict(RELATIONS)
        self.words: dict[str, list[int]] = {}
        self.counted: dict[str, Any] | None = None
        self.lost: set[str] = set()


def _collections() -> list[str]:
    return [*dict.fromkeys([TEXTS, *COLLECTIONS.values()])]


class Shared:
    """What several open stores have in common: the state, and who is writing."""

    def __init__(self, state: State | None = None) -> None:
        self.state = state or State()
        self.writer: MemoryStore | None = None
        self.writes: Counter[int] = Counter()


class Nothing:
    """A ``with`` block that changes no error: there is no driver whose own could come."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


class Block:
    """A transaction: works on a copy, which is put in place of the state at the end."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._inner = False

    def __enter__(self) -> None:
        store = self._store
        self._inner = store.own is not None
        if self._inner:
            return
        store.require_writing()
        store.shared.writer = store
        store.own = deepcopy(store.shared.state)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        store = self._store
        if self._inner or store.own is None:
            return
        if kind is None:
            store.shared.state = store.own
            store.shared.writes[id(store)] += 1
        store.own = store.shared.writer = None


class View(Block):
    """A snapshot: a copy that nobody else sees."""

    def __enter__(self) -> None:
        self._store.own = deepcopy(self._store.shared.state)

    def __exit__(self, *_: object) -> None:
        self._store.own = None


class MemoryStore:
    """One open store."""

    def __init__(
        self, shared: Shared | None = None, folder: str = "/memory", *, read_only: bool = False
    ) -> None:
        self.shared = shared or Shared()
        self.own: State | None = None
        self.path = os.path.join(folder, "memory")
        self.writable = not read_only
        self.faults, self.graph_faults = Nothing(), Nothing()
        self.meta, self.types, self.relations = Meta(self), Types(self), Relations(self)
        self.words, self.ratings, self.nodes = Words(self), Ratings(self), Nodes(self)
        self.edges, self.fulltext, self.vectors = Edges(self), FullText(self), Vectors(self)
        self.staged_vectors, self.statistics = StagedVectors(self), Statistics(self)
        self.anchors, self.code = Anchors(self), CodeFiles(self)
        self.impressions, self.review, self.checks = Impressions(self), Review(self), Checks()

    @property
    def state(self) -> State:
        """What this store sees."""
        return self.own or self.shared.state

    @property
    def changing(self) -> State:
        """The same, to be written to."""
        if self.own is None:
            self.require_writing()
            self.shared.writes[id(self)] += 1
        return self.state

    def require_writing(self) -> None:
        """Goes on where this store may write now."""
        if not self.writable:
            raise StoreReadOnly(f"{self.path}: cannot be written: open it otherwise")
        if self.shared.writer not in (None, self):
            raise StoreBusy(f"{self.path}: is locked by another writer: try again")

    @property
    def in_transaction(self) -> bool:
        return self.own is not None

    def data_version(self) -> object:
        return self.shared.writes.total() - self.shared.writes[id(self)]

    def transaction(self) -> Block:
        return Block(self)

    def aside(self, patience: float = 0.0) -> Block:
        return Block(self)

    def snapshot(self) -> View:
        return View(self)

    def compact(self) -> None:
        return None

    def copied_to(self, folder: str) -> MemoryStore:
        return MemoryStore(Shared(deepcopy(self.state)), folder)

    def close(self) -> None:
        return None

    def __enter__(self) -> MemoryStore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()


class Part:
    """One part of a store."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    @property
    def _state(self) -> State:
        return self._store.state

    @property
    def _changing(self) -> State:
        return self._store.changing

    def _node_is_live(self, id: str) -> bool:
        node = self._state.nodes.get(id)
        return node is not None and node.invalidated_at is None


def within(scope: Scope, node: Node) -> bool:
    """Whether a node meets the conditions of a scope."""
    patterns = [pattern.replace("[^", "[!") for pattern in scope.files]
    return (
        (not scope.types or node.type in scope.types)
        and (not scope.statuses or node.status in scope.statuses)
        and set(scope.tags) <= set(node.tags)
        and (not patterns or any(fnmatchcase(node.file or "", one) for one in patterns))
        and (not scope.since or node.updated_at >= scope.since)
        and (not scope.until or node.updated_at <= scope.until)
        and node.id not in scope.excluded
    )


def limited(rows: Iterable[Any], limit: int) -> list[Any]:
    """The first ones; all of them for ``ALL``."""
    found = list(rows)
    return found if limit < 0 else found[:limit]


def days_since(moment: str) -> float:
    """Days from a time in the past till now."""
    try:
        return (time() - timegm(strptime(moment[:19], "%Y-%m-%dT%H:%M:%S"))) / 86_400
    except ValueError:
        return 0.0


class Meta(Part):
    def all(self) -> dict[str, str]:
        return dict(self._state.meta)

    def get(self, key: str) -> str | None:
        return self._state.meta.get(key)

    def set(self, key: str, value: str | None) -> None:
        if value is None:
            self._changing.meta.pop(key, None)
        else:
            self._changing.meta[key] = value


class Types(Part):
    def all(self) -> dict[str, str]:
        return dict(sorted(self._state.types.items()))

    def require(self, names: Iterable[str]) -> tuple[str, ...]:
        wanted, known = dict.fromkeys(names), list(self.all())
        if RECORDS in wanted:
            del wanted[RECORDS]
            wanted |= dict.fromkeys(name for name in known if name not in NO_RECORDS)
        for name in wanted:
            if name not in known:
                raise UsageError(f"unknown type '{name}'{nearest(name, known)}: "
                                 f"one of {RECORDS}, {', '.join(known)}")  # fmt: skip
        return tuple(wanted)

    def declare(self, name: str, description: str) -> None:
        self._changing.types[name] = description


class Relations(Part):
    def all(self) -> dict[str, tuple[float, float, str]]:
        return dict(sorted(self._state.relations.items()))

    def declare(self, name: str, weight: float, backward: float, description: str) -> None:
        self._changing.relations[name] = (weight, backward, description)


class Words(Part):
    def get(self, words: Iterable[str]) -> dict[str, list[int]]:
        known = self._state.words
        return {word: list(known[word]) for word in words if word in known}

    def is_empty(self) -> bool:
        return not self._state.words

    def put(self, tokens: Mapping[str, list[int]]) -> None:
        for word, numbers in tokens.items():
            self._changing.words.setdefault(word, list(numbers))


class Ratings(Part):
    def of(self, ids: Sequence[str]) -> dict[str, tuple[float, int]]:
        found: dict[str, tuple[float, int]] = {}
        if "graph" in self._state.lost:
            raise GraphUnavailable("the graph cannot be read (lost): run 'lore doctor'")
        for edge in self._state.edges.values():
            if edge.from_id in ids and _is_rated(edge):
                helpful, rated = found.get(edge.from_id, (0.0, 0))
                found[edge.from_id] = (helpful + edge.weight, rated + 1)
        return found

    def recount(self) -> None:
        return None

    def wrong(self) -> int:
        return 0


def _is_use(edge: Edge) -> bool:
    return edge.relation == "used_in_run" and edge.invalidated_at is None


def _is_rated(edge: Edge) -> bool:
    return _is_use(edge) and loads(edge.metadata).get("rating", "") is not None


class Nodes(Part):
    def get(self, id: str) -> Node | None:
        return copy(self._state.nodes.get(id))

    def require(self, id: str) -> Node:
        node = self.get(id)
        if node is None:
            likely = [other for other in sorted(self._state.nodes) if id in other][:3]
            hint = f" (did you mean {', '.join(likely)}?)" if likely else ""
            raise LoreError(f"no node '{id}'{hint}: see 'lore list'")
        return node

    def get_many(self, ids: Iterable[str]) -> dict[str, Node]:
        known = self._state.nodes
        return {id: copy(known[id]) for id in ids if id in known}

    def holds(self, node: Node) -> bool:
        old = self._state.nodes.get(node.id)
        return old is not None and _same(old, node)

    def put(self, node: Node) -> str:
        if self.holds(node):
            return "unchanged"
        state, node = self._changing, copy(node)
        old = node.id in state.nodes
        state.nodes[node.id] = node
        state.counted = None
        return "updated" if old else "added"

    def invalidate(self, id: str, at: str | None) -> None:
        state = self._changing
        if id in state.nodes:
            state.nodes[id].invalidated_at = at
            state.counted = None

    def delete(self, id: str) -> None:
        state = self._changing
        state.nodes.pop(id, None)
        state.shown.pop(id, None)
        for shown in state.shown.values():
            shown.pop(id, None)
        state.counted = None

    def select(
        self, scope: Scope, limit: int, *, forgotten: bool = False, oldest_first: bool = False
    ) -> list[Node]:
        found = [
            copy(node) for _, node in sorted(self._state.nodes.items())
            if within(scope, node) and (node.invalidated_at is not None) == forgotten
        ]  # fmt: skip
        found.sort(key=lambda node: node.updated_at, reverse=not oldest_first)
        return limited(found, limit)

    def all(self, *, live_only: bool = False) -> Iterator[Node]:
        for _, node in sorted(self._state.nodes.items()):
            if not live_only or node.invalidated_at is None:
                yield copy(node)

    def briefs(self, ids: Sequence[str]) -> dict[str, Any]:
        return {
            node.id: (node.type, node.title, node.file, node.line_start, node.line_end,
                      days_since(node.updated_at), node.confidence, node.source, node.status,
                      node.access_count)
            for node in self.get_many(ids).values()
        }  # fmt: skip

    def hidden(self, shown: Sequence[str] = ()) -> list[str]:
        hidden = {"superseded", "retracted"}.difference(shown)
        return [node.id for node in self.all(live_only=True) if node.status in hidden]

    def anchored(self, ids: Sequence[str]) -> list[tuple[str, str, str, str, str, str]]:
        if "anchors" in self._state.lost:
            raise VerdictsUnavailable("the verdicts cannot be read (lost): run 'lore doctor'")
        return [
            (one.node_id, one.verdict, one.kind, one.root, one.path, one.stamp)
            for one in self._state.anchors.values() if one.node_id in ids
        ]  # fmt: skip

    def categories(self, ids: Sequence[str]) -> dict[str, str]:
        return {id: node.category for id, node in self.get_many(ids).items() if node.category}

    def files(self, beginning: str) -> list[str]:
        return [
            id.removeprefix("file-") for id in self._state.nodes
            if id.startswith(f"file-{beginning}") and self._node_is_live(id)
        ]  # fmt: skip

    def symbol_lines(self, keys: Sequence[int]) -> dict[int, tuple[int | None, int | None]]:
        found = {}
        for key in keys:
            node = self._state.nodes.get(self._state.passages.get(key, ("", ""))[0])
            if node is not None and node.type == "symbol":
                found[key] = (node.line_start, node.line_end)
        return found

    def beginning(self, id: str, length: int = 800) -> str:
        node = self._state.nodes.get(id)
        return node.body[:length] if node else ""

    def match(self, scope: Scope, ids: Sequence[str]) -> set[str]:
        nodes = self.get_many(ids).values()
        return {node.id for node in nodes if node.invalidated_at is None and within(scope, node)}

    def unknown_tags(self, tags: Iterable[str]) -> list[str]:
        known = sorted({tag for node in self.all(live_only=True) for tag in node.tags})
        return [
            f"no record has the tag '{tag}'{nearest(tag, known)}" for tag in tags
            if tag not in known
        ]  # fmt: skip

    def outlines(
        self, types: Sequence[str] = ()
    ) -> Iterator[tuple[str, str, str, str, str, str | None]]:
        for node in self.all(live_only=True):
            if not types or node.type in types:
                tags = " ".join(node.tags)
                yield node.id, node.type, node.title, node.status, tags, node.file

    def documents(self, file: str | None = None) -> list[tuple[str, str]]:
        return [
            (node.id, node.file) for node in self.all(live_only=True)
            if node.file is not None and file in (None, node.file) and node.type != "file"
            and (node.source == "file" or loads(node.data).get("_stated") is not None)
        ]  # fmt: skip

    def count_by_type(self) -> dict[str, int]:
        return dict(Counter(node.type for node in self.all(live_only=True)))

    def new_passages(self, ids: Sequence[str], collection: str) -> list[int]:
        passages = self._changing.passages
        first = max(passages, default=0) + 1
        keys = [*range(first, first + len(ids))]
        passages |= {key: (id, collection) for key, id in zip(keys, ids, strict=True)}
        return keys

    def passages(self, ids: Sequence[str]) -> list[tuple[int, str]]:
        return [
            (key, collection) for key, (id, collection) in sorted(self._state.passages.items())
            if id in ids
        ]  # fmt: skip

    def first_passages(self, ids: Sequence[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        for key, (id, _) in sorted(self._state.passages.items()):
            if id in ids:
                found.setdefault(id, key)
        return found

    def remove_passages(self, keys: Iterable[int]) -> None:
        for key in keys:
            self._changing.passages.pop(key, None)

    def remove_all_passages(self) -> None:
        self._changing.passages.clear()


def _same(one: Node, other: Node) -> bool:
    names = [name for name in Node.__slots__ if name != "updated_at"]
    return all(getattr(one, name) == getattr(other, name) for name in names)


class Edges(Part):
    def _readable(self) -> dict[Key, Edge]:
        if "graph" in self._state.lost:
            raise GraphUnavailable("the graph cannot be read (lost): run 'lore doctor'")
        return self._state.edges

    def _live(self) -> Iterator[Edge]:
        for _, edge in sorted(self._readable().items()):
            if edge.invalidated_at is None:
                yield edge

    def _write(self, edge: Edge, *, created: bool = True) -> None:
        """Puts an edge in place of the one that is there; that one's state is history."""
        state = self._changing
        old = state.edges.get(edge.key)
        if old is not None:
            edge.created_at = old.created_at
            edge.accessed_at, edge.access_count = old.accessed_at, old.access_count
            if any(getattr(old, name) != getattr(edge, name) for name in STATE):
                self._keep(old, _change(old, edge))
        state.edges[edge.key] = edge
        state.counted = None

    def _keep(self, old: Edge, change: str) -> None:
        left = {name: getattr(old, name) for name in EDGE_HISTORY[:8]}
        self._changing.edge_history.append({**left, "change": change, "changed_at": now()})

    def _update(self, edge: Edge, **fields: object) -> None:
        changed = copy(edge)
        for name, value in fields.items():
            setattr(changed, name, value)
        self._write(changed)

    def neighbours(
        self, frontier: Sequence[str], relations: Sequence[str], limit: int
    ) -> list[tuple[str, str, str, float, bool]]:
        return [
            (node, other, relation, weight, outgoing)
            for node, outgoing, names, others, weights in self.bundles(frontier, relations, limit)
            for relation, other, weight in zip(names, others, weights, strict=True)
        ]

    def bundles(
        self, frontier: Sequence[str], relations: Sequence[str], limit: int
    ) -> list[tuple[str, bool, list[str], list[str], list[float]]]:
        found: dict[tuple[str, bool, str], list[tuple[float, str]]] = {}
        for edge in self._live():
            if edge.relation in relations:
                for node, other, out in (
                    (edge.from_id, edge.to_id, True), (edge.to_id, edge.from_id, False),
                ):  # fmt: skip
                    if node in frontier:
                        ends = found.setdefault((node, out, edge.relation), [])
                        ends.append((-edge.weight, other))
        bundles = []
        for (node, out, relation), ends in found.items():
            kept = limited(sorted(ends), limit)
            if kept:
                bundles.append((node, out, [relation] * len(kept), [other for _, other in kept],
                                [-weight for weight, _ in kept]))  # fmt: skip
        return bundles

    def into_files(self, paths: Sequence[str], relation: str) -> list[tuple[str, str, float]]:
        return [
            (edge.from_id, path, edge.weight)
            for edge in self._live() if edge.relation == relation
            for path in paths
            if edge.to_id == f"file-{path}" or edge.to_id.startswith(f"symbol-{path}::")
        ]  # fmt: skip

    def get(self, from_id: str, to_id: str, relation: str) -> Edge | None:
        return copy(self._readable().get((from_id, to_id, relation)))

    def put(self, edge: Edge) -> str:
        old = self.get(*edge.key)
        if old is not None and all(getattr(old, name) == getattr(edge, name) for name in STATE):
            return "unchanged"
        self.put_many([edge])
        return "added" if old is None else "updated"

    def replace_all(self, edges: Iterable[Edge]) -> None:
        for edge in self._changing.edges.values():
            self._keep(edge, "purged")
        self._changing.edges.clear()
        self.put_many(edges)

    def put_many(self, edges: Iterable[Edge]) -> None:
        for edge in edges:
            self._write(copy(edge))

    def with_relation(self, relation: str) -> Iterator[Edge]:
        return (edge for edge in self.all() if edge.relation == relation)

    def of(self, id: str, *, forgotten: bool = False) -> list[Edge]:
        found = [edge for edge in self.all(live_only=not forgotten) if id in edge.key[:2]]
        return sorted(found, key=lambda edge: (edge.relation, *edge.key))

    def between(self, from_id: str, to_id: str) -> list[Edge]:
        return [copy(edge) for edge in self._live() if edge.key[:2] == (from_id, to_id)]

    def all(self, *, live_only: bool = False) -> Iterator[Edge]:
        for _, edge in sorted(self._readable().items()):
            if not live_only or edge.invalidated_at is None:
                yield copy(edge)

    def outlines(self, relations: Sequence[str]) -> Iterator[tuple[str, str, str, float, str]]:
        for edge in self._live():
            if edge.relation in relations:
                yield (*edge.key, edge.weight, edge.status)

    def invalidate(self, key: Key, at: str | None, status: str = "") -> None:
        edge = self.get(*key)
        if edge is not None:
            self._update(edge, invalidated_at=at, status=status or edge.status)

    def invalidate_node(self, id: str, at: str) -> int:
        edges = self.of(id)
        for edge in edges:
            self._update(edge, invalidated_at=at)
        return len(edges)

    def ended_at(self, id: str, at: str) -> bool:
        return any(edge.invalidated_at == at for edge in self.of(id, forgotten=True))

    def restore_node(self, id: str, at: str) -> int:
        edges = [edge for edge in self.of(id, forgotten=True) if edge.invalidated_at == at]
        for edge in edges:
            other = self._state.nodes.get(edge.to_id if edge.from_id == id else edge.from_id)
            self._update(edge, invalidated_at=other.invalidated_at if other else None)
        return len(edges)

    def delete_node(self, id: str) -> int:
        state = self._changing
        gone = [key for key in state.edges if id in key[:2]]
        for key in gone:
            del state.edges[key]
        state.edge_history = [
            one for one in state.edge_history if id not in (one["from_id"], one["to_id"])
        ]
        state.counted = None
        return len(gone)

    def history(self, key: Key | None = None) -> Iterator[dict[str, object]]:
        left = sorted(
            self._state.edge_history,
            key=lambda one: [str(one[name]) for name in (*EDGE_HISTORY[:3], "changed_at")],
        )
        for one in left:
            if key is None or tuple(one[name] for name in EDGE_HISTORY[:3]) == key:
                yield dict(one)

    def add_history(self, state: dict[str, object], copies: int = 1) -> bool:
        line = {name: state.get(name) for name in EDGE_HISTORY}
        kept = self._changing.edge_history
        if kept.count(line) >= copies:
            return False
        kept.append(line)
        return True

    def dangling(self, limit: int = -1) -> list[Key]:
        ends = (edge.key for edge in self._live())
        return limited((key for key in ends if not all(map(self._node_is_live, key[:2]))), limit)


def _change(old: Edge, new: Edge) -> str:
    if (old.invalidated_at is None) == (new.invalidated_at is None):
        return "updated"
    return "invalidated" if old.invalidated_at is None else "restored"


class FullText(Part):
    engine = "memory"

    def renew(self, wanted: str) -> None:
        if wanted not in ("auto", self.engine):
            raise StoreError(f"there is no {wanted} here: set fulltext to another engine")
        for rows in self._changing.rows.values():
            rows.clear()

    def add(self, collection: str, rows: Iterable[tuple[int, str, str, str, str, str]]) -> None:
        for key, *columns in rows:
            self._changing.rows[collection][key] = tuple(map(composed, columns))

    def remove(self, collection: str, keys: Iterable[int]) -> None:
        for key in keys:
            self._changing.rows[collection].pop(key, None)

    def _columns(self, key: int) -> tuple[str, ...]:
        _, collection = self._state.passages.get(key, ("", ""))
        return self._state.rows.get(collection, {}).get(key, ("",) * len(FIELDS))

    def body(self, key: int) -> str:
        return self._columns(key)[1]

    def indexed(self, key: int) -> tuple[str, str]:
        columns = self._columns(key)
        return columns[0], " ".join(columns) if any(columns) else ""

    def collections(self, types: Iterable[str]) -> list[str]:
        wanted = {COLLECTIONS.get(type, TEXTS) for type in types} or {*self._state.rows}
        return [name for name, rows in self._state.rows.items() if name in wanted and rows]

    def search(
        self,
        collection: str,
        query: Query,
        how: str,
        scope: Scope,
        weights: Mapping[str, float],
        limit: int,
    ) -> list[tuple[int, str, float]]:
        phrases = _phrases(query, how)
        rows = {key: [fold(text) for text in row] for key, row in self._rows(collection)}
        having = Counter(
            phrase for columns in rows.values() for phrase in {*phrases}
            if any(_count(phrase, text, how) for text in columns)
        )  # fmt: skip
        found = []
        for key, columns in rows.items():
            id = self._state.passages[key][0]
            if self._is_within(scope, id) and _matches(query, how, columns):
                score = sum(
                    weights.get(name, 1.0) * _share(_count(phrase, text, how))
                    * log(1 + len(rows) / having[phrase])
                    for phrase in phrases for name, text in zip(FIELDS, columns, strict=True)
                    if having[phrase]
                )  # fmt: skip
                found.append((key, id, score))
        return limited(sorted(found, key=lambda row: (-row[2], row[0])), limit)

    def nodes_with_all(self, collection: str, query: Query, scope: Scope, limit: int) -> set[str]:
        return {id for _, id, _ in self.search(collection, query, "all", scope, {}, limit)}

    def _rows(self, collection: str) -> Iterator[tuple[int, tuple[str, ...]]]:
        for key, row in self._state.rows[collection].items():
            if key in self._state.passages:
                yield key, row

    def _is_within(self, scope: Scope, id: str) -> bool:
        if not scope:
            return id not in scope.excluded
        return id in self._state.nodes and within(scope, self._state.nodes[id])


def _share(count: int) -> float:
    return count * 2.2 / (count + 1.2)


def _count(phrase: tuple[str, ...], text: str, how: str) -> int:
    """How often words stand in a text next to each other; the last may go on for ``prefix``."""
    there, most = words(text), len(phrase)
    if how == "prefix":
        return sum(word.startswith(phrase[0]) for word in there)
    return sum(tuple(there[i : i + most]) == phrase for i in range(len(there) - most + 1))


def _alternatives(query: Query) -> list[list[tuple[str, ...]]]:
    """For each term the phrases that stand for it."""
    found = []
    for term in query.terms:
        phrases = [tuple(phrase) for phrase in term]
        if len(query.terms) <= SHORT_QUERY:
            single = [phrase[0] for phrase in phrases if len(phrase) == 1]
            phrases += [(form,) for word in single for form in inflections(word)]
        found.append(phrases)
    return found


def _phrases(query: Query, how: str) -> list[tuple[str, ...]]:
    single = query.single_words()
    if how == "all":
        return [phrase for term in _alternatives(query) for phrase in term]
    if how == "inflected":
        return [*dict.fromkeys((form,) for word in single for form in inflections(word))]
    if how == "prefix":
        return [(word,) for word in single if len(word) >= PREFIX_LENGTH]
    return [(word,) for word in single] + [
        tuple(phrase) for term in query.terms for phrase in term if len(phrase) > 1
    ]


def _matches(query: Query, how: str, columns: Sequence[str]) -> bool:
    def has(phrases: Iterable[tuple[str, ...]]) -> bool:
        return any(_count(phrase, text, how) for phrase in phrases for text in columns)

    if how == "all":
        return bool(query.terms) and all(map(has, _alternatives(query)))
    return has(_phrases(query, how))


class Vectors(Part):
    def create(self, dimension: int) -> None:
        self.drop()

    def drop(self) -> None:
        self._changing.vectors.clear()

    def add(self, rows: Iterable[tuple[int, bytes]]) -> None:
        self._changing.vectors.update(rows)

    def remove(self, keys: Iterable[int]) -> None:
        for key in keys:
            self._changing.vectors.pop(key, None)

    def search(self, vector: bytes, scope: Scope, limit: int) -> list[tuple[int, str, float]]:
        found = [
            (key, self._state.passages[key][0], _cosine(vector, other))
            for key, other in self._state.vectors.items()
            if key in self._state.passages
            and self._store.fulltext._is_within(scope, self._state.passages[key][0])
        ]
        return limited(sorted(found, key=lambda row: (-row[2], row[0])), limit)

    def of_nodes(self, ids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        for id in ids:
            for key, (node, _) in sorted(self._state.passages.items()):
                if node == id and key in self._state.vectors:
                    yield id, self._state.vectors[key]

    def signs(self, keys: Sequence[int]) -> dict[int, bytes]:
        held = self._state.vectors
        return {key: _sign(held[key]) for key in keys if key in held}

    def cosines(self, pairs: Sequence[tuple[int, int]]) -> list[float]:
        held = self._state.vectors
        return [_cosine(held[one], held[other]) for one, other in pairs]


def _floats(vector: bytes) -> tuple[float, ...]:
    return unpack(f"<{len(vector) // 4}f", vector)


def _cosine(one: bytes, other: bytes) -> float:
    a, b = _floats(one), _floats(other)
    lengths = sqrt(sum(x * x for x in a)) * sqrt(sum(x * x for x in b))
    return sum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0.0


def _sign(vector: bytes) -> bytes:
    bits = [value > 0 for value in _floats(vector)]
    return bytes(
        sum(bit << place for place, bit in enumerate(bits[start : start + 8]))
        for start in range(0, len(bits), 8)
    )


class StagedVectors(Part):
    @property
    def embedder(self) -> str | None:
        return self._state.meta.get("embedder_next")

    @property
    def dimension(self) -> int:
        return int(self._state.meta.get("embedder_next_dimension", 0))

    def begin(self, embedder: str, dimension: int) -> None:
        self.drop()
        self._changing.meta |= {
            "embedder_next": embedder, "embedder_next_dimension": str(dimension),
        }  # fmt: skip

    def drop(self) -> None:
        state = self._changing
        state.next_vectors.clear()
        for key in ("embedder_next", "embedder_next_dimension"):
            state.meta.pop(key, None)

    def add(self, rows: Iterable[tuple[int, bytes]]) -> None:
        self._changing.next_vectors.update(rows)

    def remove(self, keys: Iterable[int]) -> None:
        for key in keys:
            self._changing.next_vectors.pop(key, None)

    def take_over(self) -> None:
        state, dimension = self._changing, str(self.dimension)
        state.vectors = dict(state.next_vectors)
        state.meta |= {"embedder": self.embedder or "", "embedder_dimension": dimension}
        self.drop()

    def _text(self, key: int) -> str:
        return " ".join(self._store.fulltext._columns(key)[:2])

    def lacking(self, after: int, limit: int, *, aside: bool) -> list[tuple[int, str]]:
        held = self._state.next_vectors if aside else self._state.vectors
        keys = (key for key in sorted(self._state.passages) if key > after and key not in held)
        return [(key, self._text(key)) for key in limited(keys, limit)]

    def count_lacking(self, *, aside: bool) -> int:
        return len(self.lacking(0, -1, aside=aside))

    def count_passages(self) -> int:
        return len(self._state.passages)

    def sample(self, count: int) -> list[str]:
        return [self._text(key) for key in sorted(self._state.passages)[:count]]

    def unchanged(self, passages: Sequence[tuple[int, str]]) -> set[int]:
        there = self._state.passages
        return {key for key, text in passages if key in there and self._text(key) == text}


class Anchors(Part):
    def _sorted(self) -> list[Anchor]:
        return [copy(one) for _, one in sorted(self._state.anchors.items())]

    def of(self, node_id: str) -> list[Anchor]:
        return [one for one in self._sorted() if one.node_id == node_id]

    def all(self) -> Iterator[Anchor]:
        return iter(self._sorted())

    def live(self, ids: Sequence[str] = ()) -> list[Anchor]:
        found = [
            one for one in self._sorted()
            if self._node_is_live(one.node_id) and (not ids or one.node_id in ids)
        ]  # fmt: skip
        return sorted(
            found, key=lambda one: (one.root, one.path, one.node_id, one.kind, one.detail)
        )

    def about(self, root: str, paths: Sequence[str]) -> list[tuple[str, str]]:
        return [*{
            (one.node_id, one.path): None for one in self._sorted()
            if one.kind != "glob" and one.root == root and one.path in paths
        }]  # fmt: skip

    def globs(self, root: str) -> list[tuple[str, str]]:
        return [
            (one.node_id, one.path) for one in self._sorted()
            if one.kind == "glob" and one.root == root
        ]  # fmt: skip

    def globs_like(self, root: str, paths: Sequence[str]) -> list[tuple[str, str, str]]:
        return [(node, glob, path) for node, glob in self.globs(root) for path in paths]

    def paths(self, root: str, beginning: str) -> list[str]:
        return [*{
            one.path: None for one in self._sorted()
            if one.kind != "glob" and one.root == root and one.path.startswith(beginning)
        }]  # fmt: skip

    def put(self, anchor: Anchor) -> str:
        old = self._state.anchors.get(anchor.key)
        if old == anchor:
            return "unchanged"
        if old is not None and old.verdict != anchor.verdict:
            self._keep(old, "judged")
        self._changing.anchors[anchor.key] = anchor.copy()
        return "added" if old is None else "updated"

    def replace(self, changes: Iterable[tuple[tuple[str, str, str, str], Anchor]]) -> None:
        anchors = self._changing.anchors
        for key, anchor in changes:
            if key not in anchors:
                continue
            if anchor.key != key and anchor.key in anchors:
                self.delete(key)
                continue
            old = anchors.pop(key)
            moved = (old.path, old.detail) != (anchor.path, anchor.detail)
            if moved or old.verdict != anchor.verdict:
                self._keep(old, "moved" if moved else "judged")
            anchors[anchor.key] = anchor.copy()

    def delete(self, key: tuple[str, str, str, str]) -> bool:
        old = self._changing.anchors.pop(key, None)
        if old is not None:
            self._keep(old, "removed")
        return old is not None

    def delete_node(self, node_id: str) -> None:
        state = self._changing
        state.anchors = {k: one for k, one in state.anchors.items() if one.node_id != node_id}
        state.anchor_history = [one for one in state.anchor_history if one["node_id"] != node_id]

    def _keep(self, old: Anchor, change: str) -> None:
        left = {name: getattr(old, name) for name in ANCHOR_HISTORY[:6]}
        self._changing.anchor_history.append({**left, "change": change, "changed_at": now()})

    def history(self, node_id: str = "") -> Iterator[dict[str, str]]:
        left = sorted(
            self._state.anchor_history, key=lambda one: (one["node_id"], one["changed_at"])
        )
        return (dict(one) for one in left if node_id in ("", one["node_id"]))

    def add_history(self, state: dict[str, str], copies: int) -> None:
        line = {name: state[name] for name in ANCHOR_HISTORY}
        if self._changing.anchor_history.count(line) < copies:
            self._changing.anchor_history.append(line)


class CodeFiles(Part):
    def hold_more(self) -> None:
        return None

    def stamps(self) -> dict[str, str]:
        return {path: row[1] for path, row in self._state.code.items()}

    def known(self, paths: Sequence[str]) -> dict[str, tuple[str, str]]:
        held = self._state.code
        return {path: (held[path][0], held[path][2]) for path in paths if path in held}

    def as_read(self, path: str) -> tuple[str, str] | None:
        row = self._state.code.get(path)
        return (row[1], row[0]) if row else None

    def facts(self, but: Container[str] = ()) -> Iterator[tuple[str, str, str]]:
        for path, (_, _, language, facts) in sorted(self._state.code.items()):
            if language and path not in but:
                yield path, language, facts

    def put(self, rows: Iterable[tuple[str, str, str, str, str]]) -> None:
        for path, *row in rows:
            self._changing.code[path] = (row[0], row[1], row[2], row[3])

    def restamp(self, stamps: Iterable[tuple[str, str]]) -> None:
        code = self._changing.code
        for stamp, path in stamps:
            if path in code:
                code[path] = (code[path][0], stamp, *code[path][2:])

    def remove(self, paths: Iterable[str]) -> None:
        for path in paths:
            self._changing.code.pop(path, None)

    def skipped(self) -> dict[str, int]:
        rows = self._state.code.values()
        return dict(Counter(loads(row[3])["skipped"] for row in rows if not row[2]))

    def languages(self) -> dict[str, int]:
        return dict(Counter(row[2] for row in self._state.code.values() if row[2]))

    def nodes_of(self, paths: Sequence[str]) -> dict[str, Node]:
        return {
            node.id: node for node in self._store.nodes.all()
            if node.file in paths and node.type in ("file", "symbol")
        }  # fmt: skip

    def put_nodes(self, nodes: Iterable[Node]) -> None:
        state = self._changing
        for node in map(copy, nodes):
            old = state.nodes.get(node.id)
            if old is not None:
                node.created_at = old.created_at
                node.accessed_at, node.access_count = old.accessed_at, old.access_count
            state.nodes[node.id] = node
        state.counted = None

    def add_nodes(self, nodes: Iterable[Node]) -> None:
        self.put_nodes(nodes)

    def symbol_count(self) -> int:
        return sum(node.type == "symbol" for node in self._store.nodes.all(live_only=True))

    def edge_counts(self) -> dict[str, int]:
        made = ("defines", *CODE_RELATIONS)
        edges = self._store.edges.all(live_only=True)
        return dict(Counter(edge.relation for edge in edges if edge.relation in made))

    def defined(self, file_ids: Sequence[str]) -> set[tuple[str, str]]:
        return {
            (edge.from_id, edge.to_id) for edge in self._store.edges.all(live_only=True)
            if edge.relation == "defines" and edge.from_id in file_ids
        }  # fmt: skip

    def resolved(self) -> dict[Key, tuple[float, str, str, bool]]:
        return {
            edge.key: (edge.weight, edge.metadata, edge.source, edge.invalidated_at is None)
            for edge in self._store.edges.all() if edge.relation in CODE_RELATIONS
        }  # fmt: skip

    def add_edges(self, edges: Iterable[Edge]) -> None:
        for edge in edges:
            if edge.key not in self._state.edges:
                self._store.edges.put_many([edge])

    def put_edges(self, edges: Iterable[Edge]) -> None:
        for edge in edges:
            old = self._state.edges.get(edge.key)
            stands = old is not None and old.invalidated_at is None
            if not (old and stands and old.source in ("user_edit", "conversation")):
                new = copy(edge)
                new.status = old.status if old else edge.status
                self._store.edges.put_many([new])

    def end_edges(self, keys: Iterable[Key], at: str) -> None:
        for key in keys:
            edge = self._state.edges.get(key)
            if edge is not None and edge.invalidated_at is None:
                self._store.edges.invalidate(key, at)


class Impressions(Part):
    def show(self, run: str, ids: Iterable[str], query: str, at: str) -> None:
        shown = self._changing.shown.setdefault(run, {})
        for position, id in enumerate(ids, start=1):
            if id not in shown or position < shown[id][0]:
                shown[id] = (position, query, shown[id][2] if id in shown else at)

    def shown(self, run: str) -> dict[str, tuple[int, str]]:
        rows = self._state.shown.get(run, {})
        ordered = sorted(rows.items(), key=lambda item: (item[1][0], item[1][2], item[0]))
        return {id: row[:2] for id, row in ordered}

    def clear(self, run: str) -> None:
        self._changing.shown.pop(run, None)

    def _uses(self) -> list[tuple[Any, ...]]:
        found = []
        for edge in self._store.edges.all():
            if _is_use(edge):
                data = loads(edge.metadata)
                rating = "helpful" if edge.weight >= 0.5 else "unhelpful"
                node = self._state.nodes.get(edge.from_id)
                found.append((edge.from_id, edge.to_id, rating if _is_rated(edge) else None,
                              data.get("position"), data.get("query"),
                              data.get("rated_at") or edge.created_at,
                              node.title if node else ""))  # fmt: skip
        return found

    def uses(self, run: str) -> list[Any]:
        found = [use for use in self._uses() if use[1] == run]
        return sorted(found, key=lambda use: (use[3] is None, use[3] or 0, use[0]))

    def rated(self, run: str, ids: Iterable[str], limit: int) -> list[Any]:
        wanted = set(ids)
        found = [
            use for use in self._uses()
            if use[2] and run in ("", use[1]) and (not wanted or use[0] in wanted)
        ]  # fmt: skip
        found.sort(key=lambda use: (use[1], use[0]))
        return limited(sorted(found, key=lambda use: use[5], reverse=True), limit)

    def summaries(self, run: str | None, limit: int) -> list[Any]:
        found = []
        for node in self._store.nodes.all(live_only=True):
            if node.type == "run" and run in (None, node.id):
                uses = self.uses(node.id)
                used = {use[0] for use in uses}
                shown = sum(id not in used for id in self.shown(node.id))
                ratings = Counter(use[2] for use in uses)
                found.append((node.id, node.data, node.created_at, shown, len(uses),
                              float(ratings["helpful"]), float(ratings["unhelpful"])))  # fmt: skip
        return limited(sorted(found, key=lambda row: (row[2], row[0]), reverse=True), limit)

    def state(self, run: str) -> str:
        node = self._state.nodes.get(run)
        if node is None or node.type != "run":
            return ""
        if node.invalidated_at is not None:
            return "forgotten"
        return "finished" if loads(node.data).get("finished_at") is not None else "open"


class Review(Part):
    def _facts(self, ids: Sequence[str]) -> list[Edge]:
        return [
            edge for _, edge in sorted(self._state.edges.items())
            if edge.invalidated_at is None and {*ids} & {*edge.key[:2]}
            and edge.from_id.startswith(THING_IDS) and edge.to_id.startswith(THING_IDS)
        ]  # fmt: skip

    def count_access(self, ids: Sequence[str], at: str) -> None:
        nodes = self._changing.nodes
        live: list[Node | Edge] = [nodes[id] for id in ids if self._node_is_live(id)]
        for one in [*live, *self._facts(ids)]:
            one.accessed_at, one.access_count = at, one.access_count + 1

    def ripe_nodes(self, ids: Sequence[str], accesses: int) -> list[str]:
        return sorted(
            node.id for node in self._store.nodes.get_many(ids).values()
            if node.status == "staged" and node.invalidated_at is None
            and node.access_count >= accesses
        )  # fmt: skip

    def ripe_facts(self, ids: Sequence[str], accesses: int) -> list[Key]:
        return [
            edge.key for edge in self._facts(ids)
            if edge.status == "staged" and edge.access_count >= accesses
        ]  # fmt: skip

    def confirm_nodes(self, ids: Sequence[str]) -> None:
        for id in ids:
            if id in self._changing.nodes:
                self._changing.nodes[id].status = "confirmed"

    def staged_nodes(self, source: str) -> dict[str, tuple[float, float, int]]:
        return {
            node.id: (node.confidence, days_since(node.updated_at), node.access_count)
            for node in self._store.nodes.all(live_only=True)
            if node.status == "staged" and node.source == source
        }  # fmt: skip

    def staged_edges(self, source: str) -> dict[Key, tuple[float, float, int]]:
        found = {}
        for edge in self._store.edges.all(live_only=True):
            if edge.status == "staged" and edge.source == source:
                changes = [str(one["changed_at"]) for one in self._store.edges.history(edge.key)]
                since = days_since(max([edge.created_at, *changes]))
                found[edge.key] = (edge.weight, since, edge.access_count)
        return found


class Statistics(Part):
    def stats(self, count: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        if self._state.counted is not None:
            return dict(self._state.counted)
        found = count()
        if self._store.writable:
            self._store.state.counted = dict(found)
        return found

    def nodes(self) -> Iterator[tuple[str, str]]:
        return ((node.id, node.type) for node in self._store.nodes.all(live_only=True))

    def edges(self) -> Iterator[Key]:
        return (edge.key for edge in self._store.edges.all(live_only=True))

    def count_forgotten(self) -> int:
        return sum(node.invalidated_at is not None for node in self._state.nodes.values())

    def count_by_relation(self) -> dict[str, int]:
        return dict(Counter(relation for _, _, relation in self.edges()))

    def hubs(self, limit: int) -> list[tuple[str, str, str, int, int]]:
        out = Counter(edge[0] for edge in self.edges())
        into = Counter(edge[1] for edge in self.edges())
        found = [
            (node.id, node.type, node.title, out[node.id], into[node.id])
            for node in self._store.nodes.all(live_only=True) if out[node.id] + into[node.id]
        ]  # fmt: skip
        return limited(sorted(found, key=lambda row: (-row[3] - row[4], row[0])), limit)

    def orphans(self, types: Sequence[str], limit: int) -> list[tuple[str, str, str]]:
        ends = {end for edge in self.edges() for end in edge[:2]}
        found = (
            (node.id, node.type, node.title) for node in self._store.nodes.all(live_only=True)
            if node.id not in ends and (not types or node.type in types)
        )  # fmt: skip
        return limited(found, limit)


class Checks:
    """Nothing can be wrong with dicts."""

    version = 1
    derived: frozenset[str] = frozenset()
    faults = Nothing()

    def is_sound(self) -> bool:
        return True

    def any_embedded(self) -> None:
        return None

    def only_without_vectors(self) -> bool:
        return False

    def log_size(self) -> int:
        return 0

    def _nothing(self, *, made: bool = False, full: bool = False) -> list[str]:
        return []

    wrong_values = missing_tables = replaced_tables = damage = fulltext_damage = _nothing
    foreign_key_violations = unindexed = unembedded = _nothing
