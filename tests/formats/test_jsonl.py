"""Import and export of JSON lines."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from new_stores import new_store
from samples import examples
from things import an_edge, lines_of

from pylore.core.errors import LoreError
from pylore.core.model import Edge, Node
from pylore.core.settings import Settings
from pylore.core.stamps import CHOICES, RULES
from pylore.core.vocabulary import RELATIONS
from pylore.formats.export import export_lines
from pylore.formats.jsonl import Imported, import_lines
from pylore.search.pipeline import Request, search
from pylore.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with new_store(str(tmp_path)) as store:
        yield store


BOUNDED = Settings.load(environ={}, flags={"max_text": "10000"})


def put(store: Store, *rows: dict[str, Any] | bytes | str, **options: Any) -> Imported:
    return import_lines(store, BOUNDED, None, lines_of(*rows), **options)


def lines(store: Store) -> list[str]:
    return list(export_lines(store))


# --- export, import, export

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
TIME = st.sampled_from(["2026-01-01T00:00:00Z", "2026-01-02T03:04:05Z", "2026-10-30T23:59:59Z"])
NUMBER = st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    **{name: st.sampled_from(words) for name, words in CHOICES.items()},
    "text": TEXT,
    "moment": TIME,
    "fraction": st.floats(0, 1),
    "line": st.integers(1, (1 << 53) - 1),
    "count": st.integers(0, (1 << 53) - 1),
    "object": st.dictionaries(TEXT, JSON, max_size=3),
    "tags": st.lists(TEXT, max_size=3),
    "stamps": st.just({}),
}


def fields_of(kind: type) -> dict[str, st.SearchStrategy[Any]]:
    """Return the fields of a line of a thing, with values by their rules."""
    return {name: st.none() | VALUES[rule] for name, rule in RULES.items() if hasattr(kind, name)}


KEY = st.sampled_from("abc") | TEXT.map(
    lambda text: "".join(filter(str.isprintable, text)).strip() or "k"
)
ID = st.builds("{}-{}".format, st.sampled_from(["decision", "note", "odd"]), KEY)
NODE = st.fixed_dictionaries({"id": ID}, optional=fields_of(Node))
RELATION = st.sampled_from([*list(RELATIONS)[:3], "made_up", "UPPER_CASE"])
EDGE = st.fixed_dictionaries(
    {"from_id": ID, "to_id": ID, "relation": RELATION}, optional=fields_of(Edge)
).map(lambda edge: {**edge, "to_id": f"{edge['to_id']}" + "x" * (edge["from_id"] == edge["to_id"])})
STAMP = TIME.map("{} 0a1b2c3d4e".format)
END = {"to_id": st.just("note-the other end"), "relation": st.just("links_to")}
LEFT = {
    "data.a": JSON.map(lambda value: [value]) | st.none(),
    "tags.t": st.sampled_from([True, None]),
    "place": st.sampled_from([None, ["a.py", 1, 2]]),
}
PAST_OF_NODE = st.fixed_dictionaries(
    {name: VALUES[RULES[name]] for name in ("title", "confidence")} | LEFT
)
PAST_OF_EDGE = st.fixed_dictionaries(
    {name: VALUES[RULES[name]] for name in ("source", "status", "weight")}
    | {"ended_at": TIME | st.none(), "metadata": VALUES["object"] | st.none()}
)
HISTORY = st.fixed_dictionaries(
    {"history_of": ID, **END, "stamp": STAMP, "left": PAST_OF_EDGE}
) | st.fixed_dictionaries({"state_of": ID, "stamp": STAMP, "left": PAST_OF_NODE})
FRACTION = VALUES["fraction"]
RELATION_ROW = st.fixed_dictionaries(
    {"declare_relation": st.just("made_up")},
    optional={"weight": FRACTION, "backward_weight": FRACTION, "description": TEXT},
)
TYPE_ROW = st.fixed_dictionaries({"declare_type": st.just("odd")}, optional={"description": TEXT})


@settings(max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(TYPE_ROW | RELATION_ROW, max_size=2),
    st.lists(NODE, max_size=4),
    st.lists(EDGE, max_size=4),
    st.lists(HISTORY, max_size=3).map(lambda rows: rows * 2),
)
def test_export_import_export_is_the_same(
    declared: list[dict[str, Any]],
    nodes: list[dict[str, Any]],
    edges: list[dict[str, Any]],
    history: list[dict[str, Any]],
) -> None:
    rows = [*declared, *nodes, *edges, *history]
    with tempfile.TemporaryDirectory() as folder:
        with new_store(f"{folder}/a") as first:
            put(first, *rows, new_types=True, new_relations=True)
            exported = lines(first)
            put(first, *exported)
            assert lines(first) == exported
        with new_store(f"{folder}/b") as second:
            put(second, *exported)
            assert lines(second) == exported
            again = put(second, *exported)
            assert (again.added, again.updated) == (0, 0)
            assert lines(second) == exported


def test_derived_edges_have_no_past(store: Store, tmp_path: Path) -> None:
    with store.transaction():
        for weight in (0.9, 0.2, 0.5):
            store.edges.put(an_edge("file-a", "file-b", "co_changes_with", weight, source="system"))
    said = lines(store)
    assert not any("history_of" in line for line in said)
    with new_store(str(tmp_path / "other")) as other:
        put(other, *said)
        assert lines(other) == said


# --- importing


def test_lines_have_titles_and_lines_in_order(store: Store) -> None:
    put(store, {"id": "note-a", "title": " ", "body": "\nFirst. More"}, {"id": "note-b"})
    assert [store.nodes.require(id).title for id in ("note-a", "note-b")] == ["First.", "note-b"]
    put(store, {"id": "note-c", "file": "a.py", "line_start": 20, "line_end": 10})
    assert (node := store.nodes.require("note-c")) and (node.line_start, node.line_end) == (10, 20)


def test_missing_fields_of_a_line_stay(store: Store) -> None:
    put(store, {"id": "note-a", "title": "A", "body": "words", "tags": ["x"]})
    assert put(store, {"id": "note-a", "body": "others"}).updated == 1
    node = store.nodes.get("note-a")
    assert node and (node.title, node.body, node.tags) == ("A", "others", ("x",))
    assert [len(search(store, Settings(), Request(w), None)) for w in ("words", "others")] == [0, 1]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"id": "note-\xff"}', "not UTF-8 .byte 13"),
        ('{"id": "note-a", "body": "\\ud800"}', "half a surrogate pair"),
        ('{"id": "note-a", "data": {"\\u0000": 1}}', "NUL byte"),
        ('{"id": "note-a", "data": {"x": NaN}}', "not JSON"),
        ('{"id": "note-a", "data": {"x": ' + "[" * 600 + "]" * 600 + "}}", "nested"),
        ("[" * 100_000, "not JSON"),
        ("9" * 5000, "not JSON"),
        ({"id": "note-a", "type": "decision"}, "is not of type decision"),
        ({"id": "note-a", "type": "not"}, "unknown type 'not' .did you mean 'note'"),
        ({"id": "note-a", "source": "me"}, "source 'me' is not one of"),
        ({"anchor_of": "note-a", "kind": "file", "path": ""}, "kind or path of the anchor"),
        ({"id": "note-a", "confidence": 1.5}, "confidence 1.5 is not a number"),
        ({"id": "note-a", "line_start": 0}, "line_start 0 is not a whole number from 1"),
        ({"id": "note-a", "line_start": 5.5}, "line_start 5.5 is not a whole number"),
        ({"id": "note-a", "tags": [1]}, "tags .1. is not a list of strings"),
        ({"id": "note-a", "data": []}, "data .. is not a JSON object"),
        ({"id": "note-a", "body": "x" * 10_001}, "longer than max_text"),
        ({"from_id": "note-a", "relation": "links_to"}, "is not a valid id"),
        (
            {"from_id": "note-a", "to_id": "note-b", "relation": "link_to"},
            "unknown relation 'link_to' .did you mean 'links_to'",
        ),
        (
            {"from_id": "note-a", "to_id": "note-b", "relation": "links_to", "weight": 2},
            "weight 2 is not a number",
        ),
        ({"declare_type": "Odd1"}, "is not a valid name for a type"),
        ({"history_of": ["a"]}, "history_of .'a'. is not a string"),
        (b"<<<<<<< HEAD", "a merge conflict: run 'lore sync'"),
        ({"type": "note", "body": "words"}, "no id: give a record an id"),
        ({"vector_of": "note-a"}, "no id: .*'vector_of' may be from a newer lore"),
        ({"id": "note-a", "accessed_at": "2026-02-30"}, "accessed_at .2026-02-30. is not a time"),
        ({"id": "note-a", "updated_at": "9999-12-31T23:59:59Z"}, "is not a time"),
        ({"id": "note-a", "updated_at": "2026-01-31", "was": ["z"]}, "was is not a list of stamps"),
        ({"purged": "note-a"}, "purged lacks at"),
        ({"state_of": "note-a"}, "needs a stamp"),
    ],
)
def test_bad_line_imports_nothing(
    store: Store, line: dict[str, Any] | str | bytes, why: str
) -> None:
    good = {"id": "note-good"}
    with pytest.raises(LoreError, match=f"^line 2: .*{why}.*: nothing was imported"):
        put(store, good, line)
    assert lines(store) == []
    result = put(store, good, line, {"id": "note-after"}, skip_bad=True)
    assert [place for place, _ in result.skipped] == ["line 2"]
    assert [node.id for node in store.nodes.all()] == ["note-after", "note-good"]
    assert list(store.edges.all()) == []


def test_whole_number_may_be_written_as_a_fraction(store: Store) -> None:
    put(store, '{"id": "note-a", "line_start": 5.0, "line_end": 1e1}')
    node = store.nodes.require("note-a")
    assert (node.line_start, node.line_end) == (5, 10) and type(node.line_start) is int


def test_declared_relation_uses_weight_of_settings(store: Store) -> None:
    weighed = Settings.load(environ={}, flags={"edge_weights": "made_up=0.3"})
    edge = b'{"from_id": "note-a", "to_id": "note-b", "relation": "made_up"}'
    with pytest.raises(LoreError, match="unknown relation 'made_up'"):
        import_lines(store, weighed, None, [edge])
    import_lines(store, weighed, None, [edge], new_relations=True)
    assert store.relations.all()["made_up"][0] == 0.3


@given(st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
@settings(deadline=None)
def test_any_bytes_are_imported_or_refused(line: bytes) -> None:
    with _SHARED.transaction():
        import_lines(_SHARED, Settings(), None, [line], skip_bad=True)


_FOLDER = tempfile.TemporaryDirectory()
_SHARED = new_store(_FOLDER.name)
