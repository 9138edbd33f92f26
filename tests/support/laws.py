"""Every short history of three stores, and the laws of merging on each history.

``python tests/support/laws.py N`` tries all histories of up to N steps. A step is a change in a
store, or a merge between two stores, by the clock of the store. Clocks differ; merges may be
incomplete.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from copy import copy
from pathlib import Path
from random import Random
from typing import Any

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2])]

import apsw
from histories import Three, clocks, tell, told_by
from new_stores import memory_store

from pylore.core.model import Anchor, Edge, Node
from pylore.core.settings import Settings
from pylore.formats.export import export_lines, shared_lines
from pylore.formats.jsonl import import_lines
from pylore.formats.merge_file import merge_files
from pylore.records.undo import forget, purge_node
from pylore.store import Store

A, B = "note-a", "note-b"
LINK = (A, B, "relates_to")

Step = tuple[str, int, int, int]
"""(action, store, source of a merge, seconds since the last step)"""


class World:
    """Three stores, the time, and the values that were ever current, as ``Three`` has them."""

    def __init__(self, three: Three, stores: list[bytes], seen: dict[Any, str], time: int) -> None:
        self.three = three
        self.stores = stores
        self.seen = seen
        self.time = time

    def after(self, step: Step, number: int) -> World | None:
        """Return the world after a step, or None if the step changes nothing."""
        what, at, other, seconds = step
        three = self.three
        three._time, three._at, three.seen = self.time + seconds, at, dict(self.seen)
        stores = list(self.stores)
        store = opened(stores[at])
        if what == "tell":
            tell(store, opened(stores[other]))
        else:
            _DO[what](store, three.now(), f"{what} {number}")
        three._look(store)
        stores[at] = saved(store)
        if stores[at] == self.stores[at]:
            return None
        return World(three, stores, three.seen, three._time)


def opened(image: bytes) -> Store:
    """A store in memory with this content."""
    connection = apsw.Connection(":memory:")
    connection.deserialize("main", image)
    return Store(connection, "/.lore/search.db")


def saved(store: Store) -> bytes:
    """The content of a store."""
    return store.connection.serialize("main")


def _write(field: str) -> Any:
    def write(store: Store, now: str, value: str) -> None:
        node = store.nodes.get(A)
        if node is not None:
            node.updated_at = now
            if field == "tags":
                node.tags = () if node.tags else ("t",)
            elif field == "data":
                node.data = f'{{"why": "{value}"}}'
            else:
                setattr(node, field, value)
            store.nodes.put(node)

    return write


def _add(store: Store, now: str, value: str) -> None:
    if store.nodes.get(A) is None:
        store.nodes.put(Node(A, "note", body=value, created_at=now, updated_at=now))


def _forget(store: Store, now: str, _: str) -> None:
    node = store.nodes.get(A)
    if node is not None and node.invalidated_at is None:
        forget(store, node)
    elif node is not None:
        store.nodes.invalidate(A, None)


def _purge(id: str) -> Any:
    def purge(store: Store, now: str, _: str) -> None:
        node = store.nodes.get(id)
        if node is not None:
            purge_node(store, node.id)

    return purge


def _link(store: Store, now: str, _: str) -> None:
    edge = store.edges.get(*LINK)
    if edge is not None and edge.ended_at is None:
        store.edges.invalidate(LINK, now)
    elif len(store.nodes.get_many((A, B))) == 2:
        edge = copy(edge) if edge else Edge(*LINK, created_at=now)
        edge.ended_at = None
        store.edges.put(edge)


def _anchor(store: Store, now: str, _: str) -> None:
    key = (A, "file", "a.py", "")
    if store.nodes.get(A) is not None and not store.anchors.delete(key):
        store.anchors.put(Anchor(*key, created_at=now, verified_at=now))


def _declare(store: Store, now: str, value: str) -> None:
    store.relations.declare("eats", len(value) / 100, 0.5, value)


_DO = {
    "title": _write("title"),
    "body": _write("body"),
    "tags": _write("tags"),
    "data": _write("data"),
    "add": _add,
    "forget": _forget,
    "purge a": _purge(A),
    "purge b": _purge(B),
    "link": _link,
    "anchor": _anchor,
    "declare": _declare,
}


def check(world: World) -> None:
    """Assert that the order, grouping and repetition of merges have no effect, that no value is
    lost, and the same for files of lines, with history in all files, in some and in none.
    """
    a, b, c = world.stores
    whole = [joined(a, b, c), joined(c, b, a), joined(b, c, a), joined(a, joined(b, c))]
    whole.append(joined(whole[0], a))
    told = [told_by(opened(one)) for one in whole]
    assert told == [told[0]] * len(told), "order, grouping, again"
    three = world.three
    three.stores, three.seen = [opened(whole[0]), *map(opened, world.stores)], world.seen
    assert three.lost() == [], "lost"
    assert three.cut_off() == [], "cut off"
    for kept in ((1, 1, 1), (0, 0, 0), (1, 0, 0), (0, 0, 1), (1, 1, 0)):
        check_files(
            [
                lines_of(one, history=bool(history))
                for one, history in zip(world.stores, kept, strict=True)
            ]
        )
    check_proposals(world.stores, shared_lines_of(whole[0]))
    lines = [lines_of(one) for one in world.stores]
    both = merged(merged(lines[0], lines[1]), lines[2])
    store = memory_store()
    import_lines(store, Settings(), None, both, purge=True)
    assert [*lines_of(saved(store), history=False)] == [*lines_of(whole[0], history=False)], "files"


def check_files(files: list[list[bytes]]) -> None:
    """Assert the laws of merging files."""
    a, b, c = files
    whole = merged(merged(a, b), c)
    assert merged(merged(b, c), a) == merged(merged(c, b), a) == whole, "order of files"
    assert merged(a, merged(b, c)) == whole, "grouping of files"
    assert merged(whole, a) == merged(whole, whole) == whole, "files again"


def check_proposals(stores: list[bytes], whole: list[bytes]) -> None:
    """Assert that a purge is exported alike by the store that purged and by stores that received
    the purge.
    """
    a, b, c = stores

    def told(first: bytes, *others: bytes) -> bytes:
        store = opened(first)
        for other in others:
            import_lines(store, Settings(), None, shared_lines_of(other))
        return saved(store)

    every = [told(a, b, c), told(c, b, a), told(b, c, a), told(a, told(b, c))]
    every.append(told(every[0], every[1], a))
    assert [shared_lines_of(one) for one in every] == [whole] * len(every), "proposals"


def joined(first: bytes, *others: bytes) -> bytes:
    """Return the values that a store has received from other stores."""
    store = opened(first)
    for other in others:
        tell(store, opened(other))
    return saved(store)


def merged(one: list[bytes], other: list[bytes]) -> list[bytes]:
    return [line.encode() for line in merge_files([], one, other).lines]


def shared_lines_of(image: bytes) -> list[bytes]:
    """Return the lines that a file shares of a store."""
    return [line.encode() for line in shared_lines(opened(image))]


def lines_of(image: bytes, *, history: bool = True) -> list[bytes]:
    found = [line for line in export_lines(opened(image)) if history or '"left": {' not in line]
    return [line.encode() for line in found]


def begin(three: Three) -> World:
    """Three stores that know the same: two records and a link."""
    stores = three.stores
    three._at = three._time = 0
    for id in (A, B):
        now = three.now()
        stores[0].nodes.put(Node(id, "note", body="first", created_at=now, updated_at=now))
    stores[0].edges.put(Edge(*LINK, created_at=three.now()))
    for other in stores[1:]:
        tell(other, stores[0])
    three.seen = {}
    three._look(stores[0])
    return World(three, [saved(store) for store in stores], three.seen, 0)


def steps_of(seconds: tuple[int, ...]) -> list[Step]:
    """Return all steps that are possible at a time."""
    done: list[Step] = [(what, at, 0, s) for what in _DO for at in range(3) for s in seconds]
    return done + [("tell", a, b, 0) for a in range(3) for b in range(3) if a != b]


def histories(
    steps: int,
    *,
    seconds: tuple[int, ...],
    skews: tuple[int, ...],
    some: Random | None = None,
    count: int = 0,
) -> Iterator[World]:
    """Yield the distinct results of all histories of up to ``steps`` steps; with ``some``, of
    ``some`` random histories of exactly ``steps`` steps.
    """
    three = Three(Random(0), [memory_store() for _ in range(3)])
    three._skews = list(skews)
    every = steps_of(seconds)
    with clocks(three):
        first = begin(three)
        for _ in range(count):
            world: World | None = first
            for number in range(steps):
                assert some is not None and world is not None
                world = world.after(some.choice(every), number) or world
            assert world is not None
            yield world
        met: set[Any] = set()
        rest = [] if count else [(first, 0)]
        while rest:
            here, depth = rest.pop()
            name = (depth, here.time, *(repr(told_by(opened(one))) for one in here.stores))
            if name in met:
                continue
            met.add(name)
            yield here
            if depth < steps:
                found = (here.after(step, depth) for step in every)
                rest += [(one, depth + 1) for one in found if one is not None]


def main(steps: int) -> None:
    """Try all histories of ``steps`` steps, with equal and with different clocks."""
    for skews in ((0, 2, -2), (0, 0, 0)):
        count = 0
        for world in histories(steps, seconds=(0, 1), skews=skews):
            check(world)
            count += 1
        print(f"{count} histories of at most {steps} steps, clocks {skews}: all laws hold")


if __name__ == "__main__":
    main(int(sys.argv[1]))
