"""Answers that a server repeats, and what it reads before the first call."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from new_stores import new_store

from pylore.app.search import search
from pylore.core.settings import Settings
from pylore.mcp import calls
from pylore.mcp.current_store import CurrentStore
from pylore.mcp.messages import Message
from pylore.mcp.server import McpServer
from pylore.records.records import Records
from pylore.store import open_store


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queries that were searched for, not answered from memory."""
    found: list[str] = []

    def note(engine: Any, query: str, **given: Any) -> Any:
        found.append(query)
        return search(engine, query, **given)

    monkeypatch.setattr(calls, "search", note)
    monkeypatch.setattr("pylore.app.search.search", note)
    return found


@pytest.fixture
def current(tmp_path: Path) -> Iterator[CurrentStore]:
    """A store with one decision, as a server has it open."""
    folder = str(tmp_path / "data")
    with new_store(folder) as store:
        Records(store, Settings(), None).add("decision", "Sessions are tokens in a cookie")
    environ = {"LORE_STORE": folder, "LORE_DIR": folder, "LORE_EMBEDDER": "none",
               "HOME": str(tmp_path)}  # fmt: skip
    current = CurrentStore(environ, str(tmp_path))
    yield current
    current.close()


def ids(current: CurrentStore, query: str, **given: Any) -> list[str]:
    answer = calls.call(current, "lore_search", {"query": query, **given})
    assert not answer.wrong
    return [row["id"] for row in json.loads(answer.text)]


def test_similar_queries_are_answered_again(current: CurrentStore, searches: list[str]) -> None:
    first = ids(current, "tokens in a cookie")
    assert first
    assert ids(current, "  Cookie  a TOKENS in ") == first
    assert len(searches) == 1
    for other in ({"query": "tokens"}, {"query": "tokens in a cookie", "limit": 1},
                  {"query": "tokens in a cookie", "files": ["*.md"]}):  # fmt: skip
        ids(current, **other)
    assert len(searches) == 4


def test_a_context_is_answered_again(
    current: CurrentStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = calls.call(current, "lore_context", {"question": "cookie"})
    monkeypatch.setattr(calls, "text_within", None)
    assert calls.call(current, "lore_context", {"question": "cookie"}) is first


def test_any_write_ends_an_answer(current: CurrentStore, searches: list[str]) -> None:
    ids(current, "cookie")
    with open_store(current.folder) as store:  # another connection
        added = Records(store, Settings(), None).add("note", "Another cookie").id
    assert added in ids(current, "cookie")
    written = calls.call(current, "lore_remember", {"type": "note", "text": "A third cookie"})
    assert json.loads(written.text)["id"] in ids(current, "cookie")
    assert len(searches) == 3


def test_a_minute_ends_an_answer(
    current: CurrentStore, searches: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ids(current, "cookie")
    later = time.monotonic() + 61
    monkeypatch.setattr("time.monotonic", lambda: later)
    ids(current, "cookie")
    assert len(searches) == 2


def test_a_changed_setting_ends_an_answer(
    current: CurrentStore, searches: list[str], tmp_path: Path
) -> None:
    config = tmp_path / ".config/lore/config"
    ids(current, "cookie")
    config.parent.mkdir(parents=True)
    config.write_text("vector_min=0.9\n")
    ids(current, "cookie")
    assert len(searches) == 2


def test_few_answers_are_held(current: CurrentStore) -> None:
    for number in range(250):
        ids(current, f"cookie {number}")
    assert len(current.recent_answers()) <= 100


def test_a_server_reads_ahead_after_the_handshake(
    current: CurrentStore, searches: list[str]
) -> None:
    server = McpServer(current, write=False)
    server.answer(Message("initialize", {"protocolVersion": "2025-06-18"}, 1))
    assert searches == []
    assert server.after is not None
    server.after()
    assert searches == ["Sessions are tokens in a cookie"]


@pytest.mark.parametrize("file", [None, b"no store"])
def test_reading_ahead_leaves_errors_to_the_first_call(tmp_path: Path, file: bytes | None) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    if file is not None:
        (folder / "search.db").write_bytes(file)
    current = CurrentStore({"LORE_STORE": str(folder), "LORE_DIR": str(folder)}, str(tmp_path))
    current.read_ahead()
    assert [one.name for one in folder.iterdir()] == ([] if file is None else ["search.db"])
