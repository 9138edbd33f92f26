"""Full text over many passages, where a thousand are many: what is found, what is left out."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from new_stores import new_store
from samples import examples
from sqlite_stores import connection_of

from pylore.core import scoring as tuning
from pylore.core.model import Node
from pylore.core.text import Query, parse_query
from pylore.search.legs import FIELD_WEIGHTS
from pylore.store import open_store
from pylore.store.filter import Scope
from pylore.store.rare_terms import CommonWords, RareFirst, _Ask
from pylore.store.store import Store

WEIGHTS = FIELD_WEIGHTS
PASSAGES = 3_000
NODES = 30
WORDS = [f"w{number}" for number in range(2_000)]
"""The first of them are in every fifth passage or so, the last in some ten of them."""
CHANCES = [1 / (40 + rank) for rank in range(len(WORDS))]
QUERIES = st.lists(
    st.sampled_from([*WORDS[:30], *WORDS[30::90]]), min_size=1, max_size=9, unique=True
)

AS_THEY_ARE = {name: value for name, value in vars(tuning).items() if name.isupper()}

Rows = list[tuple[int, str, float]]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store that takes itself for a large one."""
    folder = tmp_path_factory.mktemp("large")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "LARGE": 1_000, "COMMON": 40, "COUNTED_AFTER": 100, "FEW_OF_A_WORD": 60, "WORTH_IT": 2,
            "WORDS": 4, "QUICKLY_COUNTED": 900,
        }.items():  # fmt: skip
            patch.setattr(tuning, name, value)
        new_store(str(folder))
        with open_store(str(folder)) as store:
            assert isinstance(store, Store)
            fill(store)
            yield store


def fill(store: Store) -> None:
    chance = random.Random(5)
    ids = [f"note-{number}" for number in range(NODES)]
    with store.transaction():
        for id in ids:
            store.nodes.put(Node(id, "note", title=id, tags=("few",) if id == "note-7" else ()))
        for _start in range(0, PASSAGES, 500):
            keys = store.nodes.new_passages(chance.choices(ids, k=500), "texts")
            store.fulltext.add("texts", [(key, *texts(chance)) for key in keys])


def texts(chance: random.Random) -> tuple[str, str, str, str, str]:
    body = chance.choices(WORDS, CHANCES, k=chance.randrange(3, 60))
    return " ".join(chance.choices(WORDS, k=2)), " ".join(body), "", "", ""


def asked(store: Store, query: Query, how: str = "some", scope: Scope | None = None) -> Rows:
    return store.fulltext.search("texts", query, how, scope or Scope(), WEIGHTS, 40)


def ranked_whole(store: Store, query: Query, how: str = "some", scope: Scope | None = None) -> Rows:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "LARGE", PASSAGES + 1)
        return store.fulltext.search("texts", query, how, scope or Scope(), WEIGHTS, PASSAGES)


