"""Both legs of a search: words and vectors of passages."""

from __future__ import annotations

from collections.abc import Iterator
from math import hypot
from struct import pack

import pytest
from things import LATER, a_node, whole_passages

from pylore.core.text import parse_query
from pylore.core.vocabulary import TEXTS
from pylore.search.legs import FIELD_WEIGHTS
from pylore.store import Store
from pylore.store.filter import Scope

WEIGHTS = FIELD_WEIGHTS
ANY = Scope()
TEXT = {
    "note-a": ("Signed tokens", "Sessions are signed tokens in a cookie"),
    "note-b": ("Limits", "Requests are limited; tokens are not"),
    "note-c": ("Zürich", "A replica reads in Zürich, for reading queries"),
    "note-d": ("Nothing", "lorem ipsum dolor"),
}


@pytest.fixture
def store(store: Store) -> Iterator[Store]:
    with store.transaction():
        for id, (title, body) in TEXT.items():
            store.nodes.put(a_node(id, title=title, body=body, updated_at=LATER))
        texts = [(*text, "", "", "") for text in TEXT.values()]
        store.fulltext.add([*zip(whole_passages([*TEXT], TEXTS), texts, strict=True)])
        yield store


def found(store: Store, text: str, how: str, scope: Scope = ANY, limit: int = 9) -> str:
    query = parse_query(text)
    rows = store.fulltext.search(TEXTS, query, how, scope, WEIGHTS, limit)
    scores = [score for _, _, score in rows]
    assert scores == sorted(scores, reverse=True)
    keys = store.fulltext.first_passages([id for _, id, _ in rows])
    assert [keys[id] for _, id, _ in rows] == [key for key, _, _ in rows]
    return " ".join(id.removeprefix("note-") for _, id, _ in rows)


@pytest.mark.parametrize(
    ("text", "how", "expected"),
    [
        ("tokens", "some", "a b"),
        ("signed replica", "some", "a c"),
        ("token", "some", ""),
        ("token", "inflected", "a b"),
        ("lor", "prefix", "d"),
        ("or", "prefix", ""),  # below the shortest prefix
        ("ZURICH", "some", "c"),  # without case and accents
        ("zürichs replicas", "some", "c"),  # long and rare: with other forms
    ],
)
def test_ways_to_match(text: str, how: str, expected: str, store: Store) -> None:
    assert " ".join(sorted(found(store, text, how).split())) == expected


def test_better_matches_come_first(store: Store) -> None:
    assert found(store, "tokens", "some") == "a b"
    assert found(store, "tokens", "some", limit=1) == "a"
    assert found(store, "replica queries reads limited", "some") == "c b"


def test_equal_scores_are_ordered_by_key(store: Store) -> None:
    ids = ["note-z", "note-y", "note-x"]
    for id in ids:
        store.nodes.put(a_node(id))
    passages = whole_passages(ids, TEXTS)
    keys = store.fulltext.add([(one, ("", "zebra", "", "", "")) for one in passages])
    assert found(store, "zebra", "some") == "z y x"
    assert found(store, "zebra", "some", limit=2) == "z y"
    store.vectors.add([(key, vector(1, 1)) for key in reversed(keys)])
    assert [row[0] for row in store.vectors.search(vector(1, 1), ANY, 9)] == keys
    assert [id for id, _ in store.vectors.of_nodes(["note-x", "note-z"])] == ["note-x", "note-z"]


# --- vectors


def vector(*values: float) -> bytes:
    numbers = [*values, *[0.5] * (8 - len(values))]
    length = hypot(*numbers)
    return pack("<8f", *[number / length for number in numbers])


@pytest.fixture
def embedded(store: Store) -> Store:
    keys = store.fulltext.of_nodes([*TEXT])
    store.meta.set("embedder_dimension", "8")
    store.vectors.add(
        zip(keys, (vector(1, 1), vector(1, -1), vector(-1, -1), vector(0.9, 0.8)), strict=True)
    )
    return store


def test_passages_lack_vectors_until_added(embedded: Store) -> None:
    vectors = embedded.vectors
    keys = embedded.fulltext.of_nodes([*TEXT])
    assert (vectors.count_passages(), vectors.count_passages(lacking=True)) == (4, 0)
    vectors.remove(keys[:2])
    assert [key for key, _ in vectors.lacking(0, 9)] == keys[:2]
    assert vectors.lacking(0, 1)[0][1] == "Signed tokens " + TEXT["note-a"][1]
    assert [key for key, _ in vectors.lacking(keys[0], 9)] == [keys[1]]
    vectors.add([(keys[0], None), (keys[1], vector(1, 1)), (99, vector(1, 1))])
    assert vectors.count_passages(lacking=True) == 0 and embedded.checks.unembedded() == []


def test_having_a_phrase(store: Store) -> None:
    assert store.fulltext.having(TEXTS, "tokens") == {"note-a", "note-b"}
    assert store.fulltext.having(TEXTS, "tokens", titled=True) == {"note-a"}
    assert store.fulltext.having(TEXTS, "tokens in a") == {"note-a"}
    assert store.fulltext.having(TEXTS, "tokens cookie") == set()
