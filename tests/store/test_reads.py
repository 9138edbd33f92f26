"""Reads: counted in an unsynced transaction that never waits and never fails."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from new_stores import new_store
from things import EARLY, LATE, LATER, a_node, an_edge

from pylore.cli.session import count_accesses
from pylore.core.settings import Settings
from pylore.formats.export import export_lines
from pylore.store import Store, open_store
from pylore.store.filter import Scope

NODE, THING, OTHER = "note-a", "entity-x", "entity-y"
FACT = (THING, OTHER, "depends_on")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with new_store(str(tmp_path / "store")) as store:
        with store.transaction():
            for id in (NODE, THING, OTHER, "note-gone"):
                store.nodes.put(a_node(id))
            store.nodes.invalidate("note-gone", LATE)
            store.edges.put(an_edge(*FACT))
        yield store


def counted(store: Store, id: str = NODE) -> int:
    return store.nodes.require(id).access_count


def test_read_counts_for_live_nodes(store: Store) -> None:
    with store.aside():
        store.review.count_access([NODE, THING, "note-gone", "note-none"], LATER)
        store.review.count_access([OTHER, THING], LATE)
    node = store.nodes.require(NODE)
    assert (node.access_count, node.accessed_at, node.updated_at) == (1, LATER, EARLY)
    counts = {node.id: node.access_count for node in store.nodes.select(Scope(), -1)}
    assert counts == {NODE: 1, THING: 2, OTHER: 1}
    assert counted(store, "note-gone") == 0 and store.nodes.briefs([THING])[THING][-1] == 2
    assert store.nodes.require(THING).accessed_at == max(LATE, LATER)


def test_edit_preserves_reads_and_deletion_drops_them(store: Store) -> None:
    with store.aside():
        store.review.count_access([NODE], LATER)
    with store.transaction():
        node = store.nodes.require(NODE)
        node.body = "another"
        assert store.nodes.put(node) == "updated"
    assert counted(store) == 1
    with store.transaction():
        store.nodes.delete(NODE)
        store.nodes.put(a_node("note-b"))
    assert store.connection.execute("SELECT count(*) FROM reads").get == 0


def test_import_takes_reads_of_lines(store: Store) -> None:
    with store.transaction():
        store.nodes.put(a_node("note-b", access_count=3, accessed_at=LATE))
        assert store.nodes.put(a_node("note-b", access_count=3, accessed_at=LATE)) == "unchanged"
        store.nodes.settle([a_node("note-c", access_count=2), a_node("note-b")])
    assert [counted(store, id) for id in ("note-b", "note-c")] == [0, 2]
    assert store.nodes.require("note-c").accessed_at is None


def test_reader_leaves_a_short_log_and_a_writer_none(store: Store) -> None:
    folder, log = os.path.dirname(store.path), Path(store.path + "-wal")
    store.close()
    assert not log.exists()
    sizes = []
    for _ in range(100):
        with open_store(folder) as own:
            count_accesses(own, Settings(), [NODE])
        sizes.append(log.stat().st_size if log.exists() else 0)
    assert sizes[:2] == sorted(sizes[:2]) and sizes[0] > 0
    assert max(sizes) < 300_000 and 0 in sizes
    with open_store(folder) as own:
        count_accesses(own, Settings(), [NODE])
        with own.transaction():
            own.nodes.put(a_node("note-b"))
        lines = [*export_lines(own)]
    assert not log.exists()
    with open_store(folder) as own:
        assert [*export_lines(own)] == lines and counted(own) == 101


def test_log_of_a_reading_server_is_bounded(store: Store) -> None:
    for _ in range(1500):
        count_accesses(store, Settings(), [NODE])
    assert Path(store.path + "-wal").stat().st_size < 8_000_000
