"""Vectors: sketches and cosines."""

from __future__ import annotations

import random
from collections.abc import Iterator
from math import hypot
from struct import pack, unpack

import pytest
from hypothesis import given
from hypothesis import strategies as st
from things import a_node, whole_passages

from pylore.core.vocabulary import TEXTS
from pylore.store import Store, filter, scratch_store, vectors
from pylore.store.filter import Scope
from pylore.store.vectors import quantise, quantise_many, restore, sketch

DIMENSION, MANY, TOPICS = 16, 900, 30
TYPES = ("note", "note", "note", "note", "note", "note", "note", "note", "note", "lesson")


@pytest.fixture(scope="module")
def stretches() -> list[bytes]:
    """Vectors around topics, like vectors of texts."""
    chance = random.Random(5)
    topics = [[chance.gauss(0, 1) for _ in range(DIMENSION)] for _ in range(TOPICS)]
    return [
        vector(*[value + chance.gauss(0, 0.5) for value in chance.choice(topics)])
        for _ in range(MANY)
    ]


@pytest.fixture(scope="module")
def store(stretches: list[bytes]) -> Iterator[Store]:
    with scratch_store() as store:
        with store.transaction():
            store.meta.set("embedder", "some")
            store.meta.set("embedder_dimension", str(DIMENSION))
            put(store, stretches)
        yield store


@pytest.fixture(params=["listed", "tested"])
def scoped_by(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """List the passages of a scope, or test the nearest."""
    if request.param == "tested":
        monkeypatch.setattr(filter, "FEW", 1)
        monkeypatch.setattr(vectors, "FEW_OF_ALL", 1)


def vector(*values: float) -> bytes:
    length = hypot(*values)
    return pack(f"<{len(values)}f", *[value / length for value in values])


def put(store: Store, rows: list[bytes]) -> list[int]:
    """Return the keys of new passages with these vectors."""
    first = store.connection.execute("SELECT count(*) FROM nodes").get
    nodes = [
        a_node(f"{TYPES[at % len(TYPES)]}-{at}", title="a passage")
        for at in range(first, first + len(rows))
    ]
    for node in nodes:
        store.nodes.put(node)
    passages = whole_passages([node.id for node in nodes], TEXTS)
    keys = store.fulltext.add([(one, ("a passage", "", "", "", "")) for one in passages])
    store.vectors.add([*zip(keys, rows, strict=True)])
    return [*keys]


def nearest(stretches: list[bytes], asked: bytes, count: int) -> set[int]:
    """Return the places of the nearest vectors."""
    query = unpack(f"<{DIMENSION}f", asked)
    cosines = [
        (-sum(a * b for a, b in zip(query, unpack(f"<{DIMENSION}f", row), strict=True)), at)
        for at, row in enumerate(stretches)
    ]
    return {at for _, at in sorted(cosines)[:count]}


def test_search_finds_nearest_passages(store: Store, stretches: list[bytes]) -> None:
    hits = 0
    for asked in stretches[::30]:
        found = store.vectors.search(asked, Scope(), 10)
        assert [score for _, _, score in found] == sorted((row[2] for row in found), reverse=True)
        assert found[0][2] == pytest.approx(1.0, abs=0.01) and len({row[0] for row in found}) == 10
        hits += len(nearest(stretches, asked, 10) & {key - 1 for key, _, _ in found})
    assert hits >= 0.93 * 10 * len(stretches[::30])


@pytest.mark.usefixtures("scoped_by")
def test_search_respects_and_fills_scopes(store: Store, stretches: list[bytes]) -> None:
    lessons = MANY // len(TYPES)
    for asked in stretches[::90]:
        for count in (3, lessons):
            found = store.vectors.search(asked, Scope(types=("lesson",)), count)
            assert len(found) == count and all(id.startswith("lesson-") for _, id, _ in found)
        first = found[0][1]
        without = store.vectors.search(asked, Scope(excluded=frozenset([first])), 5)
        assert len(without) == 5 and first not in {id for _, id, _ in without}
    assert store.vectors.search(stretches[0], Scope(types=("goal",)), 5) == []
    assert len(store.vectors.search(stretches[0], Scope(), MANY + 9)) == MANY


# --- vectors as bytes


VECTORS = st.lists(st.floats(-1, 1, width=32), min_size=8, max_size=64).filter(
    lambda values: len(values) % 8 == 0 and hypot(*values) > 1e-3
)


@given(VECTORS)
def test_quantised_vectors_keep_directions(values: list[float]) -> None:
    given = vector(*values)
    found, wanted = (unpack(f"<{len(values)}f", one) for one in (restore(quantise(given)), given))
    assert sum(a * b for a, b in zip(found, wanted, strict=True)) > 0.999
    assert len(sketch(quantise(given))) == len(values) // 4


@pytest.mark.parametrize("count", [1, 9])
@pytest.mark.parametrize("number", [0.0, float("nan")])
def test_vectors_without_a_direction_become_zeros(number: float, count: int) -> None:
    assert quantise_many([pack("<16f", *[number] * 16), b""] * count) == [bytes(16), b""] * count
