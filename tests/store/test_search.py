"""Both legs of a search: words and vectors of passages."""

from __future__ import annotations

from collections.abc import Iterator
from math import hypot
from struct import pack, unpack

import pytest
from things import LATER, a_node, whole_passages

from pylore.core.errors import StoreError
from pylore.core.text import parse_query
from pylore.core.vocabulary import CODE, NAMES, TEXTS
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
        keys = store.nodes.new_passages(whole_passages([*TEXT], TEXTS))
        store.fulltext.add(
            TEXTS,
            [(key, *text, "", "", "") for key, text in zip(keys, TEXT.values(), strict=True)],
        )
        yield store


def found(store: Store, text: str, how: str, scope: Scope = ANY, limit: int = 9) -> str:
    query = parse_query(text)
    rows = store.fulltext.search(TEXTS, query, how, scope, WEIGHTS, limit)
    scores = [score for _, _, score in rows]
    assert scores == sorted(scores, reverse=True)
    keys = store.nodes.first_passages([id for _, id, _ in rows])
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
        ("or", "prefix", ""),  # too short
        ("ZURICH", "some", "c"),  # neither case nor accents count
        ("zürich", "some", "c"),
    ],
)
def test_how_strict_a_match_is(text: str, how: str, expected: str, store: Store) -> None:
    assert " ".join(sorted(found(store, text, how).split())) == expected


def test_what_matches_better_comes_first(store: Store) -> None:
    assert found(store, "tokens", "some") == "a b"
    assert found(store, "tokens", "some", limit=1) == "a"
    assert found(store, "replica queries reads limited", "some") == "c b"


def test_only_the_scope_counts_for_the_limit(store: Store) -> None:
    assert found(store, "tokens", "some", Scope().without(frozenset(["note-a"])), 1) == "b"
    assert found(store, "tokens", "some", Scope(types=("decision",))) == ""
    assert found(store, "tokens", "some", Scope(types=("note",), since=LATER)) == "a b"


def test_equal_ones_come_in_the_order_of_their_keys(store: Store) -> None:
    ids = ["note-z", "note-y", "note-x"]
    for id in ids:
        store.nodes.put(a_node(id))
    keys = store.nodes.new_passages(whole_passages(ids, TEXTS))
    store.fulltext.add(TEXTS, [(key, "", "zebra", "", "", "") for key in reversed(keys)])
    assert found(store, "zebra", "some") == "z y x"
    assert found(store, "zebra", "some", limit=2) == "z y"
    store.vectors.add([(key, vector(1, 1)) for key in reversed(keys)])
    rows = store.vectors.search(vector(1, 1), ANY, 9)
    assert [row[0] for row in rows] == keys
    assert [id for id, _ in store.vectors.of_nodes(["note-x", "note-z"])] == ["note-x", "note-z"]


def test_a_word_is_found_in_any_field(store: Store) -> None:
    fields = ("title", "body", "tags", "file", "parts")
    ids = [f"note-{name}" for name in fields]
    for id in ids:
        store.nodes.put(a_node(id))
    keys = store.nodes.new_passages(whole_passages(ids, TEXTS))
    for key, field in zip(keys, fields, strict=True):
        a, b, c, d, e = ("zebra" if name == field else "other" for name in fields)
        store.fulltext.add(TEXTS, [(key, a, b, c, d, e)])
    assert sorted(found(store, "zebra", "some").split()) == sorted(fields)


def test_a_removed_passage_is_found_no_more(store: Store) -> None:
    ((key, collection),) = store.nodes.passages(["note-a"])
    assert store.fulltext.body(key) == TEXT["note-a"][1]
    title, everything = store.fulltext.indexed(key)
    assert title == "Signed tokens" and "Signed tokens Sessions are" in everything
    store.fulltext.remove(collection, [key])
    store.nodes.remove_passages([key])
    assert found(store, "tokens", "some") == "b"
    assert store.fulltext.body(key) == "" and store.fulltext.indexed(key) == ("", "")


def test_a_collection_is_one_of_its_own(store: Store) -> None:
    assert store.fulltext.collections() == [TEXTS]
    store.nodes.put(a_node("symbol-f"))
    (key,) = store.nodes.new_passages(whole_passages(["symbol-f"], CODE))
    store.fulltext.add(CODE, [(key, "tokens", "tokens", "", "", "")])
    assert found(store, "tokens", "some") == "a b"
    rows = store.fulltext.search(CODE, parse_query("tokens"), "some", Scope(), WEIGHTS, 9)
    assert [row[:2] for row in rows] == [(key, "symbol-f")]
    assert set(store.fulltext.collections()) == {TEXTS, CODE}
    assert store.fulltext.collections(Scope(types=("note",))) == [TEXTS]
    assert NAMES not in store.fulltext.collections(Scope(types=("file",)))


def test_texts_and_frequencies_of_passages(store: Store) -> None:
    (key, _), (other, _) = store.nodes.passages(["note-a", "note-b"])
    texts = store.fulltext.texts([key, other, 999])
    assert texts == {one: store.fulltext.indexed(one)[1] for one in (key, other)}
    count, having = store.fulltext.frequencies(["tokens", "zurich", "xyzzy"])
    assert (count, having) == (4, {"tokens": 2, "zurich": 1, "xyzzy": 0})
    store.nodes.put(a_node("symbol-f"))
    (key,) = store.nodes.new_passages(whole_passages(["symbol-f"], CODE))
    store.fulltext.add(CODE, [(key, "tokens", "tokens", "", "", "")])
    assert store.fulltext.frequencies(["tokens"])[1]["tokens"] == 3, "of all collections"


