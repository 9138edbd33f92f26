"""What measures speed: stores that look like real ones, and a check that sees growth."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
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


def test_what_a_fault_asks_for_is_what_the_check_takes(load: Any) -> None:
    instructions = load("instructions")
    base, now = {"show": 1000}, {"show": 1080}
    (fault,) = instructions.faults_of(now, base, {})
    assert instructions.faults_of(now, base, instructions.excuses(fault, "")) == []


def test_without_valgrind_nothing_is_counted_and_that_is_said(tmp_path: Path) -> None:
    done = subprocess.run(
        ["/bin/bash", str(ROOT / "tests/bench/instructions.sh"), "--check"],
        env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "lore: bench: instructions: skipped: valgrind is not installed\n"


def test_records_of_the_answers_hold_their_reasons() -> None:
    lines = (ROOT / "tests/bench/answers/records.jsonl").read_text("utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    assert len({row["id"] for row in records}) == 30
    assert all(row["asked"] and row["other"] for row in records)
    reasons = [row["reason"] in row["body"] for row in records if "why" in row]
    assert reasons == [True] * 20


def test_questions_without_an_answer_are_distinct() -> None:
    lines = (ROOT / "tests/bench/answers/nonsense.tsv").read_text("utf-8").splitlines()
    kinds, asked = zip(*(line.split("\t") for line in lines), strict=True)
    assert len(set(asked)) == 60
    assert [kinds.count(kind) for kind in ("foreign", "unknown")] == [30, 30]


def test_a_page_counts_at_its_place(load: Any) -> None:
    answers = load("answers")
    hits = [SimpleNamespace(file=name, id=f"doc-{name}") for name in ("a.md", "b.md")]
    bench = SimpleNamespace(
        pages=lambda: [("p-x", "q", "b"), ("p-x", "r", "none")],
        hits=lambda *_: hits,
        miss=lambda *_: None,
    )
    assert [row.measured for row in answers.pages(bench)] == [0.0, 50.0, 50.0]


def test_the_ledger_has_ratios_and_no_times(
    load: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = load("ledger")
    monkeypatch.setattr(ledger, "ROOT", tmp_path)
    history = tmp_path / "history.jsonl"
    ledger.keep("bench", {"floor": None}, history)
    assert not history.exists()
    for ratio in (1.5, 2.00049):
        ledger.keep("bench", {"floor": None, "show: median": ratio}, history)
    lines = [json.loads(line) for line in history.read_text().splitlines()]
    assert [line["ratios"] for line in lines] == [{"show: median": 1.5}, {"show: median": 2.0}]
    assert all(line.keys() == lines[0].keys() for line in lines)


def test_every_line_of_the_ledger_has_the_same_form() -> None:
    history = ROOT / "bench" / "history.jsonl"
    lines = [json.loads(line) for line in history.read_text(encoding="utf-8").splitlines()]
    fields = ["bench", "commit", "dirty", "date", "machine", "load", "ratios"]
    assert [list(line) for line in lines] == [fields] * len(lines)


def test_two_that_take_as_long_are_not_told_apart(load: Any) -> None:
    compare = load("compare")
    same = [0.9, 1.1, 0.95, 1.05, 1.0, 0.98, 1.02, 0.97, 1.03, 1.0]
    assert not compare._pairs("show", "cpu", same).certain
    more = compare._pairs("show", "cpu", [1.2 * ratio for ratio in same])
    assert (more.certain, more.median) == (True, 1.2)
