"""A passage that matches lends its weight to what it links to."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from pathlib import Path

import pytest
from new_stores import new_store
from things import a_node, an_edge

from pylore.core.model import Edge, Hit
from pylore.core.settings import Settings
from pylore.graph.edge_views import DiscountedEdges
from pylore.graph.walk import Step, Walk
from pylore.indexing.indexer import Index
from pylore.search.expand import lend, lending_passages
from pylore.search.legs import Matches
from pylore.search.pipeline import Request, search
from pylore.store import Store

TOKENS, LOCKS = "tokens end after a day " * 50, "locks are held by writers " * 50
LONG = TOKENS + LOCKS
"""Half of its passages are about tokens, half about locks."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    nodes = [a_node("doc-long", body=LONG), a_node("doc-short", body="locks and tokens"),
             *(a_node(f"doc-{name}", body="another thing") for name in "abcd")]  # fmt: skip
    with new_store(str(tmp_path / "store")) as store:
        with store.transaction():
            for node in nodes:
                store.nodes.put(node)
            Index(store).update(nodes)
        yield store


def link(store: Store, *edges: Edge) -> None:
    with store.transaction():
        store.edges.put_many(edges)


def placed(to: str, at: int, of: str = "doc-long", weight: float = 1.0) -> Edge:
    return an_edge(of, to, "links_to", weight, metadata=f'{{"at":[{at}]}}')


def found(store: Store, query: str, **flags: object) -> dict[str, Hit]:
    texts = {"graph_depth": "1", **{name: str(value) for name, value in flags.items()}}
    settings = Settings.load(environ={}, flags=texts)
    hits = search(store, settings, Request(query, explain=True), None)
    return {hit.id: hit for hit in hits}


def support(hit: Hit) -> float:
    return float((hit.explain or {})["support"])


def test_what_the_matching_passage_links_to_comes_before_what_another_one_does(
    store: Store,
) -> None:
    link(store, placed("doc-a", 10), placed("doc-b", len(TOKENS) + 700))
    tokens, locks = found(store, "tokens"), found(store, "locks writers")
    assert support(tokens["doc-a"]) > support(tokens["doc-b"])
    assert support(locks["doc-b"]) > support(locks["doc-a"])
    assert tokens["doc-a"].path == ["doc-long", "doc-a"]
    assert tokens["doc-a"].edge == "links_to" and tokens["doc-a"].hops == 1


def test_without_places_and_in_a_text_of_one_passage_edges_are_what_they_were(
    store: Store,
) -> None:
    link(store, an_edge("doc-long", "doc-a", "links_to"), placed("doc-b", 0, "doc-short"))
    plain = found(store, "tokens")
    link(store, an_edge("doc-short", "doc-b", "links_to"))
    again = found(store, "tokens")
    assert {id: hit.score for id, hit in plain.items()} == {
        id: hit.score for id, hit in again.items()
    }


def test_a_relation_that_is_left_out_lends_nothing(store: Store) -> None:
    link(store, placed("doc-a", 10), an_edge("doc-long", "doc-b", "relates_to"))
    assert "doc-a" not in found(store, "tokens", graph_exclude_edges="links_to")
    assert "doc-a" not in found(store, "tokens", graph_depth=0)


def test_what_is_hidden_gets_nothing(store: Store) -> None:
    link(store, placed("doc-a", 10), placed("doc-b", 10))
    with store.transaction():
        store.nodes.put(a_node("doc-a", body="another thing", status="superseded"))
    assert {"doc-b"} == found(store, "tokens").keys() & {"doc-a", "doc-b"}


def test_the_support_is_the_root_of_the_squares(store: Store) -> None:
    first, second, *_ = sorted(key for key, _ in store.nodes.passages(["doc-long"]))
    link(store, an_edge("doc-long", "doc-a", "links_to", 0.5, metadata='{"at":[0,1200]}'))
    matches = Matches()
    matches.rows = {"texts": [(first, "doc-long", 4.0), (second, "doc-long", 2.0)]}
    walk = Walk()
    walk.support["doc-a"] = 0.3
    walk.reached["doc-a"] = Step("doc-a", 0.3, Step("doc-b", 1.0), "relates_to")
    lend(store, Settings.load(environ={}, flags={}), matches, walk, frozenset(), ())
    unit = 0.7 * 0.5 * store.relations.all()["links_to"][0]
    expected = sqrt(0.3**2 + (unit * 1.0**2) ** 2 + (unit * 0.5**2) ** 2)
    assert walk.support["doc-a"] == walk.reached["doc-a"].score == pytest.approx(expected)
    lend(store, Settings.load(environ={}, flags={}), matches, walk, frozenset({"doc-a"}), ())
    assert walk.support["doc-a"] == pytest.approx(expected)


def test_an_edge_of_a_place_counts_a_third_to_the_walk() -> None:
    class Two:
        def bundles(self, *_: object) -> list[tuple[str, bool, list[str], list[str], list[float]]]:
            return [("doc-a", True, ["links_to", "links_to"], ["doc-b", "doc-c"], [1.0, 1.0]),
                    ("doc-b", False, ["links_to"], ["doc-a"], [1.0])]  # fmt: skip

    edges = DiscountedEdges(Two(), lambda ids: [("doc-a", "doc-b", "links_to")])
    weights = [bundle[4] for bundle in edges.bundles(["doc-a", "doc-b"], ["links_to"], 9)]
    assert weights == [[0.35, 1.0], [0.35]]


def test_of_the_passages_the_best_has_one_and_50_lend() -> None:
    matches = Matches()
    matches.rows = {"texts": [(key, f"doc-{key}", float(key)) for key in range(1, 101)]}
    settings = Settings.load(environ={}, flags={})
    best = lending_passages(matches, settings)
    assert [*best] == [*range(100, 50, -1)]
    assert best[100] == ("doc-100", 1.0) and best[51][1] == pytest.approx(0.51)
