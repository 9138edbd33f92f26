"""The laws of merging, on three stores after a random history."""

from __future__ import annotations

from random import Random

import apsw
from histories import Three, clocks, tell, told_by
from new_stores import memory_store

from pylore.core.settings import Settings
from pylore.formats.export import export_lines, shared_lines
from pylore.formats.jsonl import import_lines
from pylore.formats.merge_file import merge_files
from pylore.store import Store


def opened(image: bytes) -> Store:
    """A store in memory with this content."""
    connection = apsw.Connection(":memory:")
    connection.deserialize("main", image)
    return Store(connection, "/.lore/search.db")


def saved(store: Store) -> bytes:
    """The content of a store."""
    return store.connection.serialize("main")


def check(seed: int, steps: int) -> None:
    """Run a random history of three stores, then assert the laws."""
    three = Three(Random(seed), [memory_store() for _ in range(3)])
    with clocks(three):
        three.live(steps)
        check_laws(three)


def check_laws(three: Three) -> None:
    """Assert that the order, grouping and repetition of merges have no effect, that no value is
    lost, and the same for files of lines, with history in all files, in some and in none.
    """
    stores = [*map(saved, three.stores)]
    a, b, c = stores
    whole = [joined(a, b, c), joined(c, b, a), joined(b, c, a), joined(a, joined(b, c))]
    whole.append(joined(whole[0], a))
    told = [told_by(opened(one)) for one in whole]
    assert told == [told[0]] * len(told), "order, grouping, again"
    three.stores = [opened(whole[0]), *three.stores]
    assert three.lost() == [], "lost"
    assert three.cut_off() == [], "cut off"
    for kept in ((1, 1, 1), (0, 0, 0), (1, 0, 0), (0, 0, 1), (1, 1, 0)):
        pairs = zip(stores, kept, strict=True)
        check_files([lines_of(one, history=bool(history)) for one, history in pairs])
    check_proposals(stores, shared_lines_of(whole[0]))
    lines = [*map(lines_of, stores)]
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
    return [line.encode() for line in merge_files([], one, other)[0]]


def shared_lines_of(image: bytes) -> list[bytes]:
    """Return the lines that a file shares of a store."""
    return [line.encode() for line in shared_lines(opened(image))]


def lines_of(image: bytes, *, history: bool = True) -> list[bytes]:
    found = [line for line in export_lines(opened(image)) if history or '"left": {' not in line]
    return [line.encode() for line in found]
