"""All short histories of three stores: ``python tests/soak/every_history.py STEPS``.

A step is a change in a store, or a merge between two stores, by the clock of the store. Clocks
differ. The laws of merging are asserted after each history.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1] / "support"), str(Path(__file__).parents[2])]

from histories import Three, clocks, tell, told_by
from laws import check_laws, opened, saved
from new_stores import memory_store

from pylore.core.model import Anchor, Edge, Node
from pylore.records.undo import forget, purge_node
from pylore.store import Store

A, B = "note-a", "note-b"
LINK = (A, B, "relates_to")

Step = tuple[str, int, int, int]
"""(action, store, source of a merge, seconds since the last step)"""


class World(NamedTuple):
    """Three stores, the time, and the values that were ever current, as ``Three`` has them."""

    three: Three
    stores: list[bytes]
    seen: dict[Any, str]
    time: int

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
        if store.nodes.get(id) is not None:
            purge_node(store, id)

    return purge


def _link(store: Store, now: str, _: str) -> None:
    edge = store.edges.get(*LINK)
    if edge is not None and edge.ended_at is None:
        store.edges.invalidate(LINK, now)
    elif len(store.nodes.get_many((A, B))) == 2:
        edge = edge.copy() if edge else Edge(*LINK, created_at=now)
        edge.ended_at = None
        store.edges.put(edge)


def _anchor(store: Store, now: str, _: str) -> None:
    key = (A, "file", "a.py", "")
    if store.nodes.get(A) is not None and not store.anchors.delete(key):
        store.anchors.put(Anchor(*key, created_at=now, verified_at=now))


def _declare(store: Store, now: str, value: str) -> None:
    store.relations.declare("eats", len(value) / 100, 0.5, value)


_DO: dict[str, Callable[[Store, str, str], None]] = {
    **{field: _write(field) for field in ("title", "body", "tags", "data")},
    **{"add": _add, "forget": _forget, "purge a": _purge(A), "purge b": _purge(B)},
    **{"link": _link, "anchor": _anchor, "declare": _declare},
}


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


def histories(steps: int, skews: tuple[int, ...]) -> Iterator[World]:
    """Yield the distinct results of all histories of up to ``steps`` steps."""
    every = [(what, at, 0, seconds) for what in _DO for at in range(3) for seconds in (0, 1)]
    every += [("tell", a, b, 0) for a in range(3) for b in range(3) if a != b]
    three = Three(Random(0), [memory_store() for _ in range(3)])
    three._skews = list(skews)
    met: set[Any] = set()
    with clocks(three):
        rest = [(begin(three), 0)]
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
    """Check all histories of ``steps`` steps, with equal and with different clocks."""
    for skews in ((0, 2, -2), (0, 0, 0)):
        for count, world in enumerate(histories(steps, skews), start=1):
            world.three.stores, world.three.seen = [*map(opened, world.stores)], world.seen
            check_laws(world.three)
            print(count, end="\r", flush=True)
        print(f"{count} histories of at most {steps} steps, clocks {skews}: all laws hold")


if __name__ == "__main__":
    main(int(sys.argv[1]))
