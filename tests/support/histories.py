"""Random histories of three stores that exchange changes.

The clock of each store may go backwards or jump ahead.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from random import Random
from typing import Any
from unittest.mock import Mock, patch

from new_stores import memory_store

from pylore.core.model import Anchor, Edge, Node
from pylore.core.stamps import Stamped, is_after
from pylore.formats.export import nodes_of, past_of
from pylore.indexing.indexer import Index
from pylore.records.merge import Merge
from pylore.records.undo import forget, purge_node
from pylore.store import Store
from pylore.store.changes import owners, thing_of

IDS = ("note-a", "note-b", "decision-c")
WORDS = ("", "one", "two", "three")
KEYS = tuple((a, b, "relates_to") for a in IDS for b in IDS if a < b)
_BEGIN = 1_767_225_600  # 2026-01-01
_WITH_CLOCKS = ("records.merge", "records.undo", "store.changes", "core.times")


Said = tuple[str, str, str]
"""(thing, field, value)"""

Take = Callable[[Store, Store, str], object]
"""Merge the changes of the second store into the first; ``side`` decides conflicts."""


def tell(ours: Store, theirs: Store, prefer: str = "") -> Merge:
    """Merge the changes of a store into a second store without JSON."""
    merge = Merge(ours, Mock(), prefer=prefer)  # stores without an index
    for name, (at, declared) in theirs.relations.declared().items():
        ours.relations.declare(name, *declared, at)
    for id, at in theirs.changes.purged().items():
        merge.purge(id, at)
    for node, was in nodes_of(theirs):
        merge.take([(node, was)])
    for edge in theirs.edges.all():
        merge.take([(edge, ())])
    for anchor in theirs.anchors.all():
        anchor.stamp = ""
        merge.take([(anchor, ())])
    for row, stamp, values in past_of(theirs):
        merge.past(row, [(name, (stamp, value)) for name, value in values.items()])
    merge.finish()
    return merge


def told_by(store: Store) -> list[object]:
    """Return all exported lines of a store, in order."""
    told: list[object] = [store.relations.declared(), store.changes.purged()]
    told += [(_plain(node), was) for node, was in nodes_of(store)]
    told += [{**_plain(edge), "invalidated_at": None} for edge in store.edges.all()]
    told += [{**anchor.to_dict(), "stamp": ""} for anchor in store.anchors.all()]
    return told + [(thing_of(row), stamp, values) for row, stamp, values in past_of(store)]


def _plain(record: Node | Edge) -> dict[str, Any]:
    fields = record.to_dict()
    for name in ("data", "metadata"):
        if name in fields:
            fields[name] = json.loads(fields[name])
    return fields


@contextmanager
def clocks(three: Three) -> Iterator[None]:
    """Make stores in memory, and merges, read the clock of the acting store."""
    with ExitStack() as patches:
        for module in _WITH_CLOCKS:
            patches.enter_context(patch(f"pylore.{module}.now", three.now))
        yield


def _rows(store: Store) -> Iterator[Node | Edge]:
    yield from store.nodes.all()
    yield from store.edges.all()


def _said(row: Node | Edge) -> dict[Said, str]:
    """Return each stamped value of a row with the stamp."""
    fields, thing = Stamped.of(row).fields, thing_of(row)
    return {(thing, name, value): stamp for name, (stamp, value) in fields.items() if stamp}


class Three:
    """Three stores, and all states that were ever current in any of them.

    ``whole``: run each step in a transaction and index it; stores in memory skip this.
    """

    def __init__(
        self, random: Random, stores: Sequence[Store], take: Take = tell, *, whole: bool = False
    ) -> None:
        self.random = random
        self.stores = stores
        for number, store in enumerate(stores):
            store.meta.set("machine", f"{number}" * 10)
        self.seen: dict[Said, str] = {}
        self._take = take
        self._whole = whole
        self._time = 0
        self._skews = [random.choice((0, 0, -50, 40, 5_000_000)) for _ in stores]
        self._at = 0

    def now(self) -> str:
        """Return the time by the clock of the acting store."""
        seconds = _BEGIN + self._time + self._skews[self._at]
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))

    def live(self, steps: int) -> None:
        """Run ``count`` steps: a change in a store, or a merge between two stores."""
        for _ in range(steps):
            self._time += self.random.choice((0, 0, 1, 30))
            self._at = self.random.randrange(len(self.stores))
            if self.random.random() < 0.02:
                self._skews[self._at] += self.random.choice((-1000, 1000))
            if self.random.random() < 0.2:
                other = self.random.randrange(len(self.stores))
                prefer = self.random.choice(("", "", "ours", "theirs"))
                if other != self._at:
                    self._take(self.stores[self._at], self.stores[other], prefer)
            else:
                store = self.stores[self._at]
                with store.transaction("edit") if self._whole else nullcontext():
                    self.random.choice(_STEPS)(self, store)
                    if self._whole:
                        Index(store).update([*store.nodes.all()])
            self._look(self.stores[self._at])

    def meet(self) -> None:
        """Merge all changes into the first store, and from it into the others."""
        order = [*range(len(self.stores))]
        self.random.shuffle(order)
        first, *others = order
        for self._at, other in [(first, o) for o in others] + [(o, first) for o in others]:
            self._take(self.stores[self._at], self.stores[other], "")
            self._look(self.stores[self._at])

    def lost(self) -> list[Said]:
        """Return values and links that were current in some store and are in no store now."""
        store = self.stores[0]
        held = {said for row in _rows(store) for said in _said(row)}
        held |= {(thing, name, value[1]) for thing, name, value in store.changes.former()}
        purged: dict[str, str] = {}
        for one in self.stores:  # a hub gets no purge of an unknown record
            for id, at in one.changes.purged().items():
                purged[id] = max(at, purged.get(id, ""))

        def went(one: Said, at: str) -> bool:
            return not is_after(at, max(purged.get(id, "") for id in owners(one[0])))

        return [one for one, at in self.seen.items() if one not in held and not went(one, at)]

    def cut_off(self) -> list[Edge]:
        """Return edges that are hidden although no store ended them and both ends live."""
        nodes = self.stores[0].nodes.get_many(IDS).values()
        gone = {node.id for node in nodes if node.invalidated_at}
        return [
            edge
            for edge in self.stores[0].edges.all()
            if bool(edge.invalidated_at) != bool(edge.ended_at or gone & {*edge.key[:2]})
        ]

    def _look(self, store: Store) -> None:
        for row in _rows(store):
            self.seen |= _said(row)

    def _write(self, store: Store) -> None:
        id = self.random.choice(IDS)
        node = store.nodes.get(id) or Node(id, id.partition("-")[0], created_at=self.now())
        field = self.random.choice(("body", "title", "status", "data", "tags"))
        node.updated_at = self.now()
        word = self.random.choice(WORDS)
        if field == "status":
            node.status = self.random.choice(("staged", "confirmed", "retracted"))
        elif field == "data":
            pairs = [("b", word), ("a", 1.0)]
            self.random.shuffle(pairs)
            node.data = json.dumps(dict(pairs))
        elif field == "tags":
            node.tags = tuple(word.split())
        else:
            setattr(node, field, word)
        store.nodes.put(node)

    def _forget(self, store: Store) -> None:
        node = self._some(store)
        if node is not None and node.invalidated_at is None:
            forget(store, node)

    def _restore(self, store: Store) -> None:
        node = self._some(store)
        if node is not None and node.invalidated_at is not None:
            store.nodes.invalidate(node.id, None)

    def _purge(self, store: Store) -> None:
        node = self._some(store)
        if node is not None and self.random.random() < 0.4:
            purge_node(store, node.id)

    def _link(self, store: Store) -> None:
        weight = self.random.choice((0.5, 1.0))
        metadata = self.random.choice(("{}", '{"b": 1, "a": 2}'))
        key = self.random.choice(KEYS)
        store.edges.put(Edge(*key, weight, metadata=metadata, created_at=self.now()))

    def _unlink(self, store: Store) -> None:
        edge = store.edges.get(*self.random.choice(KEYS))
        if edge is not None and edge.invalidated_at is None:
            store.edges.invalidate(edge.key, self.now())

    def _anchor(self, store: Store) -> None:
        id, path = self.random.choice(IDS), self.random.choice(("a.py", "b.py"))
        verdict = self.random.choice(("valid", "drifted"))
        old = next((one for one in store.anchors.of(id) if one.path == path), None)
        anchor = Anchor(id, "file", path, hash=self.random.choice(WORDS), verdict=verdict)
        anchor.verified_at = self.now()
        anchor.created_at = old.created_at if old else anchor.verified_at
        store.anchors.put(anchor)

    def _move(self, store: Store) -> None:
        for anchor in store.anchors.of(self.random.choice(IDS)):
            moved = anchor.copy()
            moved.path, moved.verdict = "b.py" if anchor.path == "a.py" else "a.py", "relocated"
            moved.verified_at = self.now()
            store.anchors.replace([(anchor.key, moved)])

    def _release(self, store: Store) -> None:
        for anchor in store.anchors.of(self.random.choice(IDS))[:1]:
            store.anchors.delete(anchor.key)

    def _read(self, store: Store) -> None:
        store.review.count_access([self.random.choice(IDS)], self.now())

    def _declare(self, store: Store) -> None:
        weight = self.random.choice((0.2, 0.6))
        store.relations.declare("relates_to", weight, weight, self.random.choice(WORDS))

    def _some(self, store: Store) -> Node | None:
        return store.nodes.get(self.random.choice(IDS))


_STEPS = [
    getattr(Three, f"_{name}")
    for name in (
        "write write write forget restore purge link link unlink anchor move release read declare"
    ).split()
]


def check(seed: int) -> None:
    """Run a random history; assert that all stores converge and lose no value."""
    random = Random(seed)
    three = Three(random, [memory_store() for _ in range(3)])
    with clocks(three):
        three.live(random.randrange(4, 25))
        three.meet()
        first, *others = [told_by(store) for store in three.stores]
        assert others == [first, first]
        assert three.lost() == [] and three.cut_off() == []
        again = tell(three.stores[0], three.stores[1])
        assert again.conflicts == [] and told_by(three.stores[0]) == first
