"""The engine on a store: what it writes, what it finds, what is around a node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from new_stores import new_store
from stores import Kept

from pylore.core.errors import LoreError
from pylore.core.model import Hits
from pylore.core.settings import Settings
from pylore.core.vocabulary import file_id
from pylore.embed.static import StaticEmbedder
from pylore.indexing.indexer import rebuild
from pylore.records.records import Records
from pylore.records.runs import Runs
from pylore.records.show import count_accesses
from pylore.search.pipeline import Request, search
from pylore.store import Store
from pylore.store.filter import Scope

SESSIONS, LIMITS, REPLICA = "decision-sessions", "decision-limits", "decision-replica"
KEYS, OUTAGE = "lesson-keys", "failure-outage"
RECORDS: dict[str, tuple[str, dict[str, Any]]] = {
    SESSIONS: ("Sessions are signed tokens, kept in a cookie", {"file": "src/auth.py"}),
    LIMITS: ("Requests above sixty a minute are refused", {"file": "src/auth.py", "tags": ["web"]}),
    REPLICA: ("Reading queries go to a replica of the database", {"file": "src/db.py"}),
    KEYS: ("Rotate the keys that sign tokens before they expire", {"tags": ["auth"]}),
    OUTAGE: ("All logins failed for an hour on a Sunday", {}),
}
LINKS = ((KEYS, "relates_to", SESSIONS), (KEYS, "learned_from", OUTAGE))


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with new_store(str(tmp_path_factory.mktemp("filled"))) as store:
        records = Records(store, Settings(), StaticEmbedder(), "/project")
        for id, (text, fields) in RECORDS.items():
            change = records.add(id.partition("-")[0], text, id=id, **fields)
            assert (change.id, change.state) == (id, "added")
        for link in LINKS:
            records.link(*link)
        records.fact("Billing", "reads from", "PostgreSQL")
        yield store


def found(store: Store, query: str, scope: Scope | None = None, **settings: str) -> Hits:
    chosen = Settings().changed(list(settings.items()), "test")
    embedder = StaticEmbedder()
    return search(store, chosen, Request(query, scope or Scope(), explain=True), embedder)


def test_a_search_finds_what_matches_and_what_it_leads_to(filled: Store) -> None:
    store = filled
    assert found(store, "signed tokens")[0].id == SESSIONS
    hits = {hit.id: hit for hit in found(store, "sessions cookie", graph_depth="2",
                                         retrievers="fulltext")}  # fmt: skip
    assert hits[SESSIONS].hops == 0 and hits[SESSIONS].match == "words"
    assert hits[file_id("src/auth.py")].hops == 1 and hits[LIMITS].hops == 2
    assert hits[LIMITS].path == [SESSIONS, file_id("src/auth.py"), LIMITS]
    assert found(store, "tokens", Scope(tags=("auth",)))[0].id == KEYS
    assert "no record has the tag" in " ".join(found(store, "x", Scope(tags=("none",))).notes)


def test_a_record_lives_and_goes(store: Store) -> None:
    records = Records(store, Settings(), StaticEmbedder(), "/project")
    assert records.add("note", "Words about tokens", id="note-a").state == "added"
    assert records.add("note", "Words about tokens", id="note-a").state == "unchanged"
    assert records.add("note", "Words about cookies", id="note-a").state == "updated"
    assert [hit.id for hit in found(store, "cookies")] == ["note-a"]
    assert not found(store, "tokens", retrievers="fulltext").hits
    records.add("note", "Another", id="note-b", links=[("note-a", "relates_to")])
    records.forget(["note-a"])
    assert not found(store, "cookies", retrievers="fulltext").hits
    assert store.edges.of("note-b") == []
    records.restore(["note-a"])
    assert [hit.id for hit in found(store, "cookies", retrievers="fulltext")] == ["note-a"]
    assert [edge.to_id for edge in store.edges.of("note-b")] == ["note-a"]
    with pytest.raises(LoreError, match="no node 'note-c'"):
        records.link("note-a", "relates_to", "note-c")
    with store.transaction():
        assert rebuild(store, "auto") == 2
    assert [hit.id for hit in found(store, "cookies", retrievers="fulltext")] == ["note-a"]


def test_accesses_and_runs_are_counted(store: Store, kept: Kept) -> None:
    records = Records(store, Settings(), None)
    records.add("note", "Words", id="note-a", source="conversation")
    for _ in range(9):
        said = count_accesses(store, Settings(), ["note-a"])
        if said:
            break
    assert said == ["confirmed, since it is read often: note-a"]
    run = Runs(store).start()
    assert store.impressions.state(run) == "open"
    with kept.read_only() as other:
        assert count_accesses(other, Settings(), ["note-a"]) == []
