"""What snapshots keep for the next ones is what the store would say, until somebody writes."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from new_stores import new_store
from samples import examples

from pylore.app.engine import Engine
from pylore.app.find import search
from pylore.core.model import Edge, Node
from pylore.core.settings import from_environment
from pylore.graph import walk as edge_cache
from pylore.indexing.indexer import write_nodes
from pylore.store import Store, open_store, read_cache
from pylore.store import nodes as nodes_module
from pylore.store import read_cache as match_cache
from pylore.store.array_cache import SketchArrays, best_sums

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
        keeping.cache_reads()
        yield keeping, plain


def said(store: Store, query: str, depth: str, folder: str) -> list[object]:
    engine = Engine(store, from_environment({"graph_depth": depth}), folder)
    found = search(engine, query, explain=True)
    return [*found.notes, *((hit.to_dict(), repr(hit.factors)) for hit in found)]


def queries(count: int) -> list[str]:
    chance = Random(7)
    fresh = ["zanzibar", "quux", "Tokens", "walked"]
    return [" ".join(chance.sample([*WORDS, *fresh], chance.randint(1, 6))) for _ in range(count)]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("often", [0, 1_000_000], ids=["arrays", "numbers"])
@pytest.mark.parametrize("depth", ["0", "2"])
def test_a_search_says_the_same_with_what_was_kept(
    stores: tuple[Store, Store],
    folder: str,
    depth: str,
    often: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(read_cache, "OFTEN", often)
    keeping, plain = stores
    for query in queries(examples(100)):
        assert said(keeping, query, depth, folder) == said(plain, query, depth, folder)


def test_it_says_the_same_where_there_is_hardly_room(
    stores: tuple[Store, Store], folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(match_cache, "MOST", 500)
    monkeypatch.setattr(edge_cache, "MOST", 50)
    monkeypatch.setattr(nodes_module, "_KEPT", 20)
    keeping, plain = stores
    for query in queries(20):
        assert said(keeping, query, "2", folder) == said(plain, query, "2", folder)


@pytest.mark.parametrize("by_itself", [True, False])
def test_what_is_written_in_between_is_seen(folder: str, by_itself: bool) -> None:
    with open_store(folder) as keeping, open_store(folder) as plain:
        keeping.cache_reads()
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
            places.append(store.cache)
        assert store.cache is None
    assert places == [None, {}, None, None]


PARTS = st.lists(
    st.dictionaries(st.integers(1, 30), st.floats(0, 4, width=16), max_size=12), max_size=5
)


@given(parts=PARTS, without=st.sets(st.integers(0, 40), max_size=5), limit=st.integers(1, 12))
def test_sums_of_arrays_are_those_of_numbers(
    parts: list[dict[int, float]], without: set[int], limit: int
) -> None:
    sums: dict[int, float] = {}
    for part in parts:
        for key, score in part.items():
            sums[key] = sums.get(key, 0.0) + score
    rows = sorted((-score, key) for key, score in sums.items() if key not in without)
    arrays = [(array("q", part), array("d", part.values())) for part in parts]
    assert best_sums(arrays, without, limit) == [(key, -score) for score, key in rows[:limit]]


def test_keys_that_are_far_apart_are_not_summed_in_arrays() -> None:
    assert best_sums([(array("q", [1, 10**12]), array("d", [1.0, 2.0]))], (), 5) is None


@given(
    sketches=st.lists(st.binary(min_size=9, max_size=9), min_size=1, max_size=40),
    asked=st.binary(min_size=9, max_size=9),
    count=st.integers(1, 12),
)
def test_the_nearest_in_arrays_are_those_of_numbers(
    sketches: list[bytes], asked: bytes, count: int
) -> None:
    rows = [(3 * number, bits) for number, bits in enumerate(sketches)]
    arrays = SketchArrays.of(rows)
    assert arrays is not None
    number = int.from_bytes(asked, "little")
    far = [((number ^ int.from_bytes(bits, "little")).bit_count(), key) for key, bits in rows]
    assert arrays.nearest(asked, count) == sorted(far)[:count]
    assert arrays.nearest(asked + b"x", count) is None
    assert SketchArrays.of([*rows, (10**6, b"x")]) is None
