"""The values of ``expansion``: all of them search, and direct matches keep their places."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from new_stores import new_store
from sqlite_stores import connection_of

from pylore.core.model import Edge, Node
from pylore.core.settings import Settings
from pylore.core.times import now
from pylore.records.records import Records
from pylore.search.pipeline import Request, search
from pylore.store import Store
from pylore.store.filter import Scope


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder: Path = tmp_path_factory.mktemp("rules")
    with new_store(str(folder)) as store:
        records = Records(store, Settings(), None)
        records.add("note", "tokens expire", id="note-a")
        records.add("note", "cookies", id="note-b", links=[("note-a", "relates_to")])
        records.add("note", "sessions", id="note-c", links=[("note-b", "relates_to")])
        yield store


def options(**flags: str) -> Settings:
    return Settings.load(environ={}, flags={"graph_depth": "2", "retrievers": "fulltext", **flags})


def test_runs_tie_records_to_each_other_and_are_shown_to_who_asks_for_them(store: Store) -> None:
    def asked(*types: str) -> list[str]:
        request = Request("tokens", Scope(types=types))
        return [hit.id for hit in search(store, options(), request, None)]

    connection_of(store).execute("SAVEPOINT run")
    store.nodes.put(Node("run-1", "run", created_at=now(), updated_at=now()))
    store.nodes.put(Node("note-d", "note", created_at=now(), updated_at=now()))
    for id in ("note-a", "note-d"):
        store.edges.put(Edge(id, "run-1", "used_in_run", 1.0, created_at=now()))
    found, runs = asked(), asked("run")
    connection_of(store).execute("ROLLBACK TO run")
    assert set(found) == {"note-a", "note-b", "note-c", "note-d"}
    assert runs == ["run-1"]
