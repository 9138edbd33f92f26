"""Show a node with fields, links, anchors and history."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from new_stores import new_store

from pylore.core.model import Anchor
from pylore.core.settings import Settings
from pylore.records.records import Records
from pylore.records.show import shown
from pylore.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with new_store(str(tmp_path / "store")) as store:
        records = Records(store, Settings(), None)
        records.add("note", "tokens expire", id="note-a", tags=["auth"], why="it is safer")
        records.add("decision", "sign them", id="decision-b", title="Signed")
        records.add("lesson", "keys leak", id="lesson-c", title="Leaks")
        records.link("note-a", "relates_to", "decision-b", weight=0.5)
        records.link("lesson-c", "learned_from", "note-a", metadata={"said": "é"})
        yield store


def ends(fields: dict[str, object]) -> list[tuple[object, ...]]:
    edges = fields["edges"]
    assert isinstance(edges, list)
    return [(e["direction"], e["relation"], e["id"], e["title"], e["weight"]) for e in edges]


def test_show_has_fields_and_links(store: Store) -> None:
    fields = shown(store, "note-a")
    assert (fields["title"], fields["tags"]) == ("tokens expire", ["auth"])
    assert fields["data"] == {"why": "it is safer"}
    assert ends(fields) == [
        ("in", "learned_from", "lesson-c", "Leaks", 1.0),
        ("out", "relates_to", "decision-b", "Signed", 0.5),
    ]
    assert fields["edges"][0]["metadata"] == {"said": "é"}
    assert all("history" not in edge for edge in fields["edges"])
    assert (fields["verdict"], fields["anchors"]) == (None, [])
    assert "anchor_history" not in fields


def test_show_has_history_on_request(store: Store) -> None:
    records = Records(store, Settings(), None)
    records.link("note-a", "relates_to", "decision-b", weight=0.75)
    records.unlink("note-a", "relates_to", "decision-b")
    assert [edge["id"] for edge in shown(store, "note-a")["edges"]] == ["lesson-c"]
    kept, ended = shown(store, "note-a", history=True)["edges"]
    assert (kept["invalidated_at"], kept["history"]) == (None, [])
    assert ended["invalidated_at"] is not None
    states = [(state["change"], state["weight"]) for state in ended["history"]]
    assert states == [("link", 0.5), ("unlink", 0.75)]
    assert ended["history"][0]["metadata"] == {}


def test_show_has_anchors_and_worst_verdict(store: Store) -> None:
    at = "2026-01-01T00:00:00Z"
    with store.transaction():
        for path, verdict in (("a.py", "valid"), ("b.py", "drifted")):
            store.anchors.put(Anchor("note-a", "file", path, created_at=at, verified_at=at))
            judged = Anchor("note-a", "file", path, verdict=verdict, created_at=at, verified_at=at)
            store.anchors.put(judged)
    fields = shown(store, "note-a", history=True)
    assert fields["verdict"] == "drifted"
    verdicts = {one["path"]: one["verdict"] for one in fields["anchors"]}
    assert verdicts == {"a.py": "valid", "b.py": "drifted"}
    (state,) = fields["anchor_history"]
    assert (state["path"], state["change"]) == ("b.py", "changed")
    assert shown(store, "lesson-c", history=True)["anchor_history"] == []
