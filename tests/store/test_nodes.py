"""Nodes, their passages, and which of them a filter lets through."""

from __future__ import annotations

import pytest
from things import EARLY, LATE, LATER, a_node, whole_passages

from pylore.core.errors import LoreError
from pylore.core.times import now
from pylore.store import ALL, Store
from pylore.store.anchors import Anchor
from pylore.store.filter import Scope


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


def test_a_put_says_what_it_did(store: Store) -> None:
    node = store.nodes.require("note-a")
    assert store.nodes.holds(node)
    assert store.nodes.put(node) == "unchanged"
    node.updated_at = LATE
    assert store.nodes.holds(node) and store.nodes.put(node) == "unchanged"
    assert store.nodes.require("note-a").updated_at == LATER
    node.body = "new"
    assert not store.nodes.holds(node) and store.nodes.put(node) == "updated"
    assert store.nodes.require("note-a").to_dict() == node.to_dict()


def test_all_fields_come_back(store: Store) -> None:
    node = a_node("note-e", body="b", status="staged", source="conversation", confidence=0.25,
                  category="c", tags=("x", "y"), file="f", line_start=1, line_end=2,
                  data='{"why":"w"}', accessed_at=LATE, access_count=3,
                  invalidated_at=LATE)  # fmt: skip
    store.nodes.put(node)
    assert store.nodes.require("note-e").to_dict() == node.to_dict()
    assert store.nodes.get_many(["note-e", "note-none"]) == {"note-e": node}


def test_an_unknown_id_names_likely_ones(store: Store) -> None:
    assert store.nodes.get("lesson") is None
    with pytest.raises(LoreError, match=r"no node 'lesson' \(did you mean lesson-gone\?\)"):
        store.nodes.require("lesson")


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("note-a", "note-a"),
        ("-a", "note-a"),
        ("src/a", "file-src/a.py symbol-src/a.py::f"),
        ("a.py", "file-src/a.py"),
        ("::f", "symbol-src/a.py::f"),
        ("gone", "lesson-gone"),
        ("%", ""),
        ("note", "note-a note-b"),
    ],
)
def test_a_part_of_an_id_names_those_that_begin_or_end_so(
    store: Store, part: str, expected: str
) -> None:
    assert " ".join(store.nodes.ids_at(part, 9)) == expected


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (Scope(), "decision-c decision-d file-src/a.py note-a note-b symbol-src/a.py::f"),
        (Scope(types=("note", "lesson")), "note-a note-b"),
        (Scope(statuses=("superseded", "retracted")), "decision-d note-b"),
        (Scope(tags=("auth",)), "note-a"),
        (Scope(tags=("auth", "api")), "note-a"),
        (Scope(tags=("auth", "none")), ""),
        (Scope(files=("src/*",)), "file-src/a.py note-a note-b symbol-src/a.py::f"),
        (Scope(types=("note",), files=("*/[^b].py", "?ocs/*")), "note-a"),
        (Scope(types=("decision",), files=("*/b.py", "?ocs/*")), "decision-c"),
        (Scope(since=LATER), "decision-c note-a note-b"),
        (Scope(until=LATER, types=("note", "decision")), "decision-c decision-d note-a"),
        (Scope(since=LATER, until=LATER), "decision-c note-a"),
        (Scope(types=("note",)).without(frozenset(["note-a"])), "note-b"),
    ],
)
def test_a_scope_lets_through(scope: Scope, expected: str, store: Store) -> None:
    ids = [node.id for node in store.nodes.all()]
    assert " ".join(sorted(store.nodes.match(scope, ids))) == expected
    assert " ".join(sorted(n.id for n in store.nodes.select(scope, ALL))) == expected


def test_a_selection_has_an_order_and_an_end(store: Store) -> None:
    scope = Scope(types=("note", "decision"))
    newest = ["note-b", "decision-c", "note-a", "decision-d"]
    assert [n.id for n in store.nodes.select(scope, ALL)] == newest
    assert [n.id for n in store.nodes.select(scope, 2)] == newest[:2]
    oldest = [n.id for n in store.nodes.select(scope, ALL, oldest_first=True)]
    assert oldest == ["decision-d", "decision-c", "note-a", "note-b"]
    assert [n.id for n in store.nodes.select(Scope(), ALL, forgotten=True)] == ["lesson-gone"]


def test_everything_comes_by_id(store: Store) -> None:
    ids = [node.id for node in store.nodes.all()]
    assert ids == sorted(ids) and "lesson-gone" in ids
    live = [node.id for node in store.nodes.all(live_only=True)]
    assert live == [id for id in ids if id != "lesson-gone"]
    assert [row[0] for row in store.nodes.outlines()] == live
    assert next(store.nodes.outlines(["note"])) == (
        "note-a", "note", "The note-a", "confirmed", "auth api", "src/a.py",
    )  # fmt: skip


