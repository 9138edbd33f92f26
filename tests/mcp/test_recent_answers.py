"""Test repeated responses of a server, and reading ahead of the first call."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from new_stores import new_store
from wire import initialize, served

from pylore.app.find import search
from pylore.core.settings import Settings
from pylore.mcp.server import CurrentStore
from pylore.records.records import Records
from pylore.store import open_store


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queries that were searched for, not answered from the cache."""
    found: list[str] = []

    def note(engine: Any, query: str, **given: Any) -> Any:
        found.append(query)
        return search(engine, query, **given)

    monkeypatch.setattr("pylore.app.find.search", note)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with new_store(str(tmp_path / "data")) as store:
        Records(store, Settings(), None).add("decision", "Sessions are tokens in a cookie")
    return tmp_path / "data"


@pytest.fixture
def current(folder: Path) -> Iterator[CurrentStore]:
    """A store with a decision, as a server has it open."""
    with served(folder) as (current, _):
        yield current


def ids(current: CurrentStore, query: str, **given: Any) -> list[str]:
    text, _ = current.call("lore_search", {"query": query, **given})
    return [row["id"] for row in json.loads(text)]


def test_repeated_queries_are_answered_again(current: CurrentStore, searches: list[str]) -> None:
    first = ids(current, "tokens in a cookie")
    assert first
    assert ids(current, "tokens in a cookie") == first
    assert len(searches) == 1
    for other in (
        {"query": "inCookie tokens a"},  # words inside names count
        {"query": "tokens in a cookie", "limit": 1},
        {"query": "tokens in a cookie", "files": ["*.md"]},
    ):
        ids(current, **other)
    assert len(searches) == 4


def test_write_or_setting_invalidates_response(
    current: CurrentStore, searches: list[str], folder: Path
) -> None:
    ids(current, "cookie")
    with open_store(str(folder)) as store:  # a second connection
        added = Records(store, Settings(), None).add("note", "Another cookie").id
    assert added in ids(current, "cookie")
    written, _ = current.call("lore_remember", {"type": "note", "text": "A third cookie"})
    assert json.loads(written)["id"] in ids(current, "cookie")
    (folder / ".config").write_text("vector_min=0.9\n")
    ids(current, "cookie")
    assert len(searches) == 4


def test_server_reads_ahead_after_the_handshake(folder: Path, searches: list[str]) -> None:
    with served(folder) as (_, server):
        server.run(io.BytesIO(json.dumps(initialize("2025-06-18")).encode()))
    assert searches == ["Sessions are tokens in a cookie"]


@pytest.mark.parametrize("file", [None, b"no store"])
def test_reading_ahead_leaves_errors_to_the_first_call(tmp_path: Path, file: bytes | None) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    if file is not None:
        (folder / "search.db").write_bytes(file)
    with served(folder) as (current, _):
        current.read_ahead()
    assert [one.name for one in folder.iterdir()] == ([] if file is None else ["search.db"])
