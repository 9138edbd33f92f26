"""A score is the product of the factors that ``--explain`` prints, with any settings."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from new_stores import new_store
from samples import examples
from searching import options

from pylore.core.model import Anchor, Edge, Hit, Node
from pylore.core.settings import BY_NAME
from pylore.core.times import now
from pylore.core.vocabulary import SOURCES
from pylore.embed.static import StaticEmbedder
from pylore.indexing.indexer import Index
from pylore.search import Near
from pylore.search.expand import related
from pylore.search.pipeline import Request, search
from pylore.store import Store
from pylore.store.filter import Scope

TOLERANCE = 2e-6
"""Maximum difference of a product. A score has six digits, and ratings at most double it: 1.5e-6;
factors have nine digits."""

WORDS = "session token signed cookie key expires login replica database queue".split()
FOLDERS = TemporaryDirectory()


@cache
def filled(seed: int) -> Store:
    """Twenty nodes of random words and all kinds of standing, with edges, ratings and ties."""
    chance = random.Random(seed)
    store = new_store(f"{FOLDERS.name}/{seed}/.lore")
    nodes = []
    for number in range(20):
        kind = chance.choice(("note", "decision", "file", "entity"))
        text = " ".join(chance.choices(WORDS, k=chance.choice((2, 2, 6))))
        age = chance.choice((now(), "2020-01-01T00:00:00Z"))
        path = chance.choice(("src", "tests")) + f"/{number}.py"
        id = f"file-{path}" if kind == "file" else f"{kind}-{number}"
        node = Node(id, kind, text, text, file=path, created_at=age, updated_at=age)
        node.status, node.source = chance.choice(("confirmed", "staged")), chance.choice(SOURCES)
        node.confidence, node.category = chance.choice((0.0, 0.5, 1.0)), chance.choice((None, "a"))
        node.access_count = chance.choice((0, 9, 100_000))
        nodes.append(node)
    ids = [node.id for node in nodes]
    with store.transaction():
        for node in nodes:
            store.nodes.put(node)
        Index(store).update(nodes)
        for _ in range(30):
            a, b = chance.sample(ids, 2)
            relation = chance.choice(("relates_to", "mentions", "imports"))
            store.edges.put(Edge(a, b, relation, chance.choice((0.2, 1.0)), created_at=now()))
        store.nodes.put(Node("run-1", "run", created_at=now(), updated_at=now()))
        for id in chance.sample(ids, 8):
            weight = chance.choice((0.0, 1.0))
            store.edges.put(Edge(id, "run-1", "used_in_run", weight, created_at=now()))
        for id in chance.sample(ids, 5):
            store.anchors.put(Anchor(id, "file", "src/a.py", created_at=now(), verified_at=now()))
    return store


@pytest.fixture(scope="module", autouse=True)
def closed() -> Iterator[None]:
    yield
    FOLDERS.cleanup()


def near_to(store: Store) -> Near:
    return Near(str(Path(store.path).parent.parent), ["src/a.py"])


SHARE = st.sampled_from(["0", "0.3", "1"])
FLAGS = st.fixed_dictionaries(
    {
        "expansion": st.sampled_from(BY_NAME["expansion"].choices),
        "fusion": st.sampled_from(["convex", "rrf"]),
        "graph_depth": st.sampled_from("0123"),
    },
    optional={
        "retrievers": st.sampled_from(["fulltext", "vector"]),
        "limit": st.sampled_from(["1", "3", "50"]),
        "graph_limit": st.sampled_from(["0", "2", "50"]),
        "graph_seeds": st.sampled_from(["1", "3"]),
        "fulltext_share": SHARE,
        "feedback_weight": SHARE,
        "vector_min": st.sampled_from(["-1", "0", "0.9"]),
        "duplicate_similarity": SHARE,
        "mmr_lambda": SHARE,
    },
)


def check(hits: list[Hit]) -> None:
    for hit in hits:
        assert hit.explain is not None
        factors: dict[str, Any] = hit.explain["factors"]
        assert abs(prod(factors.values()) - hit.score) <= TOLERANCE, factors
        assert 0 <= hit.score <= 1


@settings(max_examples=examples(60), deadline=None)
@given(
    st.integers(0, 3),
    FLAGS,
    st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join),
    st.booleans(),
)
def test_score_is_the_product_of_factors(
    seed: int, flags: dict[str, str], query: str, files: bool
) -> None:
    store = filled(seed)
    near = near_to(store) if files else None
    given = options(**flags)
    embedder = StaticEmbedder()
    found = search(store, given, Request(query, explain=True, near=near), embedder)
    check(found)
    for hit, plain in zip(
        found, search(store, given, Request(query, near=near), embedder), strict=True
    ):
        assert (hit.id, hit.score) == (plain.id, plain.score)


@settings(max_examples=examples(30), deadline=None)
@given(
    st.integers(0, 3),
    FLAGS,
    st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join),
    st.sampled_from([(), ("note",), ("note", "file"), ("file",)]),
    st.booleans(),
)
def test_fewer_results_are_the_first_of_more(
    seed: int, flags: dict[str, str], query: str, types: tuple[str, ...], files: bool
) -> None:
    """With a depth, the graph may reorder the first results."""
    store, plain = filled(seed), flags["graph_depth"] == "0" and not files
    request = Request(query, Scope(types=types), near=near_to(store) if files else None)
    found = []
    for limit in (1, 2, 3, 7, 20, 50):
        given = options(**{**flags, "limit": limit})
        hits = search(store, given, request, StaticEmbedder())
        found.append([(hit.id, plain and hit.score) for hit in hits if not hit.hops])
    for few, more in pairwise(found):
        assert few == more[: len(few)] if plain else {*few} <= {*more}


@settings(max_examples=examples(25), deadline=None)
@given(st.integers(0, 3), FLAGS, st.sets(st.integers(0, 19), min_size=1, max_size=3))
def test_related_scores_are_products(seed: int, flags: dict[str, str], numbers: set[int]) -> None:
    store = filled(seed)
    given = options(**flags)
    ids = [node.id for node in store.nodes.all()]
    chosen = [ids[number] for number in numbers]
    check(related(store, given, chosen, explain=True))
    check(related(store, given, chosen, near_to(store), explain=True))
