"""Transactions and snapshots of several connections."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from new_stores import Kept
from things import a_node, an_edge

from pylore.core.errors import GraphUnavailable, StoreBusy, StoreError
from pylore.store import Store


class Stop(Exception):
    """Ends a transaction of a test."""


def test_transaction_commits_atomically(store: Store, kept: Kept) -> None:
    with kept.open() as other:
        with store.transaction():
            assert store.in_transaction
            store.nodes.put(a_node("note-a"))
            assert store.nodes.get("note-a") is not None
            assert other.nodes.get("note-a") is None
        assert not store.in_transaction
        assert other.nodes.get("note-a") is not None


def test_failed_transaction_is_rolled_back(store: Store) -> None:
    store.edges.put(an_edge("note-a", "note-b"))
    with pytest.raises(Stop), store.transaction():
        with store.transaction():
            store.nodes.put(a_node("note-a"))
        assert store.in_transaction
        store.edges.invalidate(("note-a", "note-b", "relates_to"), "2026-01-01T00:00:00Z")
        store.meta.set("key", "value")
        raise Stop
    assert not store.in_transaction
    assert store.nodes.get("note-a") is None and store.meta.get("key") is None
    assert [edge.invalidated_at for edge in store.edges.all()] == [None]
    assert [*store.changes.former()] == []


Way = Callable[[Store], AbstractContextManager[None]]


@pytest.mark.parametrize("way", [Store.transaction, Store.aside])
def test_second_writer_is_refused(way: Way, store: Store, kept: Kept) -> None:
    with kept.open() as other:
        with store.transaction():
            store.nodes.put(a_node("note-a"))
            with pytest.raises(StoreBusy), way(other):
                other.nodes.put(a_node("note-b"))
            assert not other.in_transaction
        with way(other):
            other.nodes.put(a_node("note-b"))
        assert [node.id for node in store.nodes.all()] == ["note-a", "note-b"]


@pytest.mark.parametrize("way", [Store.transaction, Store.aside])
def test_read_only_store_refuses_writes(way: Way, store: Store, kept: Kept) -> None:
    store.nodes.put(a_node("note-a"))
    with kept.read_only() as other:
        assert not other.writable and store.writable
        assert other.nodes.require("note-a").title == "The note-a"
        with pytest.raises(StoreError), way(other):
            other.nodes.put(a_node("note-b"))
    assert store.nodes.get("note-b") is None


def test_snapshot_ignores_later_changes(store: Store, kept: Kept) -> None:
    with kept.open() as other:
        with store.snapshot():
            assert store.nodes.get("note-a") is None and store.in_transaction
            other.nodes.put(a_node("note-a"))
            assert store.nodes.get("note-a") is None
        assert store.nodes.get("note-a") is not None


def test_missing_graph_is_reported_as_such(store: Store, kept: Kept) -> None:
    store.nodes.put(a_node("note-a"))
    kept.lose("graph")
    with kept.open() as other:
        for ask in (
            lambda: other.edges.bundles(["note-a"], ["relates_to"], 5),
            lambda: other.edges.neighbours(["note-a"], ["relates_to"], 5),
            lambda: other.edges.into_files(["a.py"], "anchored_to"),
            lambda: other.ratings.of(["note-a"]),
        ):
            with pytest.raises(GraphUnavailable):
                ask()
        with pytest.raises(GraphUnavailable), other.graph_faults:
            other.edges.of("note-a")
        with pytest.raises(StoreError), other.faults:
            other.edges.get("note-a", "note-b", "relates_to")
        with pytest.raises(StoreError), other.aside():
            other.edges.get("note-a", "note-b", "relates_to")
        assert not other.in_transaction
        assert other.nodes.get("note-a") is not None


def test_missing_anchors_are_reported_as_such(store: Store, kept: Kept) -> None:
    store.nodes.put(a_node("note-a"))
    kept.lose("anchors")
    with kept.open() as other:
        with pytest.raises(GraphUnavailable, match="graph cannot be read"):
            other.nodes.anchored(["note-a"])
        assert other.nodes.get("note-a") is not None