def test_an_index_made_anew_is_empty(store: Store) -> None:
    engine = store.fulltext.engine
    store.fulltext.renew("auto")
    assert store.fulltext.engine == engine and found(store, "tokens", "some") == ""
    with pytest.raises(StoreError):
        store.fulltext.renew("none")


# --- vectors


def vector(*values: float) -> bytes:
    numbers = [*values, *[0.5] * (8 - len(values))]
    length = hypot(*numbers)
    return pack("<8f", *[number / length for number in numbers])


@pytest.fixture
def embedded(store: Store) -> Store:
    keys = [key for key, _ in store.nodes.passages([*TEXT])]
    store.vectors.add(
        zip(keys, (vector(1, 1), vector(1, -1), vector(-1, -1), vector(0.9, 0.8)), strict=True)
    )
    return store


def near(store: Store, scope: Scope = ANY, limit: int = 9) -> str:
    rows = store.vectors.search(vector(1, 1), scope, limit)
    cosines = [cosine for _, _, cosine in rows]
    assert cosines == sorted(cosines, reverse=True)
    assert all(-1.001 <= cosine <= 1.001 for cosine in cosines)
    return " ".join(id.removeprefix("note-") for _, id, _ in rows)


def test_the_nearest_come_first(embedded: Store) -> None:
    assert near(embedded) == "a d b c"
    assert near(embedded, limit=2) == "a d"
    assert near(embedded, Scope().without(frozenset(["note-a"])), 2) == "d b"
    assert near(embedded, Scope(types=("decision",))) == ""


def test_vectors_by_passage_and_by_node(embedded: Store) -> None:
    keys = [key for key, _ in embedded.nodes.passages([*TEXT])]
    held = list(embedded.vectors.of_nodes(["note-b", "note-a", "note-none"]))
    assert [id for id, _ in held] == ["note-b", "note-a"]
    for (_, found), wanted in zip(held, (vector(1, -1), vector(1, 1)), strict=True):
        assert unpack("<8f", found) == pytest.approx(unpack("<8f", wanted), abs=0.01), "rounded"
    cosines = embedded.vectors.cosines([keys[1], keys[0], keys[0], 999])
    assert cosines == {(keys[0], keys[1]): pytest.approx(1.5 / 3.5, abs=0.01)}
    embedded.vectors.remove(keys[:1])
    assert near(embedded) == "d b c"


def test_next_vectors_replace_those_in_use(embedded: Store) -> None:
    vectors = embedded.vectors
    keys = [key for key, _ in embedded.nodes.passages([*TEXT])]
    assert (vectors.count_passages(), vectors.count_lacking(next=True)) == (4, 4)
    assert (vectors.count_lacking(), vectors.dimension_of_next()) == (0, 0)
    vectors.add([(key, vector(-1, -1)) for key in keys[:3]], next=True)
    assert vectors.dimension_of_next() == 8
    assert vectors.lacking(0, 9, next=True) == [(keys[3], "Nothing lorem ipsum dolor")]
    assert vectors.lacking(keys[3], 9, next=True) == []
    vectors.remove([keys[0]])
    assert [key for key, _ in vectors.lacking(0, 9, next=True)] == [keys[0], keys[3]]
    assert [key for key, _ in vectors.lacking(0, 1, next=True)] == [keys[0]]
    assert [key for key, _ in vectors.lacking(0, 9)] == [keys[0]]
    assert vectors.lacking(0, 9)[0][1] == "Signed tokens " + TEXT["note-a"][1]
    vectors.add([(keys[0], None)], next=True)
    vectors.add([(key, vector(1, 1)) for key in keys[1:]], next=True)
    assert vectors.count_lacking(next=True) == 0, "a passage without words lacks nothing"
    assert near(embedded) == "d b c"
    vectors.take_next()
    assert vectors.count_lacking() == 0 and vectors.count_lacking(next=True) == 4
    assert [row[2] for row in vectors.search(vector(1, 1), Scope(), 9)] == [
        pytest.approx(1.0, abs=1e-6)
    ] * 3


def test_passages_are_compared_up_to_the_first_that_changed(embedded: Store) -> None:
    embedded.vectors.clear()
    passages = embedded.vectors.lacking(0, 9)
    assert embedded.vectors.unchanged(passages) == 4
    passages[2] = (passages[2][0], "another text")
    assert embedded.vectors.unchanged(passages) == 2
    assert embedded.vectors.unchanged([(999, "")]) == 0


def test_the_last_vector_is_known_and_what_comes_after(embedded: Store) -> None:
    keys = [key for key, _ in embedded.nodes.passages([*TEXT])]
    assert embedded.vectors.last() == keys[-1]
    assert embedded.vectors.nodes_after(keys[1]) == ["note-c", "note-d"]
    embedded.vectors.clear()
    assert embedded.vectors.last() == 0


def test_having_a_phrase_anywhere_or_in_the_title(store: Store) -> None:
    assert store.fulltext.having(TEXTS, "tokens") == {"note-a", "note-b"}
    assert store.fulltext.having(TEXTS, "tokens", titled=True) == {"note-a"}
    assert store.fulltext.having(TEXTS, "tokens in a") == {"note-a"}
    assert store.fulltext.having(TEXTS, "tokens cookie") == set()


def test_some_words_or_those_that_begin_so(store: Store) -> None:
    query = parse_query("repl limits")
    query.beginnings = ("repl",)
    rows = store.fulltext.search(TEXTS, query, "begins", ANY, WEIGHTS, 9)
    assert {id for _, id, _ in rows} == {"note-b", "note-c"}
