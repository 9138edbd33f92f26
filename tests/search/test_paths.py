"""The path of a result starts at the seed: at a direct match among the results."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from new_stores import new_store

from pylore.core.model import Hit
from pylore.core.settings import Settings
from pylore.records.records import Records
from pylore.search.pipeline import Request, search
from pylore.store import Store
from pylore.store.filter import Scope

ONE, TWO, FILE = "decision-one", "decision-two", "file-t.py"
LOAD, SAVE = "symbol-t.py::load", "symbol-t.py::save"
DECISIONS = Scope(types=("decision",))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with new_store(str(tmp_path_factory.mktemp("paths"))) as store:
        records = Records(store, Settings(), None)
        records.add("decision", "retry on a busy disk", id=ONE)
        records.add("decision", "flush the journal", id=TWO)
        records.add("doc", "busy", id="doc-alone")
        for id, text in ((FILE, "disk"), (LOAD, "load"), (SAVE, "save"), ("note-far", "far")):
            records.add(id.partition("-")[0], text, id=id)
        for symbol in (LOAD, SAVE):
            records.link(FILE, "defines", symbol)
        records.link(ONE, "anchored_to", LOAD)
        records.link(TWO, "anchored_to", SAVE)
        records.link("doc-alone", "relates_to", "note-far")
        yield store


def found(store: Store, query: str, scope: Scope | None = None, **flags: object) -> dict[str, Hit]:
    texts = {"graph_depth": "2", "retrievers": "fulltext", "file_ranking": "off"}
    texts |= {name: str(value) for name, value in flags.items()}
    request = Request(query, scope, explain=True)
    hits = search(store, Settings.load(environ={}, flags=texts), request, None)
    return {hit.id: hit for hit in hits}


@pytest.mark.parametrize("rule", ["accumulate", "best-path"])
def test_path_starts_at_the_seed(store: Store, rule: str) -> None:
    """The walk begins at the file too, which has a word of the query and is not returned."""
    hits = found(store, "retry busy disk", DECISIONS, expansion=rule)
    assert [*hits] == [ONE, TWO]
    two = hits[TWO]
    assert (two.hops, two.path, two.edge) == (2, [ONE, LOAD, FILE, SAVE, TWO], "anchored_to")
    assert two.explain is not None
    walk = two.explain["walk"]
    assert walk["seed"] == FILE, "the score comes from there"
    assert [edge["to"] for edge in walk["before"]] == [ONE, LOAD, FILE][1:]
    assert [edge["to"] for edge in walk["hops"]] == [SAVE, TWO]


def test_and_so_it_does_past_the_limit(store: Store) -> None:
    hits = found(store, "retry busy disk", limit=1)
    assert [id for id, hit in hits.items() if not hit.hops] == [ONE]
    assert hits[FILE].path == [ONE, LOAD, FILE]
    assert hits[SAVE].path == [ONE, LOAD, FILE, SAVE]
    assert hits[LOAD].path == [ONE, LOAD], "no node comes twice"


def test_where_no_result_leads_there_it_starts_at_the_match(store: Store) -> None:
    hits = found(store, "busy disk", Scope(types=("decision", "note")))
    assert hits["note-far"].path == ["doc-alone", "note-far"]
    assert found(store, "busy", Scope(types=("note",)))["note-far"].path[0] == "doc-alone"
