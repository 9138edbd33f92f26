"""Benchmarks: stores of real words, and the check for growth of instructions."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import instructions
from scale_material import Material, Text
from scale_store import build_store

from pylore.core.model import Edge, Node
from pylore.store import open_store

SIZE = 150


@cache
def text() -> Text:
    return Text.of_packages("json", "email")


def material() -> tuple[list[Node], list[Edge]]:
    made = Material(text(), SIZE)
    return list(made.nodes()), list(made.edges())


def test_material_is_reproducible_and_distinct() -> None:
    nodes, edges = material()
    assert (nodes, edges) == material()
    assert len({node.id for node in nodes}) == len({node.body for node in nodes}) == SIZE
    assert all(38 <= len(node.body.split()) <= 82 for node in nodes)
    ids = {node.id for node in nodes}
    assert all(edge.from_id in ids and edge.to_id in ids for edge in edges)
    assert len({edge.key for edge in edges}) == len(edges)
    assert 6 <= len(edges) / len(nodes) <= 12


def test_built_store_equals_import(tmp_path: Path) -> None:
    build_store(tmp_path / "store", SIZE, text())
    nodes, edges = material()
    with open_store(str(tmp_path / "store")) as store:
        assert [node.id for node in store.nodes.all()] == sorted(node.id for node in nodes)
        assert {edge.key for edge in store.edges.all()} == {edge.key for edge in edges}
        assert store.edges.dangling() == []
        assert len(store.fulltext.first_passages([node.id for node in nodes])) == SIZE
        neighbours = store.edges.neighbours([edges[0].from_id], [edges[0].relation], -1)
        assert edges[0].to_id in {other for _, other, _, _, _ in neighbours}
        first = store.fulltext.first_passages([nodes[0].id])
        assert first and [id for id, _ in store.vectors.of_nodes([nodes[0].id])] == [nodes[0].id]


def test_growth_needs_a_new_changelog_line() -> None:
    base, now = {"show": 1000, "add": 1000}, {"show": 1080, "add": 1029, "new": 5}

    def faults(changelog: str, before: str = "") -> list[str]:
        return instructions.faults_of(now, base, instructions.excuses(changelog, before))

    assert [fault.partition(":")[0] for fault in faults("")] == ["show"]
    assert faults("- A check more:\n  instructions of `show`\n  +8 %.") == []
    assert len(faults("- instructions of `show` +7 %")) == 1, "less than it has grown by"
    assert len(faults("- instructions of `add` +8 %")) == 1, "of another command"
    line = "- instructions of `show` +8 %"
    assert len(faults(line, before=line)) == 1, "excused an earlier growth"
