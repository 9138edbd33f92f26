"""What measures speed: stores that look like real ones, and a check that sees growth."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from pylore.core.model import Edge, Node
from pylore.store import open_store

ROOT = Path(__file__).resolve().parents[1]
SIZE = 150


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Loads one of the benchmark's modules, which are scripts of a folder of their own."""
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "bench"))
    return import_module


@cache
def text_of(scale: Any) -> Any:
    return scale.Text.of_packages("json", "email")


def material(load: Any) -> tuple[list[Node], list[Edge]]:
    scale = load("scale_material")
    made = scale.Material(text_of(scale), SIZE)
    return list(made.nodes()), list(made.edges())


def test_material_is_the_same_each_time_and_distinct(load: Any) -> None:
    nodes, edges = material(load)
    assert (nodes, edges) == material(load)
    assert len({node.id for node in nodes}) == len({node.body for node in nodes}) == SIZE
    assert all(38 <= len(node.body.split()) <= 82 for node in nodes)
    ids = {node.id for node in nodes}
    assert all(edge.from_id in ids and edge.to_id in ids for edge in edges)
    assert len({edge.key for edge in edges}) == len(edges)
    assert 6 <= len(edges) / len(nodes) <= 12


def test_a_built_store_is_as_an_imported_one(load: Any, tmp_path: Path) -> None:
    text = text_of(load("scale_material"))
    load("scale_store").build_store(tmp_path / "store", SIZE, text)
    nodes, edges = material(load)
    with open_store(str(tmp_path / "store")) as store:
        assert [node.id for node in store.nodes.all()] == sorted(node.id for node in nodes)
        assert {edge.key for edge in store.edges.all()} == {edge.key for edge in edges}
        assert store.edges.dangling() == []
        assert len(store.nodes.first_passages([node.id for node in nodes])) == SIZE
        neighbours = store.edges.neighbours([edges[0].from_id], [edges[0].relation], -1)
        assert edges[0].to_id in {other for _, other, _, _, _ in neighbours}
        first = store.nodes.first_passages([nodes[0].id])
        assert first and [id for id, _ in store.vectors.of_nodes([nodes[0].id])] == [nodes[0].id]


def test_growth_is_a_fault_unless_a_new_line_says_how_much(load: Any) -> None:
    instructions = load("instructions")
    base, now = {"show": 1000, "add": 1000}, {"show": 1080, "add": 1029, "new": 5}

    def faults(changelog: str, before: str = "") -> list[str]:
        found: list[str] = instructions.faults_of(
            now, base, instructions.excuses(changelog, before)
        )
        return found

    assert [fault.partition(":")[0] for fault in faults("")] == ["show"]
    assert faults("- A check more:\n  instructions of `show`\n  +8 %.") == []
    assert len(faults("- instructions of `show` +7 %")) == 1, "less than it has grown by"
    assert len(faults("- instructions of `add` +8 %")) == 1, "of another command"
    line = "- instructions of `show` +8 %"
    assert len(faults(line, before=line)) == 1, "it was said of an earlier growth"
