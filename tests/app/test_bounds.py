"""Results within a number of bytes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from new_stores import new_store

from pylore.app import Engine
from pylore.app.find import context_within
from pylore.core.errors import LoreError
from pylore.core.settings import Settings
from pylore.records.records import Records
from pylore.terminal import first_rows, size


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """A store with twenty records about tokens."""
    settings = Settings.load(environ={}, flags={"embedder": "none", "budget": "2000"})
    with new_store(str(tmp_path)) as store:
        records = Records(store, settings, None, str(tmp_path))
        for number in range(20):
            records.add("note", f"Token {number} is signed. " + "So it is kept whole. " * 20)
        yield Engine(store, settings, str(tmp_path))


@pytest.mark.parametrize("most", [1500, 3000, 6000])
def test_context_fits_in_bytes(engine: Engine, most: int) -> None:
    asked = "which token is signed"
    whole = context_within(engine, asked)
    assert size(whole.to_row()) > 6000 and whole.withheld
    less = context_within(engine.changed([("max_bytes", str(most))], "flag"), asked)
    assert size(less.to_row()) <= most and less.notes and less.text
    assert 0 < len(context_within(engine, asked, most).text.encode()) <= most


def test_oversized_node_loses_edges_then_text() -> None:
    edges = [{"id": f"note-{number}", "title": "x" * 50} for number in range(30)]
    node = {"id": "note-a", "body": "é" * 400, "edges": edges}
    rows, notes = first_rows([node, node], 1500)
    assert size(rows) <= 1500 and rows[0]["edges"] == [] and rows[0]["body"] == "é" * 400
    assert notes[0].startswith("1 result left out") and "of note-a left out" in notes[1]
    rows, notes = first_rows([{**node, "body": "é" * 4000}], 1000)
    assert size(rows) <= 1000 and set(rows[0]["body"]) == {"é"}


def test_oversized_results_are_errors(engine: Engine) -> None:
    tiny = engine.changed([("max_bytes", "10")], "flag")
    with pytest.raises(LoreError, match="no result fits"):
        context_within(tiny, "which token is signed")
    with pytest.raises(LoreError, match="the first result does not fit"):
        first_rows([{"id": "note-a"}], 10)
