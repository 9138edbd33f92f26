"""Nodes around others, as results: scores, order, and a disabled graph."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import searching
from new_stores import new_store
from searching import ids

from pylore.core.model import Edge
from pylore.core.settings import Settings
from pylore.records.records import Records
from pylore.search import Near
from pylore.search.expand import related
from pylore.store import Store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder: Path = tmp_path_factory.mktemp("related")
    (folder / "a.py").touch()
    with new_store(str(folder / ".lore")) as store:
        records = Records(store, Settings(), None, str(folder))
        records.add("note", "cookies", id="note-b")
        records.add("symbol", "f()", id="symbol-b.py::f")
        records.add("note", "long " * 100, id="note-c", links=[("note-b", "relates_to")])
        records.add("note", "tokens", id="note-a", file="a.py")
        records.link("note-a", "relates_to", "note-b", weight=0.5)
        records.link("note-a", "implements", "symbol-b.py::f", force=True)
        yield store


def options(**flags: object) -> Settings:
    return searching.options(**{"graph_depth": 2, **flags})


def near(store: Store) -> Near:
    return Near(str(Path(store.path).parent.parent), ["a.py"])


def test_disabled_graph_is_reported(store: Store) -> None:
    off = options(graph_max_depth=0)
    found = related(store, off, ["note-a"])
    assert (len(found), found.notes) == (0, ["graph_max_depth is 0: the graph is switched off"])
    found = related(store, off, [], near(store))
    assert ids(found) == ["note-a"]
    assert "the graph is switched off" in found.notes[-1]
    assert related(store, options(), ["note-a"]).notes == []


def test_records_of_a_file_precede_code(store: Store) -> None:
    found = related(store, options(), ["note-b"], near(store))
    assert ids(found) == ["note-a", "note-c", "symbol-b.py::f"]
    assert [hit.hops for hit in found] == [0, 1, 1]
    assert [hit.score for hit in found] == pytest.approx([1.0, 0.7 * 0.7, 0.7])
    assert ids(related(store, options(), [], near(store), types=("symbol",))) == ["symbol-b.py::f"]
    assert "note-a" not in ids(related(store, options(), [], near(store), excluded=["note-a"]))


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A file that changes with 200 others, later names more often, at either end of the edges."""
    with new_store(str(tmp_path_factory.mktemp("hub"))) as store:
        records = Records(store, Settings(), None)
        records.add("file", "session", id="file-m.py")
        for number in range(200):
            id = name_of(number)
            records.add("file", "cookies", id=id)
            start, end = sorted(("file-m.py", id))
            weight = 0.5 + number / 500
            store.edges.put(Edge(start, end, "co_changes_with", weight, created_at="x"))
        yield store


def name_of(number: int) -> str:
    """Return a name that sorts before the hub for a tenth of the numbers, else after it."""
    return f"file-{'z' if number % 10 else 'a'}{number:03}.py"


@pytest.mark.parametrize("flags", [{}, {"graph_max_nodes": 500}, {"graph_max_nodes": 10}])
def test_cap_prefers_the_strongest_neighbours(hub: Store, flags: dict[str, int]) -> None:
    settings = options(graph_depth=1, graph_edges="co_changes_with", **flags)
    found = related(hub, settings, ["file-m.py"])
    most = min(200, flags.get("graph_max_nodes", 50))
    assert ids(found) == [name_of(number) for number in range(199, 199 - most, -1)]
