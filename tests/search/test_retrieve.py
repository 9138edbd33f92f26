"""The legs: other forms of words, symbols of files, fused scores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import searching
from new_stores import new_store

from pylore.core.model import Hits
from pylore.core.settings import Settings
from pylore.embed.static import StaticEmbedder
from pylore.records.records import Records
from pylore.store import Store
from pylore.store.filter import Scope

FILES = ("src/jwt.py", "src/clock.py", "tests/test_jwt.py")
SYMBOLS = {
    "src/jwt.py::verify": "checks that the signature of a token holds",
    "src/clock.py::now": "the time of day",
    "tests/test_jwt.py::test_verify": "checks that the signature of a token holds, and does not",
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with new_store(str(tmp_path_factory.mktemp("legs"))) as store:
        records = Records(store, Settings(), StaticEmbedder(), "/project")
        for path in FILES:
            records.add("file", path, id=f"file-{path}", title=path)
        for name, text in SYMBOLS.items():
            records.add("symbol", text, id=f"symbol-{name}", title=name.partition("::")[2])
        records.add("note", "Expired tokens are refused at the door", id="note-door")
        records.add("note", "The queries of the report run at night", id="note-night")
        for number in range(40):
            records.add("entity", f"name {number}", id=f"entity-{number}", title=f"Token {number}")
        yield store


def look(store: Store, query: str, types: tuple[str, ...] = (), **given: Any) -> Hits:
    return searching.look(store, query, Scope(types=types), StaticEmbedder(), **given)


@pytest.mark.parametrize("query", ["expire token", "expires tokens", "refusing", "query"])
def test_other_forms_of_a_word_are_found(store: Store, query: str) -> None:
    hits = look(store, query, ("note",), retrievers="fulltext")
    assert hits[0].id == ("note-night" if query == "query" else "note-door")


def test_exact_word_precedes_other_forms(store: Store) -> None:
    found = searching.ids(look(store, "token", ("note", "symbol"), retrievers="fulltext"))
    assert found.index("symbol-src/jwt.py::verify") < found.index("note-door")
    assert len(look(store, "token", ("entity",), limit=30)) == 30


def test_file_is_lifted_by_definitions(store: Store) -> None:
    hits = look(store, "signature holds", ("file",), retrievers="fulltext")
    assert [hit.id for hit in hits] == ["file-src/jwt.py", "file-tests/test_jwt.py"]
    assert {hit.match for hit in hits} == {"words"}


def test_missing_vectors_leave_full_text(store: Store, tmp_path: Path) -> None:
    with new_store(str(tmp_path)) as bare:
        Records(bare, Settings(), None).add("note", "expired tokens", id="note-1")
        assert look(bare, "expired tokens").notes == []
    held = store.meta.get("embedder")
    store.meta.set("embedder", "endpoint:http://h")
    found = look(store, "expired tokens")
    store.meta.set("embedder", held or "")
    assert found[0].vector_score is None
    assert found.notes[0].startswith("the store's vectors are endpoint:http://h's, not static")


def test_min_score_reports_dropped_results(store: Store) -> None:
    everything = look(store, "expired tokens")
    for least in (everything[-1].score, everything[0].score, 1.0):
        cut = look(store, "expired tokens", min_score=least)
        assert [hit.id for hit in cut] == [hit.id for hit in everything if hit.score >= least]
        lost = len(everything) - len(cut)
        assert cut.notes == [f"{lost} results below min_score left out"] * bool(lost)
