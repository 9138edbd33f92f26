"""The smaller parts: names that a store knows, anchors, files of code, runs, what is staged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import copy

import pytest
from things import EARLY, LATE, LATER, a_node, an_edge

from pylore.core.model import Anchor
from pylore.store import Store
from pylore.store.anchors import MOVED


@pytest.fixture
def store(store: Store) -> Iterator[Store]:
    with store.transaction():
        yield store


# --- anchors


def anchor(node: str, kind: str, path: str, **fields: str) -> Anchor:
    times = {"created_at": EARLY, "verified_at": EARLY}
    return Anchor(node, kind, path, **{**times, **fields})


@pytest.fixture
def anchored(store: Store) -> Store:
    for id in ("note-a", "note-b"):
        store.nodes.put(a_node(id))
    store.nodes.put(a_node("note-gone", invalidated_at=LATE))
    for one in (
        anchor("note-a", "file", "src/b.py"), anchor("note-a", "symbol", "src/a.py", detail="f"),
        anchor("note-b", "glob", "src/*.py"), anchor("note-b", "file", "x.py", root="/other"),
        anchor("note-gone", "file", "src/a.py"),
    ):  # fmt: skip
        assert store.anchors.put(one) == "added"
    return store


def test_places_and_verdicts_that_an_anchor_leaves_are_kept(anchored: Store) -> None:
    anchors = anchored.anchors
    (file, symbol) = anchors.of("note-a")
    assert anchors.put(file) == "unchanged"
    file.stamp = "s"
    assert anchors.put(file) == "updated"
    file.verdict, file.reason = "drifted", "it changed"
    moved = copy(file)
    moved.path = "src/c.py"
    anchors.replace([(file.key, file), (symbol.key, symbol)])
    anchors.replace([(file.key, moved)])
    assert anchors.delete(moved.key) and not anchors.delete(moved.key)
    assert anchors.of("note-a") == [symbol]
    gone = [one for one in anchors.of("note-a", gone=True) if one.gone_at]
    assert [(one.path, one.reason) for one in gone] == [
        ("src/b.py", MOVED), ("src/c.py", "it changed"),
    ]  # fmt: skip
    states = [(past.row.verdict, past.row.reason) for past in anchored.changes.of(gone[0])]
    assert states == [("valid", ""), ("drifted", "it changed")]
    assert anchors.left_for_others("note-a", "file") == [("src/b.py", "")]
    anchors.delete_node("note-a")
    assert anchors.of("note-a", gone=True) == []


def test_an_anchor_is_one_of_its_node_kind_path_and_detail(anchored: Store) -> None:
    anchors = anchored.anchors
    (file, symbol) = anchors.of("note-a")
    near = [
        anchor("note-b", "file", "src/b.py"), anchor("note-a", "lines", "src/b.py"),
        anchor("note-a", "file", "src/c.py"), anchor("note-a", "file", "src/b.py", detail="x"),
    ]  # fmt: skip
    assert [anchors.put(one) for one in near] == ["added"] * 4
    changed = copy(file)
    changed.verdict = "drifted"
    anchors.replace([(file.key, changed)])
    assert anchors.put(changed) == "unchanged"
    assert [anchors.put(one) for one in near] == ["unchanged"] * 4
    assert anchors.delete(file.key)
    left = [one.key for one in anchors.all() if one.gone_at is None]
    assert file.key not in left and all(one.key in left for one in (*near, symbol))


def test_an_anchor_that_moves_onto_another_gives_way(anchored: Store) -> None:
    there, moving = anchor("note-a", "file", "src/z.py", hash="1"), anchored.anchors.of("note-a")[0]
    anchored.anchors.put(there)
    key, moving.path = moving.key, "src/z.py"
    anchored.anchors.replace([(key, moving)])
    files = [one for one in anchored.anchors.of("note-a") if one.kind == "file"]
    assert files == [there]


# --- what an index has read


@pytest.mark.parametrize("source", ["user_edit", "conversation", "file", "system"])
def test_an_index_leaves_what_people_say_and_takes_up_what_ended(source: str, store: Store) -> None:
    key = ("symbol-a", "symbol-b", "calls")
    others = [("symbol-c", *key[1:]), (key[0], "symbol-c", key[2]), (*key[:2], "imports")]
    for each in (key, *others):
        store.edges.put(an_edge(*each, 0.2, source=source))
    made = an_edge(*key, 0.9, source="system", metadata='{"line":3}', created_at=LATE)
    store.code.put_edges([made])
    kept = source in ("user_edit", "conversation")
    assert store.code.resolved()[key] == (
        (0.2, "{}", source, True) if kept else (0.9, '{"line":3}', "system", True)
    )
    store.edges.invalidate(key, EARLY)
    assert all(store.code.resolved()[each][3] for each in others)
    store.code.put_edges([made])
    found = store.edges.get(*key)
    assert found is not None and (found.weight, found.source) == (0.9, "system")
    assert (found.invalidated_at, found.created_at) == (None, EARLY)


# --- runs, ratings, what is staged


@pytest.fixture
def rated(store: Store) -> Store:
    for id in ("note-a", "note-b", "note-c"):
        store.nodes.put(a_node(id))
    store.nodes.put(a_node("run-1", data="{}", created_at=EARLY))
    store.nodes.put(a_node("run-2", data='{"finished_at":"x"}', created_at=LATER))
    for node, run, weight, data in (
        ("note-a", "run-1", 1.0, {"rating": "helpful", "position": 2, "query": "q",
                                  "rated_at": LATE}),
        ("note-b", "run-1", 0.0, {"rating": "unhelpful", "position": 1, "rated_at": LATER}),
        ("note-c", "run-1", 0.5, {"rating": None}),
        ("note-a", "run-2", 0.5, {"rating": "helpful", "rated_at": EARLY}),
    ):  # fmt: skip
        metadata = json.dumps(data)
        store.edges.put(an_edge(node, run, "used_in_run", weight, metadata=metadata))
    return store


def test_what_was_shown_first_at_a_position_stays_there(rated: Store) -> None:
    shown = rated.impressions
    shown.show("run-1", ["note-z"], "first", EARLY)
    shown.show("run-1", ["note-y"], "second", LATE)
    shown.show("run-1", ["note-z", "note-x"], "third", LATE)
    shown.show("run-1", ["note-a", "note-w"], "fourth", LATER)
    assert list(shown.shown("run-1").items()) == [
        ("note-z", (1, "first", '{"first":1,"third":1}')),
        ("note-a", (1, "fourth", '{"fourth":1}')),
        ("note-y", (1, "second", '{"second":1}')),
        ("note-w", (2, "fourth", '{"fourth":2}')),
        ("note-x", (2, "third", '{"third":2}')),
    ]  # fmt: skip


def test_ratings_follow_their_edges(rated: Store) -> None:
    ids = ["note-a", "note-b", "note-c"]
    assert rated.ratings.of(ids) == {"note-a": (1.5, 2), "note-b": (0.0, 1)}
    rated.edges.invalidate(("note-a", "run-2", "used_in_run"), LATE)
    assert rated.ratings.of(ids) == {"note-a": (1.0, 1), "note-b": (0.0, 1)}
    rated.edges.delete_node("note-b")
    assert rated.ratings.of(ids) == {"note-a": (1.0, 1)} and rated.ratings.wrong() == 0
    rated.edges.put(an_edge("note-a", "run-1", "used_in_run", 0.25, metadata='{"rating":"x"}'))
    assert rated.ratings.of(ids) == {"note-a": (0.25, 1)}
    rated.edges.put(an_edge("note-a", "run-1", "used_in_run", 0.25, metadata='{"rating":null}'))
    assert rated.ratings.of(ids) == {} and rated.ratings.wrong() == 0
    rated.edges.put(an_edge("note-a", "run-1", "used_in_run"))
    rated.edges.put(an_edge("note-a", "run-1", "relates_to", 0.5))
    rated.edges.invalidate(("note-a", "run-2", "used_in_run"), None)
    assert rated.ratings.of(ids) == {"note-a": (1.5, 2)}
    rated.edges.delete_node("run-2")
    assert rated.ratings.of(["note-c"]) == {} and rated.ratings.wrong() == 0
    rated.ratings.recount()
    assert rated.ratings.of(ids) == {"note-a": (1.0, 1)}


def test_accesses_ripen_what_is_staged(store: Store) -> None:
    store.nodes.put(a_node("note-a", status="staged", source="conversation", confidence=0.4))
    store.nodes.put(a_node("note-gone", status="staged", invalidated_at=LATE))
    for id in ("entity-x", "concept-y"):
        store.nodes.put(a_node(id))
    for edge in (an_edge("entity-x", "concept-y", "depends_on", 0.5, status="staged",
                         source="conversation"),
                 an_edge("note-a", "entity-x", status="staged", source="file")):  # fmt: skip
        store.edges.put(edge)
    review, key = store.review, ("entity-x", "concept-y", "depends_on")
    review.count_access(["note-a", "note-gone", "entity-x"], LATE)
    review.count_access(["note-a", "concept-y"], LATE)
    found = store.nodes.require("note-a")
    assert (found.access_count, found.accessed_at, found.updated_at) == (2, LATE, EARLY)
    assert store.nodes.require("note-gone").access_count == 0
    assert review.ripe_nodes(["note-a", "note-gone"], 2) == ["note-a"]
    assert review.ripe_nodes(["note-a"], 3) == []
    assert review.ripe_facts(["entity-x", "note-a"], 2) == [key]
    assert review.ripe_facts(["entity-x"], 3) == [] and review.ripe_facts(["note-a"], 0) == []
    assert review.staged_nodes("conversation")["note-a"][::2] == (0.4, 2)
    assert review.staged_edges("conversation")[key][::2] == (0.5, 2)
    assert review.staged_nodes("file") == {}
    age = review.staged_edges("conversation")[key][1]
    store.edges.put(an_edge(*key, 0.6, status="staged", source="conversation"))
    assert age > 200 > 1 > review.staged_edges("conversation")[key][1] >= 0
    store.nodes.confirm(["note-a"])
    found = store.nodes.require("note-a")
    assert (found.status, found.updated_at, found.access_count) == ("confirmed", EARLY, 2)


# --- the files of documents


# --- candidates
