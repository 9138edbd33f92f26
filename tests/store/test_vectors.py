"""Clusters of vectors: what is near is found in them as well as without them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from math import hypot
from struct import pack, unpack
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlite_stores import connection_of
from things import a_node, whole_passages

from pylore.core.vocabulary import TEXTS
from pylore.store import Store, scratch_store, vectors
from pylore.store.filter import Scope
from pylore.store.vector_tables import quantise, quantise_all, restore, sketch

DIMENSION, MANY, TOPICS = 16, 900, 30
TYPES = ("note", "note", "note", "note", "note", "note", "note", "note", "note", "lesson")


@pytest.fixture(scope="module")
def stretches() -> list[bytes]:
    """Vectors around some topics, as those of texts are."""
    chance = random.Random(5)
    topics = [[chance.gauss(0, 1) for _ in range(DIMENSION)] for _ in range(TOPICS)]
    return [
        vector(*[value + chance.gauss(0, 0.5) for value in chance.choice(topics)])
        for _ in range(MANY)
    ]


def lower_bounds(patch: pytest.MonkeyPatch) -> None:
    """Give clusters to as few vectors as a test can do with."""
    patch.setattr(vectors, "CLUSTERED", 300)
    patch.setattr(vectors, "clusters_for", lambda count: count // 15)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    lower_bounds(monkeypatch)


@pytest.fixture(scope="module")
def arranged(stretches: list[bytes]) -> bytes:
    """A database with these vectors in clusters."""
    with pytest.MonkeyPatch.context() as patch, scratch_store() as store:
        lower_bounds(patch)
        with store.transaction():
            store.meta.set("embedder", "some")
            store.meta.set("embedder_dimension", str(DIMENSION))
            store.vectors.create(DIMENSION)
            put(store, stretches)
            store.vectors.arrange()
            assert clusters(store) == MANY // 15
        return store.connection.serialize("main")


@pytest.fixture
def store(arranged: bytes, few: None) -> Iterator[Store]:
    connection = apsw.Connection(":memory:")
    connection.deserialize("main", arranged)
    with Store(connection, ":memory:") as store, store.transaction():
        yield store


def vector(*values: float) -> bytes:
    length = hypot(*values)
    return pack(f"<{len(values)}f", *[value / length for value in values])


def put(store: Store, rows: list[bytes]) -> list[int]:
    """A node with one passage for each; its key."""
    first = connection_of(store).execute("SELECT count(*) FROM nodes").get
    nodes = [
        a_node(f"{TYPES[at % len(TYPES)]}-{at}", title="a passage")
        for at in range(first, first + len(rows))
    ]
    for node in nodes:
        store.nodes.put(node)
    keys = store.nodes.new_passages(whole_passages([node.id for node in nodes], TEXTS))
    store.fulltext.add(TEXTS, [(key, "a passage", "", "", "", "") for key in keys])
    store.vectors.add(zip(keys, rows, strict=True))
    return [*keys]


def clusters(store: Store) -> int:
    count: int = connection_of(store).execute("SELECT count(*) FROM clusters").get
    return count


def nearest(stretches: list[bytes], asked: bytes, count: int) -> set[int]:
    """Places of the nearest, of all of them."""
    query = unpack(f"<{DIMENSION}f", asked)
    cosines = [
        (-sum(a * b for a, b in zip(query, unpack(f"<{DIMENSION}f", row), strict=True)), at)
        for at, row in enumerate(stretches)
    ]
    return {at for _, at in sorted(cosines)[:count]}


def test_what_is_near_is_found_in_clusters(store: Store, stretches: list[bytes]) -> None:
    hits = 0
    for asked in stretches[::30]:
        found = store.vectors.search(asked, Scope(), 10)
        assert [score for _, _, score in found] == sorted((row[2] for row in found), reverse=True)
        assert found[0][2] == pytest.approx(1.0, abs=0.01) and len({row[0] for row in found}) == 10
        hits += len(nearest(stretches, asked, 10) & {key - 1 for key, _, _ in found})
    assert hits >= 0.95 * 10 * len(stretches[::30])


def test_a_scope_is_kept_to_and_filled(store: Store, stretches: list[bytes]) -> None:
    lessons = MANY // len(TYPES)
    for asked in stretches[::90]:
        found = store.vectors.search(asked, Scope(types=("lesson",)), lessons)
        assert len(found) == lessons and all(id.startswith("lesson-") for _, id, _ in found)
        first = found[0][1]
        without = store.vectors.search(asked, Scope().without(frozenset([first])), 5)
        assert len(without) == 5 and first not in {id for _, id, _ in without}
    assert store.vectors.search(stretches[0], Scope(types=("goal",)), 5) == []
    assert len(store.vectors.search(stretches[0], Scope(), MANY + 9)) == MANY


def test_what_is_alike_is_found_whatever_the_scope(store: Store, stretches: list[bytes]) -> None:
    for scope in (Scope(), Scope(types=("lesson",)), Scope(types=("goal",))):
        for asked in stretches[::60]:
            all_of_them = store.vectors.search(asked, scope, MANY)
            for least in (0.95, 0.9, 0.2):
                wanted = [row for row in all_of_them if row[2] >= least]
                found = store.vectors.alike(asked, scope, least, 50)
                assert {row[0] for row in found} == {row[0] for row in wanted[:50]}


@pytest.mark.parametrize("least,looked_through", [(0.9, 16), (0.85, 16), (0.84, None)])
def test_what_is_alike_is_looked_for_in_few_clusters(
    least: float,
    looked_through: int | None,
    store: Store,
    stretches: list[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    numbers: list[int | None] = []
    near = vectors.Vectors._near

    def noted(self: vectors.Vectors, *asked: Any) -> list[int]:
        numbers.append(len(asked[1]))
        return near(self, *asked)

    monkeypatch.setattr(vectors.Vectors, "_near", noted)
    assert store.vectors.alike(stretches[0], Scope(types=("note",)), least, 25)
    assert (numbers or [None]) == [looked_through]


@pytest.mark.parametrize("many", [1, 3, 60])
def test_clusters_follow_what_comes_and_goes(
    many: int, store: Store, stretches: list[bytes]
) -> None:
    keys = put(store, [vector(*unpack(f"<{DIMENSION}f", row)[::-1]) for row in stretches[:many]])
    assert store.checks.unembedded() == []
    for key, row in zip(keys[:3], stretches, strict=False):
        asked = vector(*unpack(f"<{DIMENSION}f", row)[::-1])
        assert store.vectors.search(asked, Scope(), 3)[0][0] == key
    store.vectors.remove(keys)
    for table in ("sketches", "members"):
        rows = connection_of(store).execute(f"SELECT count(*) FROM {table}").get
        assert rows == MANY * (2 if table == "sketches" else 1)
    assert len(store.vectors.search(stretches[0], Scope(), MANY + 9)) == MANY


def test_one_by_one_and_many_at_once_come_to_the_same_clusters(
    store: Store, stretches: list[bytes]
) -> None:
    def members(rows: list[bytes]) -> list[tuple[int, int]]:
        found = [row for _, row in zip(put(store, rows), rows, strict=True)]
        return connection_of(store).execute(
            "SELECT first, second FROM members ORDER BY key DESC LIMIT ?", (len(found),)
        ).fetchall()[::-1]  # type: ignore[return-value]  # fmt: skip

    many = members(stretches[:40])
    one_by_one = [members([row])[0] for row in stretches[:40]]
    assert one_by_one == many


def test_clusters_are_made_anew_where_the_store_has_grown(
    store: Store, stretches: list[bytes]
) -> None:
    store.vectors.arrange()
    assert clusters(store) == MANY // 15
    put(store, stretches)
    store.vectors.arrange()
    assert clusters(store) == 2 * MANY // 15 and store.checks.unembedded() == []
    held = connection_of(store).execute("SELECT place, sketch FROM sketches").fetchall()
    connection_of(store).execute("DELETE FROM clusters")
    store.vectors.arrange()
    again = connection_of(store).execute("SELECT place, sketch FROM sketches").fetchall()
    assert again == held, "the same vectors have the same clusters"


# --- vectors as bytes


VECTORS = st.lists(st.floats(-1, 1, width=32), min_size=8, max_size=64).filter(
    lambda values: len(values) % 8 == 0 and hypot(*values) > 1e-3
)


@given(VECTORS)
def test_a_vector_keeps_its_direction(values: list[float]) -> None:
    given = vector(*values)
    found = unpack(f"<{len(values)}f", restore(quantise(given)))
    wanted = unpack(f"<{len(values)}f", given)
    assert sum(a * b for a, b in zip(found, wanted, strict=True)) > 0.999
    assert len(sketch(quantise(given))) == len(values) // 4


def test_many_vectors_are_made_bytes_as_one_is(stretches: list[bytes]) -> None:
    rows = [*enumerate([*stretches[:50], bytes(4 * DIMENSION), pack("<16f", *[float("nan")] * 16)])]
    one_by_one = [(key, quantise(row), sketch(quantise(row))) for key, row in rows]
    assert quantise_all(rows) == one_by_one
    assert one_by_one[50][1] == one_by_one[51][1] == bytes(DIMENSION)
