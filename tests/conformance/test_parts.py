"""The smaller parts: names that a store knows, anchors, files of code, runs, what is staged."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from things import EARLY, LATE, LATER, a_node, an_edge

from pylore.core.errors import UsageError
from pylore.core.times import now
from pylore.core.vocabulary import RELATIONS, TYPES
from pylore.store import ALL, Store
from pylore.store.anchor import ANCHOR_HISTORY, Anchor


@pytest.fixture
def store(store: Store) -> Iterator[Store]:
    with store.transaction():
        yield store


def test_facts_about_the_store(store: Store) -> None:
    assert store.meta.get("key") is None
    store.meta.set("key", "value")
    assert store.meta.get("key") == store.meta.all()["key"] == "value"
    store.meta.set("key", None)
    assert "key" not in store.meta.all()


def test_types(store: Store) -> None:
    assert store.types.all() == dict(sorted(TYPES.items()))
    store.types.declare("ritual", "what we do")
    store.types.declare("ritual", "what we always do")
    assert store.types.all()["ritual"] == "what we always do"
    assert store.types.require(["note", "ritual", "note"]) == ("note", "ritual")
    assert "ritual" in store.types.require(["records"])
    assert "symbol" not in store.types.require(["records"])
    with pytest.raises(UsageError, match=r"unknown type 'ritua' \(did you mean 'ritual'"):
        store.types.require(["ritua"])


def test_relations(store: Store) -> None:
    assert list(store.relations.all()) == sorted(RELATIONS)
    store.relations.declare("blocks", 0.5, 0.1, "stands in the way")
    store.relations.declare("blocks", 0.6, 0.2, "stands in the way of")
    assert store.relations.all()["blocks"] == (0.6, 0.2, "stands in the way of")


def test_words(store: Store) -> None:
    assert store.words.is_empty() and store.words.get(["a"]) == {}
    store.words.put({"a": [1, 2], "b": []})
    store.words.put({"a": [3]})
    assert not store.words.is_empty()
    assert store.words.get(["a", "b", "c"]) == {"a": [1, 2], "b": []}


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


def test_questions_about_anchors(anchored: Store) -> None:
    anchors = anchored.anchors
    assert [one.path for one in anchors.of("note-a")] == ["src/b.py", "src/a.py"]
    assert [one.key for one in anchors.all()] == sorted(one.key for one in anchors.all())
    assert [one.path for one in anchors.live()] == ["src/*.py", "src/a.py", "src/b.py", "x.py"]
    assert [one.path for one in anchors.live(["note-a"])] == ["src/a.py", "src/b.py"]
    assert set(anchors.about("", ["src/a.py", "x.py"])) == {
        ("note-a", "src/a.py"), ("note-gone", "src/a.py"),
    }  # fmt: skip
    assert anchors.globs("") == [("note-b", "src/*.py")] and anchors.globs("/other") == []
    assert ("note-b", "src/*.py", "src/a.py") in anchors.globs_like("", ["src/a.py", "lib/c"])
    assert sorted(anchors.paths("", "src/")) == ["src/a.py", "src/b.py"]


def test_places_and_verdicts_that_an_anchor_leaves_are_kept(anchored: Store) -> None:
    anchors = anchored.anchors
    (file, symbol) = anchors.of("note-a")
    assert anchors.put(file) == "unchanged"
    file.stamp = "s"
    assert anchors.put(file) == "updated" and list(anchors.history()) == []
    file.verdict, file.reason = "drifted", "it changed"
    moved = file.copy()
    moved.path = "src/c.py"
    anchors.replace([(file.key, file), (symbol.key, symbol)])
    anchors.replace([(file.key, moved)])
    assert anchors.delete(moved.key) and not anchors.delete(moved.key)
    assert anchors.of("note-a") == [symbol]
    history = list(anchors.history("note-a"))
    assert [(one["change"], one["path"], one["verdict"], one["reason"]) for one in history] == [
        ("judged", "src/b.py", "valid", ""),
        ("moved", "src/b.py", "drifted", "it changed"),
        ("removed", "src/c.py", "drifted", "it changed"),
    ]
    assert all(tuple(one) == ANCHOR_HISTORY for one in history)
    assert list(anchors.history("note-b")) == [] and list(anchors.history()) == history
    anchors.add_history(history[0], 1)
    assert len(list(anchors.history())) == 3
    anchors.add_history(history[0], 2)
    assert len(list(anchors.history())) == 4
    anchors.delete_node("note-a")
    assert anchors.of("note-a") == [] and list(anchors.history()) == []


def test_an_anchor_that_moves_onto_another_gives_way(anchored: Store) -> None:
    there, moving = anchor("note-a", "file", "src/z.py", hash="1"), anchored.anchors.of("note-a")[0]
    anchored.anchors.put(there)
    key, moving.path = moving.key, "src/z.py"
    anchored.anchors.replace([(key, moving)])
    files = [one for one in anchored.anchors.of("note-a") if one.kind == "file"]
    assert files == [there]


# --- what an index has read


def test_files_of_code(store: Store) -> None:
    code = store.code
    code.hold_more()
    code.put([("b.py", "h1", "s1", "python", "{}"), ("a.py", "h2", "s2", "python", '{"x":1}'),
              ("c.py", "h3", "s3", "", '{"skipped":"minified"}')])  # fmt: skip
    assert code.stamps() == {"a.py": "s2", "b.py": "s1", "c.py": "s3"}
    assert code.known(["a.py", "d.py"]) == {"a.py": ("h2", "python")}
    assert code.as_read("a.py") == ("s2", "h2") and code.as_read("d.py") is None
    assert list(code.facts()) == [("a.py", "python", '{"x":1}'), ("b.py", "python", "{}")]
    assert [row[0] for row in code.facts({"a.py"})] == ["b.py"]
    assert code.skipped() == {"minified": 1} and code.languages() == {"python": 2}
    code.restamp([("s9", "a.py")])
    assert code.as_read("a.py") == ("s9", "h2")
    code.remove(["a.py"])
    assert code.known(["a.py"]) == {}


def test_nodes_and_edges_of_code(store: Store) -> None:
    code = store.code
    file, symbol = a_node("file-a.py", file="a.py"), a_node("symbol-a.py::f", file="a.py")
    code.add_nodes([file, symbol])
    store.nodes.put(a_node("note-a", file="a.py"))
    assert code.nodes_of(["a.py"]).keys() == {"file-a.py", "symbol-a.py::f"}
    store.review.count_access(["file-a.py"], LATE)
    code.put_nodes([a_node("file-a.py", file="a.py", title="new", created_at=LATE)])
    found = store.nodes.require("file-a.py")
    assert (found.title, found.created_at, found.access_count) == ("new", EARLY, 1)
    assert code.symbol_count() == 1
    code.add_edges([an_edge("file-a.py", "symbol-a.py::f", "defines", source="system"),
                    an_edge("symbol-a.py::f", "symbol-b", "calls", 0.5,
                            source="system")])  # fmt: skip
    code.add_edges([an_edge("symbol-a.py::f", "symbol-b", "calls", 0.9)])
    assert code.edge_counts() == {"defines": 1, "calls": 1}
    assert code.defined(["file-a.py", "file-b"]) == {("file-a.py", "symbol-a.py::f")}
    key = ("symbol-a.py::f", "symbol-b", "calls")
    assert code.resolved() == {key: (0.5, "{}", "system", True)}
    code.end_edges([key], LATE)
    assert code.resolved()[key][3] is False and code.edge_counts() == {"defines": 1}
    code.put_edges([an_edge(*key, 0.7, source="system")])
    assert code.resolved()[key] == (0.7, "{}", "system", True)
    store.edges.put(an_edge(*key, 0.2, source="user_edit"))
    code.put_edges([an_edge(*key, 0.8, source="system")])
    assert code.resolved()[key][:3] == (0.2, "{}", "user_edit")
    assert [state["weight"] for state in store.edges.history(key)] == [0.5, 0.5, 0.7]


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


def test_what_a_run_was_shown(rated: Store) -> None:
    shown = rated.impressions
    shown.show("run-1", ["note-b", "note-d", "note-a"], "first", EARLY)
    shown.show("run-1", ["note-a", "note-b"], "second", LATER)
    assert list(shown.shown("run-1").items()) == [
        ("note-a", (1, "second")), ("note-b", (1, "first")), ("note-d", (2, "first")),
    ]  # fmt: skip
    assert shown.summaries(None, ALL) == [
        ("run-2", '{"finished_at":"x"}', LATER, 0, 1, 1.0, 0.0),
        ("run-1", "{}", EARLY, 1, 3, 1.0, 1.0),
    ]
    assert [row[0] for row in shown.summaries("run-1", 5)] == ["run-1"]
    assert [row[0] for row in shown.summaries(None, 1)] == ["run-2"]
    shown.clear("run-1")
    assert shown.shown("run-1") == {}
    rated.nodes.invalidate("run-2", LATE)
    assert [shown.state(f"run-{n}") for n in (1, 2, 3)] == ["open", "forgotten", ""]


def test_how_it_was_rated(rated: Store) -> None:
    a = ("note-a", "run-1", "helpful", 2, "q", LATE, "The note-a")
    b = ("note-b", "run-1", "unhelpful", 1, None, LATER, "The note-b")
    assert [row[:4] for row in rated.impressions.uses("run-1")] == [
        b[:4], a[:4], ("note-c", "run-1", None, None),
    ]  # fmt: skip
    other = ("note-a", "run-2", "helpful", None, None, EARLY, "The note-a")
    assert rated.impressions.rated("", [], ALL) == [a, b, other]
    assert rated.impressions.rated("run-1", ["note-a"], ALL) == [a]
    assert rated.impressions.rated("", ["note-a", "note-b"], 2) == [a, b]


def test_ratings_follow_their_edges(rated: Store) -> None:
    ids = ["note-a", "note-b", "note-c"]
    assert rated.ratings.of(ids) == {"note-a": (1.5, 2), "note-b": (0.0, 1)}
    rated.edges.invalidate(("note-a", "run-2", "used_in_run"), LATE)
    assert rated.ratings.of(ids) == {"note-a": (1.0, 1), "note-b": (0.0, 1)}
    rated.edges.delete_node("note-b")
    assert rated.ratings.of(ids) == {"note-a": (1.0, 1)} and rated.ratings.wrong() == 0
    rated.ratings.recount()
    assert rated.ratings.of(ids) == {"note-a": (1.0, 1)}


def test_accesses_ripen_what_is_staged(store: Store) -> None:
    store.nodes.put(a_node("note-a", status="staged", source="conversation", confidence=0.4))
    store.nodes.put(a_node("note-gone", status="staged", invalidated_at=LATE))
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
    review.confirm_nodes(["note-a"])
    assert store.nodes.require("note-a").status == "confirmed" and now() > LATE


def test_what_is_said_of_each_id_leaves_out_who_has_read_it(store: Store) -> None:
    for id in ("note-a", "note-b", "file-c"):
        store.nodes.put(a_node(id))
    store.edges.put(an_edge("note-a", "note-b"))
    store.edges.put(an_edge("note-a", "note-b", weight=0.5))
    store.edges.put(an_edge("note-b", "file-c"))
    store.history.purge("note-gone", LATE)
    said = sorted(store.contents.rows())
    store.review.count_access(["note-a"], LATE)
    assert sorted(store.contents.rows()) == said
    unusual = store.contents.unusual()
    assert "note-gone" in unusual
    assert {id for id, _, _ in said} | unusual == set(store.contents.ids())
    assert set(store.contents.ids()) == {"note-a", "note-b", "file-c", "note-gone"}
    (left,) = store.contents.past_edges(["note-a", "note-c"])
    assert (left["to_id"], left["weight"]) == ("note-b", 1.0)
    notes = {id for id, _, _ in store.contents.rows(["file"])} - unusual
    assert notes == {id for id, _, _ in said if id != "note-a"} - unusual
