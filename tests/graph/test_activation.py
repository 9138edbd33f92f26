"""Spreading activation: where it starts, and its caps."""

from __future__ import annotations

from pathlib import Path

from new_stores import new_store

from pylore.core.model import Edge, Node
from pylore.core.settings import Settings
from pylore.embed import open_embedder
from pylore.indexing.embed import embed_missing
from pylore.indexing.indexer import Index
from pylore.search.expand import narrowed, seeds_of
from pylore.search.legs import Matches
from pylore.search.pipeline import Request, search
from pylore.store import Store

NOW = "2026-01-31T12:00:00Z"


def filled(folder: Path, names: list[str], edges: list[tuple[str, str, float]]) -> Store:
    store = new_store(str(folder))
    nodes = [
        Node(f"entity-{name}", "entity", name, created_at=NOW, updated_at=NOW) for name in names
    ]
    with store.transaction():
        for node in nodes:
            store.nodes.put(node)
        Index(store).update(nodes)
        store.edges.put_many(
            Edge(f"entity-{a}", f"entity-{b}", "relates_to", weight, created_at=NOW)
            for a, b, weight in edges
        )
    embed_missing(store, open_embedder("static", store))
    return store


def anchors(legs: dict[str, dict[str, float]], most: int) -> list[str]:
    found = Matches()
    found.legs = legs
    found.fused = dict.fromkeys("abcdevwxyz", 1.0)
    settings = Settings().changed([("expansion", "activation"), ("graph_seeds", str(most))], "test")
    return [*seeds_of(found, found, narrowed(settings), [])]


def test_the_anchors_are_the_nearest_by_vector_else_by_full_text() -> None:
    fulltext = dict.fromkeys("abcde", 1.0)
    vector = dict.fromkeys("vwxyz", 1.0)
    assert anchors({"fulltext": fulltext, "vector": vector}, 3) == ["v", "w", "x"]
    assert anchors({"fulltext": fulltext, "vector": {}}, 3) == ["a", "b", "c"]
    assert anchors({"fulltext": fulltext}, 2) == ["a", "b"]
    assert anchors({}, 3) == []


def reached_from_hub(store: Store, depth: int = 3, **caps: int) -> dict[str, int]:
    """What a search for the hub reaches, and in how many hops; ``caps`` are settings."""
    wanted = {"graph_limit": 1000, "graph_depth": depth, "expansion": "activation", **caps}
    pairs = [(name, str(value)) for name, value in {"limit": 1, **wanted}.items()]
    found = search(store, Settings().changed(pairs, "test"), Request("hub"), None)
    return {hit.id: hit.hops for hit in found if hit.hops}


def test_it_follows_the_surest_edges_and_no_more_than_its_caps(tmp_path: Path) -> None:
    names = ["hub", *(f"n{number:02}" for number in range(40))]
    edges = [("hub", f"n{number:02}", 0.5 + number / 100) for number in range(20)]
    edges += [(f"n{number:02}", f"n{number + 20}", 1.0) for number in range(20)]
    with filled(tmp_path, names, edges) as store:
        found = reached_from_hub(store)
        one_hop = {id for id, hops in found.items() if hops == 1}
        assert one_hop == {f"entity-n{number}" for number in range(10, 20)}
        assert len(found) == 20
        assert len(reached_from_hub(store, depth=1, graph_fanout=15)) == 15


def test_caps_that_are_set_replace_those_of_activation(tmp_path: Path) -> None:
    names = ["hub", *(f"n{number}" for number in range(10)), *(f"m{n}" for n in range(60)), "far"]
    edges = [("hub", f"n{number}", 1.0) for number in range(10)]
    edges += [(f"n{number % 10}", f"m{number}", 0.9) for number in range(60)]
    edges += [("m0", "far", 1.0)]
    with filled(tmp_path, names, edges) as store:
        found = reached_from_hub(store)
        assert len(found) == 30 and set(found.values()) == {1, 2}
        assert len(reached_from_hub(store, graph_max_nodes=65)) == 65
        assert len(reached_from_hub(store, graph_max_nodes=7)) == 7
        assert len(reached_from_hub(store, graph_fanout=3)) == 3 + 3 * 2
        assert set(reached_from_hub(store, depth=1).values()) == {1}


def test_it_goes_a_third_hop_where_that_is_set(tmp_path: Path) -> None:
    edges = [("hub", "a", 1.0), ("a", "b", 1.0), ("b", "c", 1.0)]
    with filled(tmp_path, ["hub", "a", "b", "c"], edges) as store:
        assert reached_from_hub(store) == {"entity-a": 1, "entity-b": 2}
        assert reached_from_hub(store, graph_max_depth=3)["entity-c"] == 3
        assert reached_from_hub(store, depth=1, graph_max_depth=3) == {"entity-a": 1}


def test_it_starts_from_as_many_anchors_as_are_set(tmp_path: Path) -> None:
    hubs = [f"hub {letter}" for letter in "abcde"]
    names = [*hubs, *(f"end {letter}" for letter in "abcde")]
    edges = [(hub, hub.replace("hub", "end"), 1.0) for hub in hubs]
    with filled(tmp_path, names, edges) as store:
        assert len(reached_from_hub(store, depth=1, limit=5)) == 3
        assert len(reached_from_hub(store, depth=1, limit=5, graph_seeds=5)) == 5
        assert len(reached_from_hub(store, depth=1, limit=5, graph_seeds=2)) == 2


def test_links_past_its_cap_are_noted(tmp_path: Path) -> None:
    names = ["hub", *(f"n{number:02}" for number in range(20))]
    with filled(tmp_path, names, [("hub", name, 1.0) for name in names[1:]]) as store:
        pairs = [("expansion", "activation"), ("graph_depth", "1"), ("limit", "1")]
        said = search(store, Settings().changed(pairs, "test"), Request("hub"), None).notes
        assert any("not followed" in note for note in said)
        raised = Settings().changed([*pairs, ("graph_fanout", "20")], "test")
        said = search(store, raised, Request("hub"), None).notes
        assert not any("not followed" in note for note in said)


def test_a_search_by_activation_without_vectors_says_so(tmp_path: Path) -> None:
    with filled(tmp_path, ["duckdb", "ada"], [("ada", "duckdb", 0.9)]) as store:
        pairs = [("expansion", "activation"), ("graph_depth", "2")]
        settings = Settings().changed(pairs, "test")
        found = search(store, settings, Request("duckdb"), None)
        assert [(hit.id, hit.hops) for hit in found] == [("entity-duckdb", 0), ("entity-ada", 1)]
        assert any("activation spreads from names" in note for note in found.notes)
        with_vectors = search(store, settings, Request("duckdb"), open_embedder("static", store))
        assert "entity-ada" in [hit.id for hit in with_vectors]
        assert not any("activation" in note for note in with_vectors.notes)
