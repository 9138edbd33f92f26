"""Spreading activation: where it starts, and its caps."""

from __future__ import annotations

from pathlib import Path

from new_stores import new_store

from pylore.core.model import Edge, Node
from pylore.core.settings import Settings
from pylore.embed import open_embedder
from pylore.graph.activation import activate, anchors
from pylore.indexing.indexer import Index
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
        Index(store, open_embedder("static", store)).update(nodes)
        store.edges.put_many(
            Edge(f"entity-{a}", f"entity-{b}", "relates_to", weight, created_at=NOW)
            for a, b, weight in edges
        )
    return store


def test_the_anchors_are_the_nearest_by_vector_else_by_full_text() -> None:
    fulltext = dict.fromkeys("abcde", 1.0)
    vector = dict.fromkeys("vwxyz", 1.0)
    assert anchors({"fulltext": fulltext, "vector": vector}) == ["v", "w", "x"]
    assert anchors({"fulltext": fulltext, "vector": {}}) == ["a", "b", "c"]
    assert anchors({"fulltext": fulltext}) == list("abc")
    assert anchors({}) == []


def test_it_follows_the_surest_edges_and_no_more_than_its_caps(tmp_path: Path) -> None:
    names = ["hub", *(f"n{number:02}" for number in range(40))]
    edges = [("hub", f"n{number:02}", 0.5 + number / 100) for number in range(20)]
    edges += [(f"n{number:02}", f"n{number + 20}", 1.0) for number in range(20)]
    with filled(tmp_path, names, edges) as store:
        weights = {"relates_to": (1.0, 1.0)}
        result = activate(
            store.edges, {"entity-hub": 1.0}, weights, depth=3, decay=0.7, fanout=100,
            max_nodes=1000,
        )  # fmt: skip
        one_hop = {id for id, step in result.reached.items() if step.hop == 1}
        assert one_hop == {f"entity-n{number}" for number in range(10, 20)}
        assert len(result.reached) == 20


def reached_from_hub(
    store: Store, *, depth: int = 3, fanout: int = 100, max_nodes: int = 1000
) -> dict[str, int]:
    result = activate(
        store.edges,
        {"entity-hub": 1.0},
        {"relates_to": (1.0, 1.0)},
        decay=0.7,
        depth=depth,
        fanout=fanout,
        max_nodes=max_nodes,
    )
    return {id: step.hop for id, step in result.reached.items()}


def test_it_reaches_30_nodes_in_two_hops_and_the_caps_given_only_lower_that(tmp_path: Path) -> None:
    names = ["hub", *(f"n{number}" for number in range(10)), *(f"m{n}" for n in range(40)), "far"]
    edges = [("hub", f"n{number}", 1.0) for number in range(10)]
    edges += [(f"n{number % 10}", f"m{number}", 0.9) for number in range(40)]
    edges += [("m0", "far", 1.0)]
    with filled(tmp_path, names, edges) as store:
        found = reached_from_hub(store)
        assert len(found) == 30 and set(found.values()) == {1, 2}
        assert len(reached_from_hub(store, max_nodes=7)) == 7
        assert len(reached_from_hub(store, fanout=3)) == 3 + 3 * 2
        assert set(reached_from_hub(store, depth=1).values()) == {1}


def test_it_goes_no_third_hop(tmp_path: Path) -> None:
    edges = [("hub", "a", 1.0), ("a", "b", 1.0), ("b", "c", 1.0)]
    with filled(tmp_path, ["hub", "a", "b", "c"], edges) as store:
        assert reached_from_hub(store) == {"entity-a": 1, "entity-b": 2}


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
