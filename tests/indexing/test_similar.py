"""similar_to edges: build all, follow writes, and leave people's edges alone."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from new_stores import new_store
from samples import examples

from pylore.core.settings import Settings
from pylore.embed.static import StaticEmbedder
from pylore.indexing.similar import Plan, build
from pylore.records.records import Records
from pylore.store import Store

WORDS = (
    "connection pool worker leak session token cookie key signature expire database replica "
    "query index cache queue retry timeout login password billing invoice order customer"
).split()


def sentence(seed: int, topics: int = 6) -> str:
    """Twelve words, most of them from a single topic."""
    number = random.Random(seed)
    topic = random.Random(seed % topics).sample(WORDS, 5)
    return " ".join(number.choices(topic, k=10) + number.choices(WORDS, k=2))


class Opened:
    """A store with an embedder and a writer."""

    def __init__(self, store: Store, embedder: StaticEmbedder) -> None:
        self.store = store
        self.embedder = embedder
        self.records = Records(store, Settings(), self.embedder)

    def add(self, number: int, type: str = "note") -> str:
        return self.records.add(type, sentence(number), id=f"{type}-{number:02}").id

    def edges(self) -> dict[tuple[str, str], float]:
        """The live edges from lore: pair to weight."""
        return {
            (edge.from_id, edge.to_id): edge.weight
            for edge in self.store.edges.with_relation("similar_to")
            if edge.invalidated_at is None and edge.source == "system"
        }


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    return StaticEmbedder()


@pytest.fixture
def lore(tmp_path: Path, embedder: StaticEmbedder) -> Iterator[Opened]:
    with new_store(str(tmp_path)) as store:
        yield Opened(store, embedder)


def expected(lore: Opened, least: float, nearest: int) -> dict[tuple[str, str], float]:
    """The edges by the definition, for nodes with a single passage."""
    import numpy

    vectors = {
        id: numpy.frombuffer(blob, "<f4")
        for id, blob in lore.store.vectors.of_nodes([row[0] for row in lore.store.nodes.outlines()])
    }
    found = {}
    for one in vectors:
        cosines = {other: float(vectors[one] @ vectors[other]) for other in vectors if other != one}
        for other in sorted(cosines, key=lambda other: (-cosines[other], other))[:nearest]:
            if cosines[other] >= least:
                found[min(one, other), max(one, other)] = cosines[other]
    return found


# --- at once


def test_build_makes_edges_by_the_definition(lore: Opened) -> None:
    for number in range(30):
        lore.add(number)
    counts = build(lore.store, Plan(0.7, 3))
    wanted = expected(lore, 0.7, 3)
    assert 10 < len(wanted) < 90
    assert lore.edges() == pytest.approx(wanted, abs=1e-4)
    assert counts == {
        "records": 30,
        "edges": len(wanted),
        "added": len(wanted),
        "updated": 0,
        "invalidated": 0,
        "unchanged": 0,
    }


def test_long_records_are_compared_by_mean(lore: Opened) -> None:
    pool, login = "connection pool worker leak " * 50, "session token cookie key " * 50
    for id, text in (("doc-a", pool + login), ("doc-b", login + pool), ("doc-c", pool)):
        lore.records.add("doc", text, id=id, title="Handbook")
    build(lore.store, Plan(0.95, 2))
    assert list(lore.edges()) == [("doc-a", "doc-b")]


# --- edges of people


def test_build_changes_no_edges_of_people(lore: Opened) -> None:
    a, b, c = (lore.add(number) for number in (0, 6, 12))
    assert set(expected(lore, 0.5, 5)) == {(a, b), (a, c), (b, c)}
    lore.records.link(b, "similar_to", a, weight=0.3)
    build(lore.store, Plan(0.5))
    assert set(lore.edges()) == {(a, c), (b, c)}
    lore.records.unlink(a, "similar_to", c)
    build(lore.store, Plan(0.5))
    assert set(lore.edges()) == {(b, c)}
    build(lore.store, None)
    assert lore.edges() == {}
    edge = lore.store.edges.get(b, a, "similar_to")
    assert edge is not None and edge.invalidated_at is None and edge.weight == 0.3


def test_remove_ends_following(lore: Opened) -> None:
    lore.add(0)
    lore.add(6)
    build(lore.store, Plan(0.5))
    assert build(lore.store, None)["invalidated"] == 1
    lore.add(12)
    assert lore.edges() == {}
    assert Plan.of(lore.store) is None


# --- single writes


@settings(max_examples=examples(8), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.integers(0, 60), min_size=4, max_size=14, unique=True), st.integers(1, 4))
def test_new_record_is_linked_to_nearest(
    tmp_path_factory: pytest.TempPathFactory,
    embedder: StaticEmbedder,
    numbers: list[int],
    nearest: int,
) -> None:
    with new_store(str(tmp_path_factory.mktemp("similar"))) as store:
        lore = Opened(store, embedder)
        lore.add(numbers[0])
        build(store, Plan(0.6, nearest))
        for number in numbers[1:]:
            before = lore.edges()
            id = lore.add(number)
            near = {pair: c for pair, c in expected(lore, 0.6, 60).items() if id in pair}
            strongest = sorted(near.items(), key=lambda item: -item[1])[:nearest]
            assert lore.edges() == pytest.approx(before | dict(strongest), abs=1e-4)


def test_edit_updates_similar_edges(lore: Opened) -> None:
    a, b = lore.add(0), lore.add(6)
    build(lore.store, Plan(0.5))
    assert list(lore.edges()) == [(a, b)]
    lore.records.edit(b, text="zucchini harvest marigold tractor")
    assert lore.edges() == {}
    assert lore.store.edges.get(a, b, "similar_to") is None
    lore.records.edit(b, text=sentence(6))
    assert list(lore.edges()) == [(a, b)]


def test_forget_and_restore_include_edges(lore: Opened) -> None:
    a, b, c = (lore.add(number) for number in (0, 6, 12))
    build(lore.store, Plan(0.5))
    before = lore.edges()
    lore.records.forget([b])
    assert set(lore.edges()) == {(a, c)}
    assert build(lore.store, Plan(0.5))["added"] == 0
    lore.records.restore([b])
    assert lore.edges() == before


def test_scoped_records_change_no_common_edges(lore: Opened) -> None:
    for number in range(8):
        lore.add(6 * number)
    build(lore.store, Plan(0.3, 2))
    before = lore.edges()
    for number in range(4):
        lore.records.add("note", sentence(6 * number), id=f"note-{number}@@alice")
    followed = lore.edges()
    assert common_among(followed) == before
    assert len(followed) > len(before)
    build(lore.store, Plan(0.3, 2))
    built = lore.edges()
    assert common_among(built) == before
    assert len(built) > len(before)


def common_among(edges: dict[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    """The edges between nodes without a scope."""
    return {pair: weight for pair, weight in edges.items() if "@@" not in "".join(pair)}
