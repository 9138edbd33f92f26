"""Test ``lore show``, and the spellings of ids."""

from __future__ import annotations

import json

import pytest
from commands import Lore

METHOD = "symbol-a.py::C.m\xe9"
SPELLED = (METHOD, "symbol-a.py::C::m\xe9", "a.py::C.m\xe9", "a.py::C::me\u0301")


@pytest.fixture
def notes(lore: Lore) -> Lore:
    """Two notes, the second a part of the first."""
    lore("add", "note", "the first", "--id", "note-1", "--why", "so")
    lore("add", "note", "the second", "--id", "note-2", "--link", "note-1:part_of")
    return lore


@pytest.fixture
def code(lore: Lore) -> Lore:
    """A file, a class with a method, and a note about the method."""
    lore.fill(
        {"id": "file-a.py", "type": "file", "title": "a.py", "file": "a.py"},
        {"id": "symbol-a.py::C", "type": "symbol", "title": "class C", "file": "a.py"},
        {"id": METHOD, "type": "symbol", "title": "m()", "body": "def m()\n\ndef m(): 0"},
        {"id": "symbol-odd::b.py::f", "type": "symbol", "title": "f()", "file": "odd::b.py"},
        {"id": "note-m", "type": "note", "body": "The method m is slow"},
        {"from_id": "file-a.py", "relation": "defines", "to_id": "a.py::C::me\u0301"},
        {"from_id": "note-m", "relation": "anchored_to", "to_id": "symbol-a.py::C::m\xe9"},
    )
    return lore


def test_show_prints_an_object_or_an_array(notes: Lore) -> None:
    one = notes("show", "note-1").json
    assert (one["id"], one["body"], one["data"]) == ("note-1", "the first", {"why": "so"})
    (edge,) = one["edges"]
    fields = [edge[name] for name in ("direction", "relation", "id", "title", "weight")]
    assert fields == ["in", "part_of", "note-2", "the second", 1]
    assert [row["id"] for row in notes("show", "-", stdin="note-1\n").json] == ["note-1"]
    assert notes("show", "-").json == []
    assert len(notes("show", "note-1", "note-2", "--jsonl").rows) == 2


def test_show_text_has_body_edges_and_reason(notes: Lore) -> None:
    text = notes("show", "note-1", "--text").out
    for part in ("note-1  the first", "<- part_of note-2  the second", "\n\nwhy: so\n\n"):
        assert part in text
    data = {"why": "a\x1b[31m\nb", "of": ["x", 2], "_kept": 1}
    notes.fill({"id": "note-3", "type": "note", "title": "t", "data": data})
    text = notes("show", "note-3", "--text").out
    assert '\n\nwhy: a?[31m\nb\nof: ["x",2]' in text and "_kept" not in text


def test_show_refuses_unknown_and_ambiguous_ids(notes: Lore) -> None:
    notes.fill({"id": "note-first", "body": "x"}, {"id": "goal-first", "body": "y"})
    notes.refuse_each("""
        show first | 1 | several records (goal-first, note-first): give
        show 1 | 1 | no node '1'
        show a.py::C::n | 1 | no node 'a.py::C::n'
    """)
    some = notes("show", "note-none", "note-1", code=1)
    assert ([row["id"] for row in some.json], len(some.notes)) == (["note-1"], 1)


def test_part_of_an_id_is_enough(lore: Lore) -> None:
    lore("add", "decision", "Sessions are signed tokens", "--id", "decision-91c2ab12")
    lore("add", "note", "Keys rotate", "--id", "note-91c2ffee", "--link", "c2ab12:relates_to")
    lore("add", "file", "src/auth.py")
    lore.print_each("""
        show 91c2ab | decision-91c2ab12
        show decision | decision-91c2ab12
        show ffee auth.py | note-91c2ffee file-src/auth.py
        related ffee | decision-91c2ab12
        search keys --exclude ffee |
        edit ffee --tags x | note-91c2ffee
        retract ab12 | decision-91c2ab12
        unlink ffee relates_to ab12 | note-91c2ffee relates_to decision-91c2ab12
        forget decision | decision-91c2ab12
        restore decision | decision-91c2ab12
    """)


def test_exact_title_is_enough(lore: Lore) -> None:
    titles = {"note-1": "Größe of Keys", "note-2": "Twice", "goal-3": "twice", "note-4": "gone"}
    titles |= {"note-6": "语", "note-7": "👍", "entity-home": "$HOME"}
    lore.fill(*({"id": id, "title": title, "body": "text"} for id, title in titles.items()))
    lore("forget", "note-4")
    lore("add", "note", "other", "--title", "Gone", "--id", "note-5")
    lore.print_each("""
        show gone | note-5
        edit Gone --tags x | note-5
        show 语 👍 Home Twice | note-6 note-7 entity-home note-2
    """)
    assert lore("show", "GRÖSSE OF keys").json["id"] == "note-1"
    lore.refuse_each("""
        show TWICE | 1 | 'TWICE' may be several records (goal-3, note-2)
        show Twic | 1 | no node 'Twic'
        forget --purge gone | 2 | needs a full id
    """)
    lore("forget", "note-5", "--purge")
    assert lore("undo", "gone").json == [{"id": "note-4", "state": "restored"}]


@pytest.mark.parametrize("name", SPELLED)
def test_symbols_may_be_spelled_in_every_way(code: Lore, name: str) -> None:
    code.write("q", json.dumps({"id": "q", "query": "slow", "relevant": [name]}))
    assert {row["recall@5"] for row in code("eval", "--queries", "q").json["rows"]} >= {1}
    assert "note-m" in code("graph", "export", "--format", "dot", "--around", name).out
    code.print_each(f"""
        show {name} a.py::m\xe9 | {METHOD} {METHOD}
        related {name} | note-m file-a.py
        graph path file-a.py {name} | file-a.py {METHOD}
        graph neighbors {name} | note-m file-a.py
        search slow --exclude {name} --graph-depth 1 | note-m
        related note-m --exclude {name} |
        edit {name} --tags slow | {METHOD}
        feedback {name} --helpful | {METHOD}
        confirm {name} | {METHOD}
        forget {name} | {METHOD}
        undo {name} | {METHOD}
        link note-m relates_to {name} | note-m relates_to {METHOD}
        unlink note-m relates_to {name} | note-m relates_to {METHOD}
        add lesson x --id lesson-x --link {name}:relates_to | lesson-x
        related lesson-x | {METHOD}
        show odd::b.py::f | symbol-odd::b.py::f
    """)
    code.write("about.md", f"# About m\n\nSee [[{name}]]: m.\n")
    code("import", "about.md")
    assert [edge["id"] for edge in code("show", "doc-about").json["edges"]] == [METHOD]
    assert code("related", "lesson-x").json[0]["snippet"] == "0"
    assert len(code("list", "--type", "symbol", "--ids").lines) == 3
