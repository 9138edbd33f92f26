"""The smaller parts: names that a store knows, anchors, files of code, runs, what is staged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import copy

import pytest
from things import EARLY, LATE, LATER, a_node, an_edge

from pylore.core.errors import UsageError
from pylore.core.model import Anchor
from pylore.core.times import now
from pylore.core.vocabulary import RELATIONS, TYPES
from pylore.store import ALL, Store
from pylore.store.anchors import MOVED, DocumentFile
from pylore.store.curation import KeptCandidate


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


def test_anchors_are_asked_for_by_root_and_by_the_beginning_of_a_path(anchored: Store) -> None:
    anchors = anchored.anchors
    for one in (
        anchor("note-a", "glob", "lib/*.py", root="/other"), anchor("note-b", "lines", "src/a.py"),
        anchor("note-b", "hash", "srca.py"), anchor("note-b", "lines", "src/a.py", detail="1-2"),
        anchor("note-b", "file", "src/[x].py"), anchor("note-b", "glob", "src/[a-c].py"),
    ):  # fmt: skip
        anchors.put(one)
    assert sorted(anchors.paths("", "src/")) == ["src/[x].py", "src/a.py", "src/b.py"]
    assert anchors.paths("", "src/a.py") == ["src/a.py"]
    assert anchors.paths("/other", "x") == ["x.py"] and anchors.paths("/other", "lib") == []
    assert sorted(anchors.about("", ["src/a.py"])) == [
        ("note-a", "src/a.py"), ("note-b", "src/a.py"), ("note-gone", "src/a.py"),
    ]  # fmt: skip
    assert anchors.about("/other", ["src/a.py", "lib/*.py"]) == []
    assert anchors.globs("/other") == [("note-a", "lib/*.py")]
    like = set(anchors.globs_like("", ["src/b.py", "src/deep/c.py"]))
    assert like >= {("note-b", "src/*.py", "src/b.py"), ("note-b", "src/[a-c].py", "src/b.py")}
    assert {node for node, _, _ in like} == {"note-b"}
    assert anchors.globs_like("/other", ["lib/a.py"]) == [("note-a", "lib/*.py", "lib/a.py")]
    places = [(one.root, one.path, one.node_id, one.kind, one.detail) for one in anchors.live()]
    assert places == sorted(places) and len(places) == 10


def test_an_anchor_that_is_no_more_is_not_written_over(anchored: Store) -> None:
    gone, others = anchored.anchors.of("note-a")[0], anchored.anchors.of("note-a")[1:]
    anchored.anchors.delete(gone.key)
    changed = copy(gone)
    changed.verdict = "drifted"
    anchored.anchors.replace([(gone.key, changed)])
    assert anchored.anchors.of("note-a") == others


# --- what an index has read


def test_files_of_code(store: Store) -> None:
    code = store.code
    code.hold_more()
    code.put([("b.py", "h1", "s1", "python", "{}"), ("a.py", "h2", "s2", "python", '{"x":1}'),
              ("c.py", "h3", "s3", "", '{"skipped":"minified"}')])  # fmt: skip
    assert code.stamps() == {"a.py": "s2", "b.py": "s1", "c.py": "s3"}
    assert code.known(["a.py", "d.py"]) == {"a.py": ("h2", "python")}
    assert code.as_read("a.py") == ("s2", "h2", "python") and code.as_read("d.py") is None
    assert list(code.facts()) == [("a.py", "python", '{"x":1}'), ("b.py", "python", "{}")]
    assert code.skipped() == {"minified": 1} and code.languages() == {"python": 2}
    code.restamp([("s9", "a.py")])
    assert code.as_read("a.py") == ("s9", "h2", "python")
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
    assert code.resolved_from(["symbol-a.py::f", "file-a.py"]) == code.resolved()
    assert code.resolved_from(["symbol-b"]) == {} and code.resolved_to([key[0]]) == []
    assert code.resolved_to(["symbol-b", "symbol-c"]) == [key]
    store.edges.drop_derived([key])
    assert code.resolved_to(["symbol-b"]) == []
    assert key not in code.resolved() and code.edge_counts() == {"defines": 1}
    code.put_edges([an_edge(*key, 0.7, source="system")])
    assert code.resolved()[key] == (0.7, "{}", "system", True)
    store.edges.put(an_edge(*key, 0.2, source="user_edit"))
    code.put_edges([an_edge(*key, 0.8, source="system")])
    assert code.resolved()[key][:3] == (0.2, "{}", "user_edit")
    store.edges.drop_derived([key])
    assert code.resolved()[key][:3] == (0.2, "{}", "user_edit")


def test_an_index_counts_what_is_its_own_and_live(store: Store) -> None:
    code = store.code
    code.put([(f"{n}.py", "h", "s", "", f'{{"skipped":"{why}"}}')
              for n, why in enumerate(("large", "minified", "large"))])  # fmt: skip
    assert code.skipped() == {"large": 2, "minified": 1} and code.languages() == {}
    assert list(code.facts()) == []
    for id in ("symbol-a.py::f", "symbol-a.py::g", "file-a.py", "note-a"):
        gone = LATE if id.endswith("g") else None
        store.nodes.put(a_node(id, file="a.py", tags=("x", "y"), invalidated_at=gone))
    assert code.symbol_count() == 1
    found = code.nodes_of(["b.py", "a.py"])
    assert found.keys() == {"symbol-a.py::f", "symbol-a.py::g", "file-a.py"}
    assert found["file-a.py"] == store.nodes.require("file-a.py")
    for end, gone in (("f", None), ("g", LATE)):
        for relation in ("defines", "mentions", "relates_to"):
            edge = an_edge("file-a.py", f"symbol-a.py::{end}", relation, ended_at=gone)
            store.edges.put(edge)
    assert code.edge_counts() == {"defines": 1, "mentions": 1}
    assert code.defined(["file-a.py"]) == {("file-a.py", "symbol-a.py::f")}
    resolved = code.resolved()
    assert {(key[1][-1], key[2]): row[3] for key, row in resolved.items()} == {
        ("f", "mentions"): True, ("g", "mentions"): False,
    }  # fmt: skip


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


def test_what_a_run_was_shown(rated: Store) -> None:
    shown = rated.impressions
    shown.show("run-1", ["note-b", "note-d", "note-a"], "first", EARLY)
    shown.show("run-1", ["note-a", "note-b"], "second", LATER)
    assert [(id, it[:2]) for id, it in shown.shown("run-1").items()] == [
        ("note-b", (1, "first")), ("note-a", (1, "second")), ("note-d", (2, "first")),
    ]  # fmt: skip
    assert shown.summaries(None, ALL) == [
        ("run-2", '{"finished_at":"x"}', LATER, 0, 1, 1.0, 0.0),
        ("run-1", "{}", EARLY, 1, 3, 1.0, 1.0),
    ]
    assert [row[0] for row in shown.summaries("run-1", 5)] == ["run-1"]
    assert [row[0] for row in shown.summaries(None, 1)] == ["run-2"]
    shown.show("run-2", ["note-b"], "third", LATE)
    shown.clear("run-1")
    assert shown.shown("run-1") == {} and [*shown.shown("run-2")] == ["note-b"]
    assert shown.state("note-a") == "", "it is no run"
    rated.nodes.invalidate("run-2", LATE)
    assert [shown.state(f"run-{n}") for n in (1, 2, 3)] == ["open", "forgotten", ""]


def test_what_runs_were_shown_among_the_first(rated: Store) -> None:
    shown = rated.impressions
    shown.show("run-2", ["note-b", "note-d", "note-a"], "open", EARLY)
    assert shown.tops(["run-1", "run-2", "run-none"], 2) == [
        ("run-1", "", "note-b"), ("run-1", "q", "note-a"),
        ("run-2", "open", "note-b"), ("run-2", "open", "note-d"),
    ]  # fmt: skip
    assert shown.tops(["run-1"], 1) == [("run-1", "", "note-b")]
    assert shown.tops([], 5) == []


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


def test_a_run_counts_what_it_used_and_no_other_edge(rated: Store) -> None:
    rated.edges.put_many(
        [
            an_edge("note-d", "run-1", "relates_to"),
            an_edge("note-e", "run-2", "used_in_run"),
            an_edge("note-f", "run-1", "used_in_run", ended_at=LATE),
            an_edge("note-none", "run-1", "used_in_run", metadata='{"position":7}'),
        ]
    )
    rated.nodes.put(a_node("run-gone", invalidated_at=LATE))
    rated.impressions.show("run-1", ["note-d", "note-e", "note-f", "note-a"], "q", EARLY)
    assert rated.impressions.summaries(None, ALL) == [
        ("run-2", '{"finished_at":"x"}', LATER, 0, 2, 2.0, 0.0),
        ("run-1", "{}", EARLY, 3, 4, 2.0, 1.0),
    ]
    uses = rated.impressions.uses("run-1")
    assert [(use[0], use[3]) for use in uses] == [
        ("note-b", 1), ("note-a", 2), ("note-none", 7), ("note-c", None),
    ]  # fmt: skip
    assert uses[2] == ("note-none", "run-1", "helpful", 7, None, EARLY, "")


def test_how_it_was_rated(rated: Store) -> None:
    a = ("note-a", "run-1", "helpful", 2, "q", LATE, "The note-a")
    b = ("note-b", "run-1", "unhelpful", 1, None, LATER, "The note-b")
    assert [row[:4] for row in rated.impressions.uses("run-1")] == [
        b[:4], a[:4], ("note-c", "run-1", None, None),
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


def test_read_counts_for_staged_facts_of_things(store: Store) -> None:
    facts = [("entity-x", "entity-y"), ("concept-z", "entity-x"), ("entity-x", "concept-z")]
    others = [("note-a", "entity-x"), ("entity-x", "note-a"), ("entity-y", "concept-z")]
    for id in ("entity-x", "entity-y", "entity-w", "concept-z", "note-a"):
        store.nodes.put(a_node(id))
    for ends in (*facts, *others):
        store.edges.put(an_edge(*ends, status="staged"))
    store.edges.put(an_edge("entity-x", "entity-w", status="staged", ended_at=LATE))
    store.review.count_access(["entity-x", "note-a"], LATER)
    counted = {edge.key[:2]: (edge.access_count, edge.accessed_at) for edge in store.edges.all()}
    assert {ends for ends, count in counted.items() if count == (1, LATER)} == {*facts}
    assert {ends for ends, count in counted.items() if count == (0, None)} == {
        *others, ("entity-x", "entity-w"),
    }  # fmt: skip
    assert [key[:2] for key in store.review.ripe_facts(["entity-x"], 1)] == sorted(facts)
    store.edges.put(an_edge(*facts[0], status="confirmed"))
    assert [key[:2] for key in store.review.ripe_facts(["entity-x"], 1)] == sorted(facts[1:])
    assert [key[:2] for key in store.review.ripe_facts(["entity-y"], 0)] == [others[2]]


def test_what_is_staged_is_live_and_of_its_source(store: Store) -> None:
    for id, fields in (
        ("note-b", {}), ("note-a", {"updated_at": now(), "confidence": 0.5}),
        ("note-c", {"status": "confirmed"}), ("note-d", {"source": "file"}),
        ("note-e", {"invalidated_at": LATE}),
    ):  # fmt: skip
        told = {"status": "staged", "source": "conversation", **fields}
        store.nodes.put(a_node(id, **told))
        store.edges.put(
            an_edge(id, "note-x", status=told["status"], source=told["source"],
                    invalidated_at=told.get("invalidated_at"))
        )  # fmt: skip
    nodes = store.review.staged_nodes("conversation")
    assert [*nodes] == ["note-a", "note-b"] and nodes["note-a"][0] == 0.5
    assert nodes["note-b"][1] > 200 > 1 > nodes["note-a"][1] >= 0
    assert [key[0] for key in store.review.staged_edges("conversation")] == ["note-a", "note-b"]
    assert [*store.review.staged_nodes("file")] == ["note-d"]
    ripe = store.review.ripe_nodes(["note-e", "note-c", "note-b", "note-a"], 0)
    assert ripe == ["note-a", "note-b"]


def test_only_a_change_of_its_own_makes_an_edge_newer(store: Store) -> None:
    key = ("note-a", "note-b", "relates_to")
    near = [("note-c", *key[1:]), (key[0], "note-c", key[2]), (*key[:2], "supersedes")]
    for each in (key, *near):
        store.edges.put(an_edge(*each, status="staged", source="conversation"))
    for each in near:
        store.edges.put(an_edge(*each, 0.5, status="staged", source="conversation"))
    ages = {each: staged[1] for each, staged in store.review.staged_edges("conversation").items()}
    assert ages[key] > 200 and all(0 <= ages[each] < 1 for each in near)


# --- the files of documents


def test_files_of_documents(store: Store) -> None:
    documents = store.documents
    for id in ("doc-a", "doc-b"):
        store.nodes.put(a_node(id))
    a = DocumentFile("doc-a", "x/b.md", "doc", "s1", "h1", "A", "t1")
    b = DocumentFile("doc-b", "x/a.md", "doc", "s2", "h2", "B", "t2")
    documents.put("", a, '[["wiki"]]')
    documents.put("", b, "[]")
    documents.put("/other", DocumentFile("doc-a", "y.md"), "[]")
    assert documents.all("") == [b, a] and documents.all("/none") == []
    assert documents.links("", "doc-a") == '[["wiki"]]' and documents.links("", "doc-c") == ""
    assert documents.has("doc-a") and not documents.has("doc-c")
    assert documents.paths(["doc-a", "doc-c"]) == {"doc-a": "x/b.md"}
    a.stamp = "s3"
    documents.restamp("", a)
    assert documents.all("") == [b, a] and documents.links("", "doc-a") == '[["wiki"]]'
    documents.put("", a, "[]")
    assert documents.links("", "doc-a") == "[]"
    documents.remove("", ["doc-a", "doc-c"])
    assert [one.node_id for one in documents.all("")] == ["doc-b"]
    assert [one.path for one in documents.all("/other")] == ["y.md"]
    store.nodes.delete("doc-a")
    assert documents.all("/other") == [] and not documents.has("doc-a")


# --- candidates


def candidate(id: str, score: float, status: str = "open", **fields: object) -> KeptCandidate:
    one = KeptCandidate(f"candidate-{id}", "lesson", f"The {id}", "text", score, EARLY, LATER)
    one.status = status
    for name, value in fields.items():
        setattr(one, name, value)
    return one


def test_candidates_are_kept_the_best_first_and_taken_away(store: Store) -> None:
    given = [candidate("a", 0.5), candidate("b", 0.9, data='{"files":["a.py"]}'),
             candidate("c", 0.7, "refused", command=7)]  # fmt: skip
    store.candidates.put(given)
    assert store.candidates.all() == [given[1], given[2], given[0]]
    assert store.candidates.all(["open", "skipped"]) == [given[1], given[0]]
    assert store.candidates.decided_by(7) == [given[2]]
    given[0].status, given[0].promoted_as = "promoted", "lesson-1"
    store.candidates.put(given[:1])
    store.candidates.remove(["candidate-b", "candidate-none"])
    assert store.candidates.get_many(["candidate-a", "candidate-b"]) == {"candidate-a": given[0]}
