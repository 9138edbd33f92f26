"""What the numbers of ``pylore/context/tuning.py`` do: each test fails where one is another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pylore.context.build import Context, ContextBrief, _Builder, wider
from pylore.context.pieces import Piece, pack
from pylore.core.model import Hit, Hits, Node
from pylore.core.settings import Settings
from pylore.store import create_store
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


def test_half_the_worth_of_code_is_how_many_paths_lead_through_it(tmp_path: Path) -> None:
    code = "symbol-a.py::f", "symbol-a.py::g"
    hits = [Hit(code[0], 0.8), Hit("note-a", 0.59), Hit("note-b", 0.61), Hit(code[1], 0.5),
            Hit("note-c", 0.49), Hit("note-d", 0.51)]  # fmt: skip
    hits[0].type = hits[3].type = "symbol"
    hits[4].path, hits[5].path = [code[1], "note-c"], ["note-d"]
    hits[0].path, hits[3].path = [code[0]], [code[1]]
    with create_store(str(tmp_path)) as store:
        builder = _Builder(store, Settings(), ContextBrief("q", form="prompt", budget=1000,
                           root=str(tmp_path), scope=Scope()), Hits(hits, []),
                           Context("q", 1000, []))  # fmt: skip
        ranked = [hit.id for hit in builder._by_priority()]
    # 0.8 · (0.5 + 0.5 · 1 / 2) is 0.6; through the other one two paths lead
    assert ranked == ["note-b", code[0], "note-a", "note-d", code[1], "note-c"]


def test_code_may_take_160_tokens_and_a_record_70(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f():\n    return 1\n")
    hits = [Hit("symbol-a.py::f", 0.8), Hit("note-a", 0.5)]
    nodes = [Node("symbol-a.py::f", "symbol", "f()", file="a.py", line_start=1, line_end=2,
                  created_at=NOW, updated_at=NOW),
             Node("note-a", "note", "words", created_at=NOW, updated_at=NOW)]  # fmt: skip
    with create_store(str(tmp_path / ".lore")) as store:
        for node, hit in zip(nodes, hits, strict=True):
            store.nodes.put(node)
            hit.type, hit.file = node.type, node.file
            hit.line_start, hit.line_end = node.line_start, node.line_end
        builder = _Builder(store, Settings(), ContextBrief("q", form="prompt", budget=1000,
                           root=str(tmp_path), scope=Scope()), Hits(hits, []),
                           Context("q", 1000, []))  # fmt: skip
        least = {one.id: one.least for one in builder._pieces()}
    assert least == {"symbol-a.py::f": 160, "note-a": 70}