def test_a_forgotten_node_comes_back(store: Store) -> None:
    store.nodes.invalidate("note-a", LATE)
    assert store.nodes.require("note-a").invalidated_at == LATE
    assert store.nodes.match(Scope(), ["note-a"]) == set()
    store.nodes.invalidate("note-a", None)
    assert store.nodes.match(Scope(), ["note-a"]) == {"note-a"}
    store.nodes.delete("note-a")
    assert store.nodes.get("note-a") is None


def test_small_questions(store: Store) -> None:
    hidden = ("superseded", "retracted")
    assert set(store.nodes.hidden(hidden, ALL) or ()) == {"note-b", "decision-d"}
    assert store.nodes.hidden(("retracted",), 1) == ["decision-d"]
    assert store.nodes.hidden(hidden, 1) is None
    ids = ["note-a", "note-b", "decision-d", "note-none"]
    assert store.nodes.hidden_among(ids, hidden) == {"note-b", "decision-d"}
    assert store.nodes.hidden_among(ids, ("superseded",)) == {"note-b"}
    assert store.nodes.categories(["note-a", "note-b"]) == {"note-b": "habit"}
    by_tag = store.nodes.categories(["note-a", "note-b", "decision-c"], ["aut", "api", "auth"])
    assert by_tag == {"note-a": "api", "note-b": "habit"}
    assert store.nodes.beginning("decision-c") == "x" * 800
    assert store.nodes.beginning("decision-c", 3) == "xxx"
    assert store.nodes.beginning("note-none") == ""
    assert store.nodes.files("src/") == ["src/a.py"] and store.nodes.files("lib") == []
    assert store.nodes.documents() == [("decision-c", "docs/c.md")]
    assert store.nodes.documents("docs/d.md") == []
    counts = {"note": 2, "decision": 2, "file": 1, "symbol": 1}
    assert store.nodes.count_by_type() == counts
    assert store.nodes.unknown_tags(["auth", "lost"]) == ["no record has the tag 'lost'"]
    assert "did you mean 'auth'" in store.nodes.unknown_tags(["auht"])[0]


def test_a_brief_is_what_a_result_says(store: Store) -> None:
    store.nodes.put(a_node("note-e", updated_at=now(), confidence=0.5))
    briefs = store.nodes.briefs(["note-e", "note-b", "note-none"])
    assert briefs.keys() == {"note-e", "note-b"}
    assert briefs["note-b"][:5] == ("note", "The note-b", "src/deep/b.py", None, None)
    assert briefs["note-b"][6:] == (1.0, "user_edit", "superseded", 0)
    assert 0 <= briefs["note-e"][5] < 0.01 and briefs["note-e"][6] == 0.5
    assert briefs["note-b"][5] > 200


def test_verdicts_come_with_the_nodes(store: Store) -> None:
    store.anchors.put(Anchor("note-a", "file", "src/a.py", root="/r", stamp="s", verdict="drifted",
                             created_at=EARLY, verified_at=EARLY))  # fmt: skip
    found = [("note-a", "drifted", "file", "/r", "src/a.py", "s")]
    assert store.nodes.anchored(["note-a", "note-b"]) == found
    assert store.nodes.anchored(["note-b"]) == []


def test_passages_have_keys_that_grow(store: Store) -> None:
    first = store.nodes.new_passages(whole_passages(["note-a", "note-a", "note-b"], "texts"))
    second = store.nodes.new_passages(whole_passages(["symbol-src/a.py::f"], "names"))
    assert sorted({*first, *second}) == [*first, *second]
    assert store.nodes.passages(["note-a", "symbol-src/a.py::f"]) == [
        (first[0], "texts"), (first[1], "texts"), (second[0], "names"),
    ]  # fmt: skip
    assert store.nodes.first_passages(["note-a", "note-b", "note-c"]) == {
        "note-a": first[0], "note-b": first[2],
    }  # fmt: skip
    assert store.nodes.symbol_lines([*first, *second]) == {second[0]: (3, 9)}
    assert store.nodes.symbol_lines(first) == store.nodes.symbol_lines([999]) == {}
    store.nodes.remove_passages(first[:1])
    assert store.nodes.first_passages(["note-a"]) == {"note-a": first[1]}
    store.nodes.remove_all_passages()
    assert store.nodes.passages(["note-a", "note-b"]) == []
