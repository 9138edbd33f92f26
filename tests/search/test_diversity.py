"""Spreading results that repeat each other: the order by itself, and in a search."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from new_stores import new_store
from searching import look

from pylore.core.model import Hit
from pylore.core.settings import Settings
from pylore.embed.static import StaticEmbedder
from pylore.records.records import Records
from pylore.search.legs import Matches
from pylore.search.rank import SAME_CATEGORY, TOP, diversify, mmr
from pylore.store import Store

SCORES = st.lists(st.floats(0, 1), max_size=12).map(lambda scores: sorted(scores, reverse=True))
WEIGHT = st.floats(0, 1)


@given(SCORES, WEIGHT)
def test_list_without_repeats_is_unchanged(scores: list[float], weight: float) -> None:
    assert mmr(scores, {}, weight) == [*range(len(scores))]


@given(SCORES, st.randoms(), WEIGHT)
def test_category_is_capped_while_others_remain(
    scores: list[float], chance: Random, weight: float
) -> None:
    places = range(len(scores))
    categories = [chance.choice((None, "auth", "web")) for _ in places]
    repeats = {(i, j): chance.random() for i in places for j in places[i + 1 :]}
    order = mmr(scores, repeats, weight, categories)
    for at, place in enumerate(order[:TOP]):
        before = [categories[i] for i in order[:at]]
        if categories[place] and before.count(categories[place]) >= SAME_CATEGORY:
            left = [categories[i] for i in order[at:]]
            assert all(name and before.count(name) >= SAME_CATEGORY for name in left)


def test_repeats_move_down() -> None:
    # 0.7 · 0.9 − 0.3 · 1 = 0.33 lies between 0.7 · 0.5 and 0.7 · 0.4
    assert mmr([1.0, 0.9, 0.5, 0.4], {(0, 1): 1.0}, 0.7) == [0, 2, 1, 3]
    assert mmr([0.5, 0.45, 0.25, 0.2], {(0, 1): 1.0}, 0.7) == [0, 2, 1, 3]  # relative scores


def kinds(store: Store, query: str, **flags: str) -> str:
    """Return the last letters of the results: the categories of ``several``."""
    hits = look(store, query, embedder=StaticEmbedder(), **flags)
    return "".join(hit.id[-1] for hit in hits)


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Distinct texts, most of a single category; some with tags instead."""
    with new_store(str(tmp_path_factory.mktemp("categories"))) as store:
        records = Records(store, Settings(), None)
        for number in range(6):
            text = "retry " * (9 - number) + f"after{number}"
            records.add("note", text, id=f"note-{number}a", category="a")
        records.add("note", "retry once of a second category", id="note-6b", category="b")
        records.add("note", "wait and retry by tag", id="note-7c", tags=("other", "c"))
        yield store


def test_categories_are_capped_in_a_search(several: Store) -> None:
    assert kinds(several, "retry", mmr_lambda="1") == "aaaaaabc"
    assert kinds(several, "retry") == "aabcaaaa"
    assert kinds(several, "retry", category_tags="d c") == "aabcaaaa"


@pytest.mark.parametrize(("type", "order"), [("note", "acb"), ("symbol", "abc")])
def test_repeats_go_down_except_in_code(tmp_path: Path, type: str, order: str) -> None:
    with new_store(str(tmp_path)) as store:
        records = Records(store, Settings(), StaticEmbedder())
        for id, text in (("a", "pool runs empty"), ("b", "pool runs empty"), ("c", "winter tyres")):
            records.add(type, text, id=f"{type}-{id}", title=text)
        hits = [Hit(f"{type}-{id}", score) for id, score in (("a", 1.0), ("b", 0.9), ("c", 0.8))]
        found = Matches()
        found.legs["vector"] = {hits[0].id: 1.0}
        found.passage = store.fulltext.first_passages([hit.id for hit in hits])
        spread = diversify(store, Settings(), hits, found)
    assert "".join(hit.id[-1] for hit in spread) == order
