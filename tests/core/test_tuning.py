"""What the numbers of ``pylore/core/scoring.py`` do: each test fails where one is another."""

from __future__ import annotations

import pytest

from pylore.core.scoring import convex, feedback, relevance
from pylore.core.text import parse_query, stem
from pylore.indexing.indexer import passages


def test_a_best_cosine_below_a_half_is_no_full_score() -> None:
    best = {cosine: convex({"vector": {"a": cosine}}, {"vector": 1}, 0.25)["a"]
            for cosine in (0.3, 0.45, 0.5, 0.9)}  # fmt: skip
    assert best == pytest.approx({0.3: 0.2, 0.45: 0.8, 0.5: 1.0, 0.9: 1.0})


def test_however_often_it_is_read_a_record_counts_twice_a_plain_one_at_most() -> None:
    assert relevance(1.9, 1) == 1.9
    assert relevance(2.1, 1) == relevance(1000, 1) == 2


def test_the_first_ratings_stand_beside_two_that_say_nothing() -> None:
    assert [feedback(1, 1), feedback(2, 2), feedback(8, 8)] == pytest.approx([2 / 3, 3 / 4, 0.9])
    assert feedback(5, 10) == 0.5, "as many say that it helped as that it did not"


def test_the_200_first_words_of_a_query_are_asked_for() -> None:
    query = parse_query(" ".join(f"w{number}" for number in range(203)))
    assert (len(query.terms), query.cut) == (200, 3)


def test_a_passage_has_200_words() -> None:
    found = passages("word " * 450)
    assert [len(passage.split()) for passage in found] == [200, 200, 50]
    assert passages("a " * 199 + "b") == ["a " * 199 + "b"]


def test_a_stem_lacks_two_letters_and_has_three() -> None:
    assert [stem(word) for word in ("caching", "cache", "keys", "key", "id")] == [
        "cachi", "cac", "key", "key", "id",
    ]  # fmt: skip
