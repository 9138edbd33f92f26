"""What snapshots keep for the next ones is what the store would say, until somebody writes."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from new_stores import new_store
from samples import examples

from pylore.app.engine import Engine
from pylore.app.search import SearchRequest, search
from pylore.core.model import Edge, Node
from pylore.core.settings import from_environment
from pylore.graph import kept_edges
from pylore.indexing.indexer import write_nodes
from pylore.store import Store, open_store
from pylore.store.sqlite import kept_matches
from pylore.store.sqlite import nodes as nodes_module

WORDS = (
    "token cookie session limit request refuse key rotate sign parser cache vector graph node"
    " tests tested walks walking edge weight index query batch answer"
).split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store of 300 nodes, some of them superseded, of three collections."""
    path = str(tmp_path_factory.mktemp("kept"))
    chance = Random(5)
    with new_store(path) as store:
        engine = Engine(store, from_environment({}), path)
        nodes = []
        for number in range(300):
            kind = ("lesson", "entity", "symbol")[number % 3]
            id = f"symbol-a{number}.py::f" if kind == "symbol" else f"{kind}-{number}"
            text = " ".join(chance.choices(WORDS, k=30))
            status = "superseded" if number % 20 == 0 else "confirmed"
            nodes.append(Node(id, kind, title=text[:20], body=text, status=status))
        with store.transaction():
            write_nodes(store, engine.embedder, nodes)
            ids = [node.id for node in nodes]
            store.edges.put_many(
                Edge(*pair, "relates_to") for pair in zip(ids, chance.sample(ids, 300), strict=True)
            )
    return path


@pytest.fixture
def stores(folder: str) -> Iterator[tuple[Store, Store]]:
    """One that keeps what it reads, and one that does not."""
    with open_store(folder) as keeping, open_store(folder) as plain:
        keeping.keep()
        yield keeping, plain


def said(store: Store, query: str, depth: str, folder: str) -> list[object]:
    engine = Engine(store, from_environment({"graph_depth": depth}), folder)
    found = search(engine, SearchRequest(query, explain=True))
    return [*found.notes, *((hit.to_dict(), repr(hit.factors)) for hit in found)]


def queries(count: int) -> list[str]:
    chance = Random(7)
    fresh = ["zanzibar", "quux", "Tokens", "walked"]
    return [" ".join(chance.sample([*WORDS, *fresh], chance.randint(1, 6))) for _ in range(count)]


@pytest.mark.parametrize("depth", ["0", "2"])
def test_a_search_says_the_same_with_what_was_kept(
    stores: tuple[Store, Store], folder: str, depth: str
) -> None:
    keeping, plain = stores
    for query in queries(examples(100)):
        assert said(keeping, query, depth, folder) == said(plain, query, depth, folder)


def test_it_says_the_same_where_there_is_hardly_room(
    stores: tuple[Store, Store], folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_matches, "MOST", 500)
    monkeypatch.setattr(kept_edges, "MOST", 50)
    monkeypatch.setattr(nodes_module, "_KEPT", 20)
    keeping, plain = stores
    for query in queries(20):
        assert said(keeping, query, "2", folder) == said(plain, query, "2", folder)


@pytest.mark.parametrize("by_itself", [True, False])
def test_what_is_written_in_between_is_seen(folder: str, by_itself: bool) -> None:
    with open_store(folder) as keeping, open_store(folder) as plain:
        keeping.keep()
        for _ in range(3):
            said(keeping, "token cookie", "2", folder)
        writer = keeping if by_itself else plain
        engine = Engine(writer, from_environment({}), folder)
        id = f"lesson-new-{by_itself}"
        new = Node(id, "lesson", title="token cookie", body=f"token cookie of {by_itself}")
        with writer.transaction():
            write_nodes(writer, engine.embedder, [new])
            writer.edges.put_many([Edge("lesson-3", id, "relates_to")])
        found = said(keeping, "token cookie", "2", folder)
        assert id in str(found)
        assert found == said(plain, "token cookie", "2", folder)


def test_nothing_is_kept_outside_of_snapshots_or_of_the_first(stores: tuple[Store, Store]) -> None:
    keeping, plain = stores
    places = []
    for store in (keeping, keeping, plain, plain):
        with store.snapshot():
            places.append(store.kept)
        assert store.kept is None
    assert places == [None, {}, None, None]
