"""A search at a hub finds what one of the same store in search.db finds, in one round trip."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import postgres
import pytest
from hubs import a_hub
from new_stores import new_store
from samples import some
from scale_material import PREDICATES, Material, Text

from pylore.core.json import dumps
from pylore.core.model import Hit, Hits
from pylore.core.settings import Settings
from pylore.core.vocabulary import CODE_TYPES
from pylore.embed.static import StaticEmbedder
from pylore.hub.connection import Hub, connect
from pylore.hub.indexing import index_hub
from pylore.hub.lines import HubLines, Takes
from pylore.hub.search import _LIKE, SearchedHub
from pylore.indexing.embed import embed_missing
from pylore.indexing.indexer import Index
from pylore.search.pipeline import Request, search
from pylore.store import Store
from pylore.store.filter import Scope

EMBEDDER = StaticEmbedder()
TEXT = Text.of_packages("email", "json", "logging")
QUERIES = (
    "message header encoding", "how are boundaries of multipart messages made", "JSONDecodeError",
    "logging.handlers rotate file", "the parser of e-mail addresses", "handlers", "handle",
    "uses of the decoder class", "charset", "unicode escape sequences in strings", "no such word",
)  # fmt: skip
CHARSET = "message header encoding of a charset"


def results(here: Hits, there: Hits) -> None:
    """Some results are the same, with the same columns: stems and frequencies differ."""
    one, other = [hit.id for hit in here], [hit.id for hit in there]
    assert not one or {*one} & {*other}, (one, other)
    for hit, same in both_have(here, there):
        assert (hit.type, hit.title) == (same.type, same.title)


def some_results(here: Hits, there: Hits) -> None:
    """Something is found, and the same."""
    assert here.hits
    results(here, there)


def both_have(here: Hits, there: Hits) -> list[tuple[Hit, Hit]]:
    of = {hit.id: hit for hit in there}
    return [(hit, of[hit.id]) for hit in here if hit.id in of]


Equal = Callable[[Hits, Hits], None]
Case = tuple[str, str, dict[str, Any], tuple[Equal, ...]]

ALIKE: tuple[Case, ...] = (
    # query, settings, request, what a hub must answer as search.db does
    *(
        (query, f"graph_depth={depth}", {}, (results,))
        for query in (*QUERIES, *TEXT.questions[:12])
        for depth in (0, 1, 2)
    ),
    (CHARSET, "graph_depth=1", {"scope": Scope(types=("note", "lesson"))}, (some_results,)),
    (CHARSET, "graph_depth=2 expansion=best-path", {}, (some_results,)),
    (CHARSET, "graph_depth=1 graph_edges=mentions", {}, (some_results,)),
    (CHARSET, "fusion=rrf", {}, (some_results,)),
    (CHARSET, "retrievers=fulltext", {}, (some_results,)),
    (CHARSET, "retrievers=vector", {}, (some_results,)),
    (CHARSET, "limit=4", {}, (some_results,)),
    (CHARSET, "limit=70", {}, (some_results,)),
    (CHARSET, "", {"scope": Scope(types=("entity", "concept"))}, (some_results,)),
    (CHARSET, "", {"scope": Scope(statuses=("superseded",))}, (some_results,)),
    (CHARSET, "", {"scope": Scope(since="2025-01-01")}, (some_results,)),
    (CHARSET, "", {"scope": Scope(tags=("no-such-tag",))}, (results,)),
    ("message -header", "", {"operators": True}, (some_results,)),
    ("mess* title:message", "", {"operators": True}, (results,)),
    (CHARSET, "graph_depth=1", {"explain": True},
     (some_results,)),
    # questions: what a name defines and what depends on it is of code, which no hub has
    ("where is the Message header defined", "", {}, (results,)),
    ("what depends on the message header", "graph_depth=1", {}, (results,)),
    ("why is the header encoded", "", {}, (results,)),
)  # fmt: skip
"""All that the two engines must answer alike. Otherwise they may differ: anchors, ratings, whole
files and commits are of the project alone, so a hub knows no verdict, feedback or file at hand."""


class Both:
    """The same records in search.db and at a hub."""

    def __init__(self, store: Store, hub: Hub) -> None:
        self.store = store
        self.hub = hub

    def ask(self, query: str, settings: str = "", **request: Any) -> tuple[Hits, Hits]:
        pairs = [(name, value) for name, _, value in
                 (one.partition("=") for one in settings.split())]  # fmt: skip
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
    """Push the records and links of a store to an empty hub, and index them there."""
    lines = HubLines(store, Takes("scopes=*", "staged"))
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


@pytest.mark.parametrize(("query", "settings", "request_", "equal"), some(ALIKE, 8))
def test_a_hub_answers_as_a_store(
    both: Both, query: str, settings: str, request_: dict[str, Any], equal: tuple[Equal, ...]
) -> None:
    here, there = both.ask(query, settings, **request_)
    for compare in equal:
        compare(here, there)


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
        assert found.hits and counting.asked <= 9 + 4 * depth, (query, depth, counting.asked)


@pytest.mark.parametrize("glob", ["src/*.py", "a?x.c", "a+b(c)|d", "a\\b*", "a$b ü"])
def test_file_patterns_match_as_in_sqlite(both: Both, glob: str) -> None:
    from sqlite_stores import connection_of

    for path in ("src/a/b.py", "src/a.pyc", "abx.c", "ab.c", "a+b(c)|d", "a\\bc", "a$b ü"):
        here = connection_of(both.store).execute("SELECT ? GLOB ?", (path, glob)).get
        there = both.hub.ask("SELECT %s LIKE %s", (path, glob.translate(_LIKE)))[0][0]
        assert bool(here) == there, path
