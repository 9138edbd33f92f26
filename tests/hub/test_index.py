"""Clients index the records of a hub, and searches find current texts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import postgres
import pytest
from hubs import PeopledHub, a_hub, note, purged

from pylore.core.json import dumps
from pylore.core.settings import Settings
from pylore.embed.static import StaticEmbedder
from pylore.hub.connection import Hub, connect
from pylore.hub.search import SearchedHub, index_hub
from pylore.search.pipeline import Request, search
from pylore.store.filter import Scope

EMBEDDER = StaticEmbedder()
LATER, LAST = "2026-02-01T12:00:00Z", "2026-03-01T12:00:00Z"


@pytest.fixture
def hub(postgres_server: postgres.Server) -> Iterator[Hub]:
    with connect(postgres_server.url(a_hub(postgres_server))) as hub:
        yield hub


def push(hub: Hub, *lines: list[str], embedder: Any = EMBEDDER) -> list[str]:
    done = hub.ask("SELECT lore.push(%s)", (dumps([*lines]),))[0][0]
    assert not done["refused"]
    notes: list[str] = []
    index_hub(hub, lambda: embedder, notes)
    return notes


def found(hub: Hub, query: str, legs: str = "fulltext", scope: Scope | None = None) -> set[str]:
    settings = Settings().changed([("retrievers", legs)], "test")
    request = Request(query, scope or Scope())
    return {hit.id for hit in search(SearchedHub(hub), settings, request, EMBEDDER)}


def test_only_current_texts_are_found(hub: Hub) -> None:
    push(hub, note("note-1", body="zebras graze"), note("note-2", body="otters swim " * 300))
    assert (found(hub, "zebras"), found(hub, "otters")) == ({"note-1"}, {"note-2"})
    push(hub, note("note-1", LATER, body="quaggas graze"), note("note-2", LATER, body="otters"))
    assert (found(hub, "zebras"), found(hub, "quaggas")) == (set(), {"note-1"})
    push(hub, note("note-1", LAST, body="quaggas graze", invalidated_at=LAST))
    assert found(hub, "quaggas") == set()
    push(hub, note("note-1", "2026-04-01T12:00:00Z", body="quaggas graze"))
    assert found(hub, "quaggas") == {"note-1"}


def test_former_texts_are_hidden_before_indexing(hub: Hub) -> None:
    push(hub, note("note-1", body="the key is hunter2"))
    hub.ask("SELECT lore.push(%s)", (dumps([note("note-1", LATER, body="the key is gone")]),))
    assert found(hub, "hunter2") == set()


def test_records_that_change_meanwhile_remain_due(hub: Hub) -> None:
    push(hub, note("note-1", body="zebras"))
    hub.ask("SELECT lore.push(%s)", (dumps([note("note-1", LATER, body="quaggas")]),))
    row: Any = hub.ask("SELECT * FROM lore.lacking(9)")[0]
    hub.ask("SELECT lore.push(%s)", (dumps([note("note-1", LAST, body="otters")]),))
    batch = dumps([{"node": row[0], "order_key": row[1], "passages": []}])
    assert hub.ask("SELECT lore.put(%s, %s, 1)", (batch, EMBEDDER.name)) == [(0,)]
    push(hub)
    assert (found(hub, "quaggas"), found(hub, "otters")) == (set(), {"note-1"})


def test_a_writer_builds_the_index_of_vectors(postgres_server: postgres.Server) -> None:
    name = a_hub(postgres_server)
    postgres_server.a_role("a-writer", "lore_writer")
    with connect(postgres_server.url(name, "a-writer")) as hub:
        push(hub, note("note-1", body="zebras graze"))
        many = (
            "INSERT INTO lore.passages(node, scope, type, first, length, size, words)"
            " SELECT key, '', 'note', 1, 0, 1, ''"
            " FROM lore.nodes, generate_series(2, 5001) n"
        )
        built = "SELECT count(*) FROM pg_indexes WHERE indexname = 'passages_near'"
        postgres_server.rows(many, database=name)
        assert hub.ask(built) == [(0,)]
        push(hub, note("note-2", body="otters swim"))
        assert hub.ask(built) == [(1,)]
        assert "note-1" in found(hub, "zebras graze", "vector")


class OtherEmbedder(StaticEmbedder):
    name = "other"


def test_vectors_are_of_one_embedder(hub: Hub) -> None:
    push(hub, note("note-1", body="zebras graze"))
    assert hub.ask("SELECT value FROM lore.meta WHERE name = 'embedder'") == [(EMBEDDER.name,)]
    for embedder in (OtherEmbedder(), None):
        [said] = push(hub, note("note-2", body="otters swim"), embedder=embedder)
        assert "another client indexes" in said and found(hub, "otters swim") == set()
    assert push(hub) == [] and found(hub, "otters swim") == {"note-2"}


def test_unusual_words_are_found(hub: Hub) -> None:
    long = "x" * 1000
    push(hub, note("note-1", body=f"{long} Straße ΟΔΟΣ naïve don't a|b \\ 'quoted' %s {{}} 日本"))
    for query in (long, "straße", "οδοσ", "naive", "a|b", "quoted", "日本"):
        assert found(hub, query) == {"note-1"}, query
    assert found(hub, "'; DROP TABLE lore.nodes; --") == set()


def test_a_purge_leaves_no_text(hub: Hub) -> None:
    push(hub, note("note-1", body="zebras graze"), note("note-2", body="zebras"))
    push(hub, purged("note-1", LAST))
    assert found(hub, "zebras") == {"note-2"}
    assert hub.ask("SELECT count(*) FROM lore.passages") == [(1,)]


def test_the_hub_applies_filters(hub: Hub) -> None:
    push(
        hub,
        note("note-1", body="zebras", tags=["a", "b"]),
        note("lesson-2", LATER, body="zebras", tags=["b"], status="staged"),
    )
    for scope, expected in (
        (Scope(tags=("a",)), {"note-1"}),
        (Scope(types=("lesson",)), {"lesson-2"}),
        (Scope(statuses=("staged",)), {"lesson-2"}),
        (Scope(since="2026-02-01"), {"lesson-2"}),
        (Scope(until="2026-01-31T23:00:00Z"), {"note-1"}),
        (Scope(files=("*.py",)), set()),
    ):
        assert found(hub, "zebras", "fulltext vector", scope) == expected, scope.to_dict()


def test_the_scope_setting_narrows_results(postgres_server: postgres.Server) -> None:
    with (
        closing(PeopledHub(postgres_server)) as people,
        connect(postgres_server.url(people.database)) as hub,
    ):
        index_hub(hub, lambda: EMBEDDER, [])
        settings, request = Settings(), Request("zebra")
        for own, expected in (("", ["note-red@@red"]), ("blue", [])):
            hits = search(SearchedHub(hub, own), settings, request, None)
            assert [hit.id for hit in hits] == expected
