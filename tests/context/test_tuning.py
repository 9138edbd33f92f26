"""What the numbers of ``pylore/context/tuning.py`` do: each test fails where one is another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from new_stores import new_store

from pylore.context.build import Context, ContextBrief, _Builder, build, by_worth, wider
from pylore.context.sections import (
    CodeText,
    ShownLines,
    cut_at_statement,
    facts_of_things,
    names_of,
    ranked_facts,
    ties_of,
)
from pylore.context.text import Piece, Snippet, WorkTree, head_of, pack
from pylore.core.model import Edge, Hit, Hits, Node
from pylore.core.settings import Settings
from pylore.core.times import ago
from pylore.store import Store
from pylore.store.filter import Scope

NOW = "2026-01-31T12:00:00Z"


class Letters:
    """A token a letter, and none for headings."""

    def lines(self, text: str) -> int:
        return 0 if text.startswith("\n#") else len(text)


def piece(id: str, size: int, offered: list[int] | None = None) -> Piece:
    def fit(room: int) -> tuple[str, bool]:
        if offered is not None:
            offered.append(room)
        return "x" * min(room, size), size <= room

    return Piece(id, "Records", "", fit)


def packed(pieces: list[Piece], room: int) -> dict[str, int]:
    tokens: Any = Letters()
    return pack(pieces, room, tokens).sizes


def test_the_first_piece_may_take_fifteen_hundredths_and_each_further_one_85_of_that() -> None:
    offered: list[int] = []
    packed([piece(str(number), 10, offered) for number in range(3)], 10_000)
    assert offered == [1500, 1275, 1083]


def test_every_piece_may_take_70_however_many_come_before_it() -> None:
    offered: list[int] = []
    packed([piece(str(number), 10, offered) for number in range(30)], 1000)
    assert offered[:6] == [150, 127, 108, 92, 78, 70]
    assert set(offered[6:]) == {70}


def test_what_is_left_goes_to_the_first_that_were_shortened() -> None:
    assert packed([piece("a", 900), piece("b", 10), piece("c", 900)], 1000) == {
        "a": 150 + 1000 - 150 - 10 - 108, "b": 10, "c": 108,
    }  # fmt: skip


@pytest.mark.parametrize(("left", "tried"), [(11, False), (12, True)])
def test_with_less_than_12_tokens_there_is_nothing_to_try(left: int, tried: bool) -> None:
    sizes = packed([piece("a", 70 - left), piece("b", 5), piece("c", 5)], 70 + 5)
    assert ("c" in sizes) is tried


def test_a_budget_makes_a_search_return_as_many_as_it_holds_the_least_of_and_40_at_most() -> None:
    def limit(budget: int) -> int:
        return wider(Settings().changed([("budget", str(budget))], "test")).limit

    assert [limit(budget) for budget in (50, 1000, 1400, 100_000)] == [10, 14, 20, 40]


def test_rank_by_similarity_and_centrality_leaves_centrality_out() -> None:
    hits = [Hit("note-a", 0.59), Hit("symbol-a.py::f", 0.6), Hit("symbol-a.py::g", 0.58),
            Hit("note-b", 0.3), Hit("symbol-a.py::far", 0.8)]  # fmt: skip
    for hit in hits[1::3]:
        hit.type = "symbol"
    hits[2].type = "symbol"
    hits[3].path, hits[4].path = ["symbol-a.py::g", "note-b"], ["symbol-a.py::g", hits[4].id]
    hits[4].hops = 3
    ranked = [hit.id for hit in by_worth(Hits(hits, []), 0.7)]
    assert ranked == [hits[place].id for place in (1, 0, 2, 4, 3)], "0.8 · 0.7² is 0.39"


def test_code_may_take_100_tokens_and_a_record_70(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f():\n    return 1\n")
    hits = [Hit("symbol-a.py::f", 0.8), Hit("note-a", 0.5)]
    nodes = [Node("symbol-a.py::f", "symbol", "f()", file="a.py", line_start=1, line_end=2,
                  created_at=NOW, updated_at=NOW),
             Node("note-a", "note", "words", created_at=NOW, updated_at=NOW)]  # fmt: skip
    with new_store(str(tmp_path / ".lore")) as store:
        for node, hit in zip(nodes, hits, strict=True):
            store.nodes.put(node)
            hit.type, hit.file = node.type, node.file
            hit.line_start, hit.line_end = node.line_start, node.line_end
        builder = _Builder(store, Settings(), ContextBrief("q", form="prompt", budget=1000,
                           root=str(tmp_path), scope=Scope()), Hits(hits, []),
                           Context("q", 1000, []))  # fmt: skip
        least = {one.id: one.least for one in builder._pieces()}
    assert least == {"symbol-a.py::f": 100, "note-a": 70}


# --- build


def builder(
    store: Store, root: Path, hits: list[Hit], question: str = "q", budget: int = 1000
) -> _Builder:
    brief = ContextBrief(question, form="prompt", budget=budget, root=str(root), scope=Scope())
    return _Builder(store, Settings(), brief, Hits(hits, []), Context(question, budget, []))


def note(store: Store, id: str, body: str = "words") -> Node:
    node = Node(id, id.partition("-")[0], "words", body, created_at=NOW, updated_at=NOW)
    store.nodes.put(node)
    return node


class Drawn(_Builder):
    """One that says for how many tokens a picture was asked for."""

    room = 0

    def _picture(self, room: int) -> str:
        self.room = room
        return ""


@pytest.mark.parametrize(
    ("form", "budget", "most"),
    [("prompt", 100_000, 500), ("mermaid", 100_000, 500), ("mermaid", 300, 300)],
)
def test_a_picture_may_take_500_tokens(tmp_path: Path, form: str, budget: int, most: int) -> None:
    with new_store(str(tmp_path)) as store:
        brief = ContextBrief("q", form=form, budget=budget, root=str(tmp_path), scope=Scope())
        settings = Settings().changed([("graph_depth", "1")], "test")
        drawn = Drawn(store, settings, brief, Hits([], []), Context("q", budget, []))
        drawn.run()
    assert drawn.room == most


def test_beside_texts_a_picture_may_take_a_fourth_of_the_room(tmp_path: Path) -> None:
    with new_store(str(tmp_path)) as store:
        rooms = []
        for budget in (500, 900):
            brief = ContextBrief("q", form="prompt", budget=budget, root=str(tmp_path),
                                 scope=Scope())  # fmt: skip
            settings = Settings().changed([("graph_depth", "1")], "test")
            drawn = Drawn(store, settings, brief, Hits([], []), Context("q", budget, []))
            drawn.run()
            rooms.append(drawn.room)
    assert rooms[1] - rooms[0] == (900 - 500) / 4


def test_a_context_has_30_facts(tmp_path: Path) -> None:
    names = [f"entity-{letter}" for letter in "abcd"]
    with new_store(str(tmp_path)) as store:
        for name in names:
            note(store, name)
            for number in range(10):
                note(store, f"{name}{number}")
                store.edges.put(Edge(name, f"{name}{number}", "relates_to"))
        facts = facts_of_things(store, Settings(), names, [])
    assert {id: len(edges) for id, edges in facts.items()} == dict.fromkeys(names[:3], 10)


def test_names_are_looked_for_among_64_words_and_have_5(tmp_path: Path) -> None:
    assert "entity-a-b-c-d-e" in names_of("a b c d e f")
    assert not [id for id in names_of("a b c d e f") if id.count("-") > 5]
    found = names_of(" ".join(f"w{number}" for number in range(100)))
    assert "entity-w63" in found and "entity-w64" not in found


def test_of_1000_facts_of_one_subject_the_best_are_taken(tmp_path: Path) -> None:
    with new_store(str(tmp_path)) as store:
        note(store, "entity-a")
        for number in range(1001):
            note(store, f"entity-{number:04}")
        sure = [1.0] * 1000 + [0.9]
        with store.transaction():
            store.edges.put_many(
                Edge("entity-a", f"entity-{number:04}", "relates_to", weight, created_at=ago(0),
                     source="user_edit" if number > 998 else "conversation")
                for number, weight in enumerate(sure)
            )  # fmt: skip
        (best, *_) = ranked_facts(store, Settings(), "entity-a")
        assert best.to_id == "entity-0999"  # the one that is less sure is not looked at
        assert len(ranked_facts(store, Settings(), "entity-a")) == 10


def test_ten_ties_of_a_record_are_looked_at(tmp_path: Path) -> None:
    with new_store(str(tmp_path)) as store:
        note(store, "lesson-a")
        for number in range(12):
            note(store, f"lesson-{number}")
            store.edges.put(Edge("lesson-a", f"lesson-{number}", "contradicts"))
        assert len(ties_of(store, ["lesson-a"])["lesson-a"]) == 10


def test_2000_letters_of_a_task_are_searched_for(tmp_path: Path) -> None:
    with new_store(str(tmp_path)) as store:
        note(store, "task-a", "words " + "w" * 3000)
        brief = ContextBrief("task-a", form="prompt", budget=100, root=str(tmp_path), scope=Scope())
        assert len(build(store, Settings(), brief, None).question) == 2000


def test_the_heading_has_200_letters_of_the_question(tmp_path: Path) -> None:
    with new_store(str(tmp_path)) as store:
        note(store, "note-a")
        text = builder(store, tmp_path, [Hit("note-a", 0.5)], "q" * 300).run().text
    assert f"# Context: {'q' * 200}\n" in text


def test_5_files_are_named_that_must_not_be_shown(tmp_path: Path) -> None:
    with new_store(str(tmp_path)) as store:
        made = builder(store, tmp_path, [])
        made._tree.refused = {f"{name}.py": "is ignored" for name in "abcdefg"}
        (said,) = made._not_shown()
    assert said.count("is ignored") == 5
    assert said.endswith(" and 2 more")


def test_1600_letters_are_looked_at_whole(tmp_path: Path) -> None:
    with new_store(str(tmp_path)) as store:
        made = builder(store, tmp_path, [])
        found = [made._passage(note(store, "note-a", "w" * size)) for size in (1600, 1601)]
    assert found == [("w" * 1600, True), ("w" * 1600, False)]


# --- snippets


def snippet(first: int, count: int) -> Snippet:
    found = Snippet("a.py")
    found.first, found.lines = first, ["x"] * count
    return found


def test_a_file_of_which_no_lines_are_known_shows_60() -> None:
    assert head_of(["x"] * 100) == (1, 60)
    assert head_of(["import os", "", *["x"] * 100]) == (2, 61)


def test_imports_are_looked_for_in_120_lines() -> None:
    def head(at: int) -> tuple[int, int]:
        return head_of([*["# Licence"] * at, "import os", "", *["x"] * 9])

    assert (head(119), head(120)) == ((121, 180), (1, 60))


@pytest.mark.parametrize(("room", "shown"), [(2, 0), (3, 3)])
def test_a_snippet_that_is_cut_has_3_lines_with_the_mark(room: int, shown: int) -> None:
    tokens: Any = Letters()
    made = CodeText("file-a.py", "a.py", snippet(1, 9), "", ShownLines(), tokens)
    text, whole = made.fit(made._frame + 2 * room - 2)
    assert not whole
    assert len(text.splitlines()[2:-1]) == shown


@pytest.mark.parametrize(("statement", "kept"), [(11, 11), (10, 20)])
def test_a_cut_at_a_statement_leaves_out_half_of_what_has_room_at_most(
    statement: int, kept: int
) -> None:
    lines = ["def f():", *["    x"] * (statement - 1), "  y", *["    x"] * 30]
    cut, whole = cut_at_statement(lines, 20, [1] * len(lines))
    assert (len(cut) - 1, whole) == (kept, False)


@pytest.mark.parametrize(("length", "within"), [(40, True), (41, False)])
def test_lines_within_40_others_are_not_shown_again(length: int, within: bool) -> None:
    assert snippet(3, 2).within(snippet(1, length)) is within


@pytest.mark.parametrize(("line", "shown"), [(3, True), (4, False)])
def test_of_a_changed_file_the_name_must_stand_in_3_lines(
    tmp_path: Path, line: int, shown: bool
) -> None:
    (tmp_path / "a.py").write_text("\n" * (line - 1) + "def f(): ...\n" + "x = 1\n" * 9)
    with new_store(str(tmp_path / ".lore")) as store:
        tree = WorkTree(str(tmp_path), store, ["a.py"])
        with store.transaction():
            store.code.put([("a.py", "0" * 64, "0-0-0", "python", "{}")])
        assert bool(tree.snippet("a.py", 1, 9, "f()").lines) is shown


@pytest.mark.parametrize(("more", "reason"), [(0, ""), (1, "a.py is too large")])
def test_files_up_to_4_mb_are_read(tmp_path: Path, more: int, reason: str) -> None:
    (tmp_path / "a.py").write_text("x" * ((4 << 20) + more))
    with new_store(str(tmp_path / ".lore")) as store:
        assert WorkTree(str(tmp_path), store, ["a.py"]).snippet("a.py", 1, 1, "").reason == reason
