"""A search at a hub finds what one of the same store in search.db finds, in one round trip."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import postgres
import pytest
from hub_copies import copy_store
from hubs import a_hub
from new_stores import new_store
from project_records import fill, text
from samples import some

from pylore.core.model import Hits
from pylore.core.settings import Settings
from pylore.embed.static import StaticEmbedder
from pylore.hub.connection import Hub, connect
from pylore.hub.search import expression, open_hub
from pylore.search.pipeline import Request, search
from pylore.store import Store
from pylore.store.filter import Scope

EMBEDDER = StaticEmbedder()
QUERIES = (
    "message header encoding", "how are boundaries of multipart messages made", "JSONDecodeError",
    "logging.handlers rotate file", "the parser of e-mail addresses", "handlers", "handle",
    "who uses the decoder", "charset", "unicode escape sequences in strings", "no such word",
)  # fmt: skip


class Both:
    """The same records in search.db and at a hub."""

    def __init__(self, store: Store, hub: Hub, ids: list[str]) -> None:
        self.store = store
        self.hub = hub
        self.ids = ids

    def ask(self, query: str, settings: str = "", **request: Any) -> tuple[Hits, Hits]:
        pairs = [(name, value) for name, _, value in
                 (one.partition("=") for one in settings.split())]  # fmt: skip
        under = Settings().changed(pairs, "test")
        asked = Request(query, **request)
        return (
            search(self.store, under, asked, EMBEDDER),
            search(open_hub(self.hub, under, EMBEDDER), under, asked, EMBEDDER),  # type: ignore[arg-type]
        )


@pytest.fixture(scope="module")
def both(
    postgres_server: postgres.Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Both]:
    store = new_store(str(tmp_path_factory.mktemp("store")))
    ids = fill(store, 900)
    hub = connect(postgres_server.url(a_hub(postgres_server)))
    copy_store(hub, store, EMBEDDER)
    yield Both(store, hub, ids)
    hub.close()
    store.close()


def alike(here: Hits, there: Hits, most: int = 10) -> None:
    """Both have the same results, but for ties and for what rounding of vectors turns around."""
    one, other = [hit.id for hit in here][:most], [hit.id for hit in there][:most]
    assert len(one) == len(other)
    assert len({*one} & {*other}) >= len(one) - 1, (one, other)
    scores = {hit.id: hit for hit in there}
    for hit in here:
        if hit.id in scores:
            same = scores[hit.id]
            assert hit.score == pytest.approx(same.score, abs=0.01)
            assert (hit.type, hit.title, hit.match, hit.snippet) == (
                same.type, same.title, same.match, same.snippet)  # fmt: skip


@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("query", some([*QUERIES, *text().questions[:12]], 9))
def test_what_is_found_is_the_same(both: Both, query: str, depth: int) -> None:
    here, there = both.ask(query, f"graph_depth={depth}")
    alike(here, there)
    assert [note for note in here.notes if "left out" not in note] == [
        note for note in there.notes if "left out" not in note
    ]


@pytest.mark.parametrize(
    ("settings", "request_"),
    [
        ("graph_depth=1", {"scope": Scope(types=("note", "lesson"))}),
        ("graph_depth=2 expansion=best-path", {}),
        ("graph_depth=1 graph_edges=mentions", {}),
        ("graph_depth=1 expansion=activation", {}),
        ("fusion=rrf", {}),
        ("retrievers=fulltext", {}),
        ("field_weights=title=1,body=2 limit=4", {}),
        ("limit=70", {}),
        ("", {"scope": Scope(types=("entity", "concept"))}),
        ("", {"scope": Scope(statuses=("superseded",))}),
        ("", {"scope": Scope(since="2025-01-01")}),
        ("", {"query": "message -header", "operators": True}),
        ("", {"query": "mess* title:the", "operators": True}),
        ("graph_depth=1 relevance_weight=0.5 recency_weight=0.5", {"explain": True}),
    ],
)  # fmt: skip
def test_so_it_is_under_settings_and_filters(
    both: Both, settings: str, request_: dict[str, Any]
) -> None:
    given = {"query": "message header encoding of a charset", **request_}
    here, there = both.ask(given.pop("query"), settings, **given)
    assert here.hits
    alike(here, there, 70)


def test_facts_are_shown_as_they_are_here(both: Both) -> None:
    row = both.store.facts.of(both.store.facts.subjects()[:1])[0]
    here, there = both.ask(f"{row[1]} {row[2]} {row[3]}")
    alike(here, there)
    assert here.hits[0].snippet == there.hits[0].snippet


def test_ways_are_told_as_they_are_here(both: Both) -> None:
    here, there = both.ask("message header encoding", "graph_depth=2", explain=True)
    reached = {hit.id: hit for hit in there if hit.hops}
    compared = [hit for hit in here if hit.id in reached]
    assert compared
    for hit in compared:
        assert (hit.hops, hit.edge) == (reached[hit.id].hops, reached[hit.id].edge)
        assert hit.path == reached[hit.id].path


def test_a_search_is_one_round_trip(both: Both) -> None:
    class Counting(Hub):
        def __init__(self) -> None:
            self.name = both.hub.name
            self.asked = 0

        def ask(self, *given: Any, **options: Any) -> Any:
            self.asked += 1
            return both.hub.ask(*given, **options)

    for depth in (0, 2):
        settings = Settings().changed([("graph_depth", str(depth))], "test")
        counting = Counting()
        found = search(open_hub(counting, settings, EMBEDDER), settings,  # type: ignore[arg-type]
                       Request("message header encoding"), EMBEDDER)  # fmt: skip
        assert found.hits and counting.asked == 1


@pytest.mark.parametrize("glob", ["src/*.py", "a[b-d]?.c", "a+b(c)|d", "[^a]x", "a]b[", "a\\b*"])
def test_patterns_of_files_mean_what_they_mean_here(both: Both, glob: str) -> None:
    from sqlite_stores import connection_of

    paths = ["src/a/b.py", "src/a.pyc", "abx.c", "ab.c", "a+b(c)|d", "bx", "ax", "a]b[", "a\\bc"]
    for path in paths:
        here = connection_of(both.store).execute("SELECT ? GLOB ?", (path, glob)).get
        there = both.hub.ask("SELECT %s ~ %s", (path, expression(glob)))[0][0]
        assert bool(here) == there, path
