"""Nodes, their passages, and which of them a filter lets through."""

from __future__ import annotations

import pytest
from things import LATE, LATER, a_node

from pylore.store import Store


@pytest.fixture
def store(store: Store) -> Store:
    for node in (
        a_node("note-a", tags=("auth", "api"), file="src/a.py", updated_at=LATER),
        a_node("note-b", tags=("auth-api",), file="src/deep/b.py", updated_at=LATE,
               status="superseded", category="habit"),
        a_node("decision-c", body="x" * 900, file="docs/c.md", updated_at=LATER, source="file"),
        a_node("decision-d", status="retracted"),
        a_node("lesson-gone", invalidated_at=LATE, tags=("lost",)),
        a_node("file-src/a.py", file="src/a.py"),
        a_node("symbol-src/a.py::f", file="src/a.py", line_start=3, line_end=9),
    ):  # fmt: skip
        assert store.nodes.put(node) == "added"
    return store


def test_put_returns_the_outcome(store: Store) -> None:
    node = store.nodes.require("note-a")
    assert store.nodes.put(node) == "unchanged"
    node.updated_at = LATE
    assert store.nodes.put(node) == "unchanged"
    assert store.nodes.require("note-a").updated_at == LATER
    node.body = "new"
    assert store.nodes.put(node) == "updated"
    assert store.nodes.require("note-a").to_dict() == node.to_dict()
