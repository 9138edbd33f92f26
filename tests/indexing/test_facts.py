"""Facts as passages: in step with all writers, and found by searches."""

from __future__ import annotations

from pathlib import Path

import pytest
from things import lines_of

from pylore.cli.session import count_accesses
from pylore.core.settings import Settings
from pylore.core.times import ago
from pylore.embed.static import StaticEmbedder
from pylore.formats.export import export_lines
from pylore.formats.jsonl import import_lines
from pylore.indexing.indexer import rebuild
from pylore.records.records import Records
from pylore.search.pipeline import Request, search
from pylore.store import Store, create_store
from pylore.store.filter import Scope

SHOP = "entity-web-shop"
REDIS = "web shop uses redis"


@pytest.fixture
def records(store: Store) -> Records:
    return Records(store, Settings(), StaticEmbedder())


def stated(store: Store) -> dict[str, int]:
    """Sentence to key of passage, of all facts."""
    found = store.facts.passages([node.id for node in store.nodes.all()])
    held = {text: key for key, text in found.values()}
    assert all(store.fulltext.shown(key)[1] == text for text, key in held.items())
    assert all(store.facts.shown([key]) for key in held.values())
    if store.meta.get("embedder"):
        asked = StaticEmbedder().embed(["fact"])[0]
        assert asked is not None
        nearest = store.vectors.search(asked, Scope(), 99)
        assert {*held.values()} <= {key for key, _, _ in nearest}
    return held


def snippets(store: Store, query: str, **flags: object) -> dict[str, str]:
    settings = Settings().changed([(name, str(value)) for name, value in flags.items()], "test")
    found = search(store, settings, Request(query), StaticEmbedder())
    return {hit.id: hit.snippet for hit in found}


def test_facts_are_found_by_words_and_meaning(store: Store, records: Records) -> None:
    records.fact("web shop", "uses", "redis")
    records.fact("wiki", "is_built_with", "Rust")
    assert [*stated(store)] == [REDIS, "wiki is built with Rust"]
    assert snippets(store, "what does the web shop use")[SHOP] == REDIS
    assert snippets(store, "redis")[SHOP] == REDIS
    alike = snippets(store, "built in Rust", retrievers="vector")
    assert alike["entity-wiki"] == "wiki is built with Rust"
    assert snippets(store, "web shop")[SHOP] == ""  # the name matches better


def test_ended_facts_are_not_found(store: Store, records: Records) -> None:
    records.fact("ada", "lives_in", "Rome")
    records.fact("ada", "lives_in", "Bern")
    assert [*stated(store)] == ["ada lives in Bern"]
    records.confirm(["ada", "lives_in", "Rome"])
    assert [*stated(store)] == ["ada lives in Rome"]
    records.confirm(["ada", "lives_in", "Rome"], retract=True)
    assert not stated(store)
    records.undo()
    assert [*stated(store)] == ["ada lives in Rome"]
    records.unlink("entity-ada", "lives_in", "entity-rome")
    assert not stated(store)
    records.undo()
    assert [*stated(store)] == ["ada lives in Rome"]


def test_facts_follow_edits_of_both_ends(store: Store, records: Records) -> None:
    records.fact("web shop", "uses", "redis")
    records.edit("entity-redis", title="Redis 7")
    assert [*stated(store)] == ["web shop uses Redis 7"]
    records.edit(SHOP, title="The Shop")
    assert [*stated(store)] == ["The Shop uses Redis 7"]
    for id in (SHOP, "entity-redis"):
        records.forget([id])
        assert not stated(store)
        records.restore([id])
        assert [*stated(store)] == ["The Shop uses Redis 7"]
    records.forget(["entity-redis"], purge=True)
    assert not stated(store)
    assert snippets(store, "shop").keys() == {SHOP}


def test_computed_links_are_not_facts(store: Store, records: Records) -> None:
    records.fact("web shop", "uses", "redis")
    records.link(SHOP, "similar_to", "entity-redis", source="system")
    note = records.add("note", "A word about it").id
    records.link(SHOP, "relates_to", note)
    assert [*stated(store)] == [REDIS]


def test_import_and_rebuild_make_equal_passages(
    store: Store, records: Records, tmp_path: Path
) -> None:
    records.fact("web shop", "uses", "redis")
    records.link(SHOP, "relates_to", "entity-redis", metadata={"predicate": "was sped up by"})
    sentences = {REDIS, "web shop was sped up by redis"}
    assert stated(store).keys() == sentences
    lines = [line.encode() for line in export_lines(store)]
    with create_store(str(tmp_path / "other")) as other:
        for order in (lines, lines[::-1]):
            import_lines(other, Settings(), StaticEmbedder(), order)
            assert stated(other).keys() == sentences
        rebuild(other, "auto")
        assert stated(other).keys() == sentences
        before = {node.id for node in other.nodes.all()}
        lines = [
            b'{"id":"entity-web-shop","title":"Shop"}',
            b'{"from_id":"entity-redis","to_id":"entity-web-shop","relation":"serves"}',
        ]
        import_lines(other, Settings(), None, lines, new_relations=True)
        assert {node.id for node in other.nodes.all()} == before
        held = other.facts.passages([*before]).values()
        texts = {"Shop uses redis", "Shop was sped up by redis", "redis serves Shop"}
        assert {text for _, text in held} == texts


def test_facts_of_a_hub_are_stated_in_linear_time(store: Store) -> None:
    ids = [SHOP, *(f"entity-{number}" for number in range(1_000))]
    rows = [{"id": id, "title": id} for id in ids]
    rows += [{"from_id": SHOP, "to_id": id, "relation": "relates_to"} for id in ids[1:]]
    steps: list[int] = []
    store.connection.set_progress_handler(lambda: bool(steps.append(1)), 10_000)
    import_lines(store, Settings(), None, lines_of(*rows))
    assert len(steps) < 300 and len(store.facts.of([SHOP])) == 1_000


def test_fact_ages_since_the_last_read(store: Store, records: Records) -> None:
    records.fact("web shop", "uses", "redis")
    (edge,) = store.edges.all()
    edge.created_at = ago(400)
    with store.transaction():
        store.edges.delete_node(SHOP)
        store.edges.put(edge)
    ((passage, _),) = store.facts.passages([SHOP]).values()
    assert int(store.facts.shown([passage])[passage][5]) == 400
    count_accesses(store, Settings(), [SHOP])
    assert int(store.facts.shown([passage])[passage][5]) == 0
    assert store.facts.shown([passage])[passage][4] == 1
