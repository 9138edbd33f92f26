"""What ``lore show`` prints, and how the ids that every command takes may be spelled."""

from __future__ import annotations

import json

import pytest
from commands import Lore


@pytest.fixture
def lore(lore: Lore) -> Lore:
    lore.patch.setenv("LORE_EMBEDDER", "none")
    return lore


@pytest.fixture
def notes(lore: Lore) -> Lore:
    """Two notes, the second a part of the first."""
    lore("add", "note", "the first", "--id", "note-1", "--why", "so")
    lore("add", "note", "the second", "--id", "note-2", "--link", "note-1:part_of")
    return lore


def test_show_prints_one_object_or_an_array(notes: Lore) -> None:
    one = notes("show", "note-1").json
    assert (one["id"], one["body"], one["data"]) == ("note-1", "the first", {"why": "so"})
    (edge,) = one["edges"]
    assert {**edge, "direction": "in", "relation": "part_of", "id": "note-2",
            "title": "the second", "weight": 1} == edge  # fmt: skip
    assert [row["id"] for row in notes("show", "note-2", "note-1").json] == ["note-2", "note-1"]
    assert [row["id"] for row in notes("show", "-", stdin="note-1\n").json] == ["note-1"]
    assert notes("show", "-").json == []
    assert len(notes("show", "note-1", "note-2", "--jsonl").rows) == 2
    assert notes("show", "note-1", "--ids").lines == ["note-1"]


def test_show_text_has_body_edges_and_reason(notes: Lore) -> None:
    text = notes("show", "note-1", "--text").out
    for part in ("note-1  the first", "<- part_of note-2  the second", "\n\nwhy: so\n\n"):
        assert part in text
    hostile = {"id": "note-3", "type": "note", "title": "t",
               "data": {"why": "a\x1b[31m\nb", "of": ["x", 2], "_kept": 1}}  # fmt: skip
    notes("import", "-", stdin=json.dumps(hostile))
    text = notes("show", "note-3", "--text").out
    assert "\n\nwhy:\n  a?[31m\n  b\nof: x, 2" in text and "_kept" not in text


def test_show_history_has_former_states_of_edges(notes: Lore) -> None:
    notes("link", "note-2", "part_of", "note-1", "--weight", "0.5")
    notes("unlink", "note-2", "part_of", "note-1")
    assert notes("show", "note-1").json["edges"] == []
    (edge,) = notes("show", "note-1", "--history").json["edges"]
    assert [(state["change"], state["weight"]) for state in edge["history"]] == [
        ("updated", 1), ("invalidated", 0.5),
    ]  # fmt: skip


def test_show_of_an_unknown_id_names_a_near_one(notes: Lore) -> None:
    notes("add", "note", "one more", "--id", "note-first")
    assert "(did you mean note-first?)" in notes.refuse("show", "note-firts", code=1)
    assert "no node 'note-none'" in notes.refuse("show", "note-1", "note-none", code=1)
    assert "show needs an id" in notes.refuse("show")


# --- ids


def test_part_of_an_id_is_enough(lore: Lore) -> None:
    decision, note = "decision-91c2ab12", "note-91c2ffee"
    lore("add", "decision", "Sessions are signed tokens", "--id", decision)
    lore("add", "note", "Keys rotate", "--id", note, "--link", "c2ab12:relates_to")
    lore("add", "file", "src/auth.py")
    for line, ids in (
        ("show 91c2ab", [decision]),
        ("show decision", [decision]),
        ("show ffee auth.py", [note, "file-src/auth.py"]),
        ("related ffee", [decision]),
        ("search keys --exclude ffee", []),
        ("edit ffee --tags x", [note]),
        ("retract ab12", [decision]),
        ("unlink ffee relates_to ab12", [f"{note} relates_to {decision}"]),
        ("forget decision", [decision]),
        ("restore decision", [decision]),
    ):
        assert lore(*line.split(), "--ids").lines == ids, line
    refused = lore.refuse("show", "91c2", code=1)
    assert f"several ids ({decision}, {note}): give more" in refused
    assert "no node 'ee'" in lore.refuse("show", "ee", code=1)


