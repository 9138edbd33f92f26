"""Fusion and decay, against their formulas."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pylore.core.scoring import convex, recency, rrf

IDS = st.sampled_from("abcdefgh")
MIN = 0.25


def leg(scores: st.SearchStrategy[float]) -> st.SearchStrategy[dict[str, float]]:
    """Id to score, best first."""
    return st.dictionaries(IDS, scores, max_size=8).map(
        lambda found: dict(sorted(found.items(), key=lambda item: -item[1]))
    )


FULLTEXT = leg(st.floats(1e-6, 100))
VECTOR = leg(st.floats(MIN, 1))
SHARE = st.floats(0, 1)


def fused(
    fulltext: dict[str, float], vector: dict[str, float], share: float = 0.7
) -> dict[str, float]:
    legs = {"fulltext": fulltext, "vector": vector}
    return convex(legs, {"fulltext": share, "vector": 1 - share}, MIN)


def test_rrf_by_hand() -> None:
    legs = {"fulltext": {"a": 9.0, "b": 3.0, "c": 1.0}, "vector": {"c": 0.9, "a": 0.5}}
    assert rrf(legs, 60) == pytest.approx({"a": 1 / 61 + 1 / 62, "b": 1 / 62, "c": 1 / 63 + 1 / 61})
    assert rrf(legs, 1) == pytest.approx({"a": 1 / 2 + 1 / 3, "b": 1 / 3, "c": 1 / 4 + 1 / 2})
    assert rrf({}, 60) == rrf({"fulltext": {}}, 60) == {}


def test_convex_by_hand() -> None:
    scores = fused({"a": 8.0, "b": 2.0}, {"b": 0.75, "c": 0.5})
    assert scores == pytest.approx({"a": 0.7, "b": 0.7 * 0.25 + 0.3, "c": 0.3 * 0.5})


@given(FULLTEXT, VECTOR, SHARE)
def test_scores_are_between_0_and_1(
    fulltext: dict[str, float], vector: dict[str, float], share: float
) -> None:
    scores = fused(fulltext, vector, share)
    assert scores.keys() == fulltext.keys() | vector.keys()
    assert all(0 <= score <= 1 + 1e-9 for score in scores.values())


def test_recency_by_hand() -> None:
    assert [recency(days, 90) for days in (0, 7, 97, 187, 277)] == [1, 1, 0.5, 0.25, 0.125]
    assert recency(97, 30) == 0.125
    assert recency(-5, 90) == 1, "a clock that was ahead makes nothing fresher than now"
    assert recency(89.99, 90) == recency(89, 90), "whole days count"
