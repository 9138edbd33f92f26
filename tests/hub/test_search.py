"""A search at a hub finds the same records as in a store, in few round trips."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from typing import Any

import postgres
import pytest
from hubs import a_hub
from new_stores import new_store
from samples import some
from scale_material import PREDICATES, Material, Text

from pylore.core.json import dumps
from pylore.core.model import Hits
from pylore.core.settings import Settings
from pylore.core.vocabulary import CODE_TYPES
from pylore.embed.static import StaticEmbedder
from pylore.hub.connection import Hub, connect
from pylore.hub.search import SearchedHub, index_hub
from pylore.hub.sync import Takes, lines_of
from pylore.indexing.embed import embed_missing
from pylore.indexing.indexer import Index
from pylore.search.pipeline import Request, search
from pylore.store import Store
from pylore.store.filter import Scope, where

EMBEDDER = StaticEmbedder()
TEXT = Text.of_packages("email", "json", "logging")
QUERIES = (
    "message header encoding",
    "how are boundaries of multipart messages made",
    "JSONDecodeError",
    "logging.handlers rotate file",
    "the parser of e-mail addresses",
    "handlers",
    "handle",
    "uses of the decoder class",
    "charset",
    "unicode escape sequences in strings",
    "no such word",
)
CHARSET = "message header encoding of a charset"


ALIKE: tuple[tuple[str, str, dict[str, Any]], ...] = (
    *((query, "graph_depth=1", {}) for query in (*QUERIES, *TEXT.questions[:9])),
    (CHARSET, "graph_depth=1", {"scope": Scope(types=("note", "lesson"))}),
    (CHARSET, "graph_depth=2 expansion=best-path", {}),
    (CHARSET, "graph_depth=1 graph_edges=mentions", {"explain": True}),
    (CHARSET, "fusion=rrf", {}),
    (CHARSET, "retrievers=fulltext", {}),
    (CHARSET, "retrievers=vector", {}),
    (CHARSET, "limit=70", {}),
    (CHARSET, "", {"scope": Scope(types=("entity", "concept"))}),
    (CHARSET, "", {"scope": Scope(statuses=("superseded",))}),
    (CHARSET, "", {"scope": Scope(since="2025-01-01")}),
    (CHARSET, "", {"scope": Scope(tags=("no-such-tag",))}),
    ("message -header", "", {"operators": True}),
    ("mess* title:message", "", {"operators": True}),
    ("where is the Message header defined", "", {}),
    ("why is the header encoded", "", {}),
)
"""(query, settings, request) with similar results of a store and a hub."""


class Both:
    """The same records in search.db and at a hub."""

    def __init__(self, store: Store, hub: Hub) -> None:
        self.store = store
        self.hub = hub

    def ask(self, query: str, settings: str = "", **request: Any) -> tuple[Hits, Hits]:
        pairs = [
            (name, value) for name, _, value in (one.partition("=") for one in settings.split())
        ]
        under = Settings().changed(pairs, "test")
        asked = Request(query, **request)
        return (
            search(self.store, under, asked, EMBEDDER),
            search(SearchedHub(self.hub), under, asked, EMBEDDER),  # type: ignore[arg-type]
        )


def fill(store: Store, size: int) -> None:
    """Fill a store with the records and facts of a project of ``size`` nodes, without code."""
    material = Material(TEXT, size, 6)
    index = Index(store)
    with store.transaction():
        for name in PREDICATES:
            store.relations.declare(name, 0.7, 0.7, "declared")
        nodes = [node for node in material.nodes() if node.type not in (*CODE_TYPES, "run")]
        ids = {node.id for node in nodes}
        for node in nodes:
            store.nodes.put(node)
        edges = [edge for edge in material.edges() if {edge.from_id, edge.to_id} <= ids]
        store.edges.put_many(edges)
        index.update(nodes)
        index.keep_facts(sorted({edge.from_id for edge in edges}))
    embed_missing(store, EMBEDDER, bulk=True)


def copy_store(hub: Hub, store: Store) -> None:
    """Push the records and links of a store to an empty hub, and index them."""
    lines = lines_of(store, Takes("scopes=*", "staged"))
    pushed = dumps([line[1:] for line in lines])
    assert not hub.ask("SELECT lore.push(%s)", (pushed,))[0][0]["refused"]
    index_hub(hub, lambda: EMBEDDER, [])
    hub.ask("ANALYZE")


@pytest.fixture(scope="module")
def both(
    postgres_server: postgres.Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Both]:
    store = new_store(str(tmp_path_factory.mktemp("store")))
    fill(store, 900)
    hub = connect(postgres_server.url(a_hub(postgres_server)))
    copy_store(hub, store)
    yield Both(store, hub)
    hub.connection.close()
    store.close()


@pytest.mark.parametrize(("query", "settings", "request_"), some(ALIKE, 8))
def test_a_hub_answers_as_a_store(
    both: Both, query: str, settings: str, request_: dict[str, Any]
) -> None:
    here, there = both.ask(query, settings, **request_)
    of = {hit.id: (hit.type, hit.title) for hit in there}
    same = [hit for hit in here if of.get(hit.id) == (hit.type, hit.title)]
    assert same or not here


def test_a_search_takes_few_round_trips(both: Both) -> None:
    class Counting(Hub):
        asked = 0

        def ask(self, *given: Any, **options: Any) -> Any:
            self.asked += 1
            return super().ask(*given, **options)

    for query, depth in product(QUERIES[:4], (0, 2)):
        settings = Settings().changed([("graph_depth", str(depth))], "test")
        counting = Counting(both.hub.name, both.hub.connection)
        store: Any = SearchedHub(counting)
        found = search(store, settings, Request(query), EMBEDDER)
        assert found and counting.asked <= 9 + 4 * depth, (query, depth, counting.asked)


PATTERNS = ["src/*.py", "src/", "**/{b,x}.*", "[id].c", "a?x.c", "a+b(c)|d", "a\\b*", "a$b ü"]
PATHS = ("src/a/b.py", "b.py", "[id].c", "src/a.pyc", "abx.c", "a+b(c)|d", "a\\bc", "a$b ü")


@pytest.mark.parametrize("glob", PATTERNS)
def test_file_patterns_match_as_in_sqlite(both: Both, glob: str) -> None:
    scope = Scope(files=(glob,))
    condition, given = where(scope)
    files = json.loads(SearchedHub(both.hub).nodes._filter(scope))["files"]
    for path in PATHS:
        query = f"SELECT {condition} FROM (SELECT ? AS file) n"
        here = both.store.connection.execute(query, (*given, path)).get
        assert bool(here) == both.hub.ask("SELECT %s ~ %s", (path, files))[0][0], path