METHOD = "symbol-a.py::C.m"


@pytest.fixture(params=[METHOD, "symbol-a.py::C::m", "a.py::C.m", "a.py::C::m"])
def name(request: pytest.FixtureRequest) -> str:
    """A spelling of the id of a method."""
    spelled = request.param
    assert isinstance(spelled, str)
    return spelled


@pytest.fixture
def code(lore: Lore) -> Lore:
    """A file, a class with a method, a note about the method, and a task."""
    nodes = [
        {"id": "file-a.py", "type": "file", "title": "a.py", "file": "a.py"},
        {"id": "symbol-a.py::C", "type": "symbol", "title": "class C", "file": "a.py"},
        {"id": METHOD, "type": "symbol", "title": "m(self)", "file": "a.py"},
        {"id": "symbol-odd::b.py::f", "type": "symbol", "title": "f()", "file": "odd::b.py"},
        {"id": "note-m", "type": "note", "body": "The method m is slow"},
        {"from_id": "file-a.py", "relation": "defines", "to_id": "a.py::C::m"},
        {"from_id": "note-m", "relation": "anchored_to", "to_id": "symbol-a.py::C::m"},
    ]
    lore("import", "-", stdin="".join(json.dumps(node) + "\n" for node in nodes))
    return lore


def test_reading_takes_every_spelling_of_a_symbol(code: Lore, name: str) -> None:
    for words, ids in (
        (["show", name], [METHOD]),
        (["related", name], ["note-m", "file-a.py"]),
        (["graph", "path", "file-a.py", name], ["file-a.py", METHOD]),
        (["graph", "neighbors", name], ["note-m", "file-a.py"]),
        (["search", "slow", "--exclude", name, "--graph-depth", "1"], ["note-m"]),
        (["related", "note-m", "--exclude", "file-a.py"], [METHOD]),
        (["related", "note-m", "--exclude", name], []),
    ):
        assert code(*words, "--ids").lines == ids, words
    graph = code("graph", "export", "--format", "dot", "--around", name, "--hops", "1").out
    assert "note-m" in graph
    query = json.dumps({"id": "q", "query": "slow", "relevant": [name]})
    (code.project / "queries").write_text(query + "\n")
    evaluated = code("eval", "--queries", "queries")
    assert max(row["recall@5"] for row in evaluated.json["rows"]) == 1 and not evaluated.err


def test_writing_takes_every_spelling_of_a_symbol(code: Lore, name: str) -> None:
    link = ["note-m", "relates_to", name]
    for words in (["edit", name, "--tags", "slow"], ["feedback", name, "--helpful"],
                  ["confirm", name], ["forget", name], ["undo", name]):  # fmt: skip
        assert code.id(*words) == METHOD, words
    for command in ("link", "unlink", "restore"):
        assert code.id(command, *link) == f"note-m relates_to {METHOD}"
    lesson = code.id("add", "lesson", "Measure first", "--link", f"{name}:relates_to")
    assert code("related", lesson, "--edges", "relates_to", "--ids").lines == [METHOD]
    (code.project / "about.md").write_text(f"# About m\n\nSee [[{name}]]: m.\n")
    code("import", "about.md")
    assert [edge["id"] for edge in code("show", "doc-about").json["edges"]] == [METHOD]
    assert len(code("list", "--type", "symbol", "--ids").lines) == 3


def test_anchor_takes_both_spellings_of_a_method(code: Lore) -> None:
    (code.project / "a.py").write_text("class C:\n    def m(self):\n        return 1\n")
    for spelled in ("C::m", "C.m"):
        code("anchor", "note-m", "a.py", "--symbol", spelled)
        (anchor,) = code("anchor", "note-m").json
        assert (anchor["kind"], anchor["detail"]) == ("symbol", "C.m")
        code("anchor", "note-m", "a.py", "--symbol", spelled, "--remove")


def test_exact_id_comes_before_a_spelling(code: Lore) -> None:
    odd = "symbol-odd::b.py::f"
    assert code("show", odd, "--ids").lines == [odd]
    assert "no node 'a.py::C::n'" in code.refuse("show", "a.py::C::n", code=1)