def spied(patch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each search from now on leaves some out."""
    left_out: list[bool] = []
    search = RareFirst.search

    def noted(*arguments: object) -> object:
        found = search(*arguments)  # type: ignore[arg-type]
        left_out.append(found is not None)
        return found

    patch.setattr(RareFirst, "search", noted)
    return left_out


@given(QUERIES)
def test_what_is_found_has_the_score_it_has_among_all(store: Store, chosen: list[str]) -> None:
    query = parse_query(" ".join(chosen))
    whole = {key: score for key, _, score in ranked_whole(store, query)}
    for key, _, score in asked(store, query)[:10]:
        assert score == pytest.approx(whole[key], rel=0.1), "words are counted ahead"


def test_most_of_the_first_ten_are_those_of_all(store: Store) -> None:
    chance, shares = random.Random(7), []
    for _ in range(100):
        chosen = chance.sample([*WORDS[:30], *WORDS[30::90]], chance.randrange(1, 10))
        query = parse_query(" ".join(chosen))
        whole = [score for _, _, score in ranked_whole(store, query)[:10]]
        found = [score for _, _, score in asked(store, query)[:10]]
        assert len(found) == len(whole)
        shares.append(sum(found) / sum(whole) if whole else 1.0)
    assert min(shares) > 0.75 and sum(shares) / len(shares) > 0.97


def test_a_question_with_a_rare_word_leaves_passages_out(store: Store) -> None:
    query = parse_query("w0 w1 w2 w3 w1990 w1999")
    with pytest.MonkeyPatch.context() as patch:
        left_out = spied(patch)
        found = asked(store, query)
    assert left_out == [True]
    assert [key for key, _, _ in found[:10]] == [
        key for key, _, _ in ranked_whole(store, query)[:10]
    ]


def test_common_words_alone_are_found_where_several_of_them_are(store: Store) -> None:
    query = parse_query("w0 w1 w2 w3 w4")
    with pytest.MonkeyPatch.context() as patch:
        left_out = spied(patch)
        found = asked(store, query)
    whole = ranked_whole(store, query)
    assert left_out == [True]
    assert found[0][0] == whole[0][0]
    assert len({key for key, _, _ in found[:10]} & {key for key, _, _ in whole[:10]}) > 5


@pytest.mark.parametrize("most,by_fts5", [(10_000, True), (0, False)])
def test_what_is_quickly_counted_is_ranked_by_fts5(
    most: int, by_fts5: bool, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = parse_query("w0 w1 w2 w3 w1990 w1999")
    whole = {key: score for key, _, score in ranked_whole(store, query)}
    monkeypatch.setattr(tuning, "QUICKLY_COUNTED", most)
    store.connection.execute("SAVEPOINT before")
    try:
        store.connection.execute("UPDATE common_words SET passages = passages * 2 WHERE word <> ''")
        found = asked(store, query)[:10]
    finally:
        store.connection.execute("ROLLBACK TO before")
        store.connection.execute("RELEASE before")
    exact = [score == pytest.approx(whole[key]) for key, _, score in found]
    assert all(exact) is by_fts5, "with the counts of the table they are others"


@pytest.mark.parametrize(
    "passages,having,left_out",
    [
        (20_000, 5_000, True),
        (19_999, 5_000, False),
        (20_000, 1_334, True),  # three words: 2 · 250 · 8 passages are not enough to be worth it
        (20_000, 1_333, False),
    ],
)
def test_when_passages_are_left_out(
    passages: int, having: int, left_out: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("LARGE", "WORTH_IT", "FEW_OF_A_WORD", "WORDS"):
        monkeypatch.setattr(tuning, name, AS_THEY_ARE[name])
    monkeypatch.setattr(_Ask, "size", lambda *_: (passages, 30.0))
    monkeypatch.setattr(CommonWords, "passages_with", lambda *_: having)
    new_store(str(tmp_path)).close()
    with open_store(str(tmp_path)) as store:
        found = RareFirst(connection_of(store)).search(
            "texts", "texts_fts", ['"a"', '"b"', '"c"'], (1.0,) * 5, ("", []), 10, 0
        )
    assert (found is not None) is left_out


@pytest.mark.parametrize("having,by_fts5", [(33_333, True), (33_334, False)])
def test_how_many_are_quickly_counted(
    having: int, by_fts5: bool, monkeypatch: pytest.MonkeyPatch, store: Store
) -> None:
    monkeypatch.setattr(tuning, "QUICKLY_COUNTED", AS_THEY_ARE["QUICKLY_COUNTED"])
    monkeypatch.setattr(_Ask, "size", lambda *_: (1_000_000, 30.0))
    monkeypatch.setattr(CommonWords, "passages_with", lambda *_: having)
    ways: set[bool] = set()

    def noted(_: object, groups: object, weights: tuple[float, ...] = ()) -> Rows:
        ways.add(bool(weights))
        return []

    monkeypatch.setattr(_Ask, "ranked", noted)
    query = ['"w0"', '"w1"', '"w2"']
    RareFirst(store.connection).search("texts", "texts_fts", query, (1.0,) * 5, ("", []), 10, 0)
    assert ways == {by_fts5}


@pytest.mark.parametrize("how", ["inflected", "prefix"])
def test_the_other_ways_to_match_find_all_that_they_found(store: Store, how: str) -> None:
    for text in ("w0 w1", "w3 w8 w20", "w1999", "w1 nowhere"):
        query = parse_query(text)
        whole = ranked_whole(store, query, how)[:40]
        found = asked(store, query, how)
        assert [key for key, _, _ in found[:10]] == [key for key, _, _ in whole[:10]]


def test_a_narrow_scope_hides_none_that_is_within(store: Store) -> None:
    query, scope = parse_query("w0 w1 w2 w3 w1999"), Scope(tags=("few",))
    whole = ranked_whole(store, query, scope=scope)
    assert {id for _, id, _ in whole} == {"note-7"}
    found = asked(store, query, scope=scope)
    assert [key for key, _, _ in found[:10]] == [key for key, _, _ in whole[:10]]
    assert len(found) == min(40, len(whole))


def test_words_that_are_nowhere_find_nothing_and_hide_nothing(store: Store) -> None:
    assert asked(store, parse_query("nowhere neverseen")) == []
    query = parse_query("nowhere w0 w1 w2 w1998 w1999")
    found = [key for key, _, _ in asked(store, query)[:10]]
    assert found == [key for key, _, _ in ranked_whole(store, query)[:10]]


def test_common_words_are_counted_when_many_have_come_in(store: Store) -> None:
    db = connection_of(store)
    rows = db.execute("SELECT word, passages FROM common_words WHERE collection = 'texts'")
    counted: dict[str, int] = dict(rows)
    then = counted.pop("")
    assert 1_000 <= then <= PASSAGES and "w0" in counted and "w1999" not in counted
    having = db.execute("SELECT count(*) FROM texts_fts WHERE texts_fts MATCH 'w0'").get
    assert counted["w0"] * PASSAGES / then == pytest.approx(having, rel=0.1)


def test_a_common_word_that_was_never_counted_is_found_all_the_same(store: Store) -> None:
    query = parse_query("w0 w1 w2 w3 w1999")
    wanted = [key for key, _, _ in ranked_whole(store, query)[:10]]
    db = connection_of(store)
    db.execute("SAVEPOINT before")
    try:
        db.execute("DELETE FROM common_words")
        assert [key for key, _, _ in asked(store, query)[:10]] == wanted
    finally:
        db.execute("ROLLBACK TO before")
        db.execute("RELEASE before")


@settings(max_examples=examples(10))
@given(st.lists(st.integers(1, PASSAGES), min_size=1, max_size=200, unique=True))
def test_what_was_taken_out_is_not_found(store: Store, keys: list[int]) -> None:
    query = parse_query("w0 w1 w2 w1999")
    db = connection_of(store)
    db.execute("SAVEPOINT before")
    try:
        store.fulltext.remove("texts", keys)
        found = {key for key, _, _ in asked(store, query)}
        assert found and found.isdisjoint(keys)
    finally:
        db.execute("ROLLBACK TO before")
        db.execute("RELEASE before")


def test_an_index_made_anew_counts_anew(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "LARGE", 50)
        patch.setattr(tuning, "COMMON", 20)
        patch.setattr(tuning, "COUNTED_AFTER", 60)
        new_store(str(tmp_path))
        with open_store(str(tmp_path)) as store, store.transaction():
            counted = "SELECT count(*) FROM common_words"
            row = ("", "everywhere", "", "", "")
            store.fulltext.add("texts", [(key, *row) for key in range(1, 61)])
            assert connection_of(store).execute(counted).get == 2
            store.fulltext.renew("auto")
            assert connection_of(store).execute(counted).get == 0
