"""Relevance: the effect of confidence, source, accesses and status on a score."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from new_stores import new_store
from searching import look

from pylore.core.model import Hit
from pylore.core.settings import Settings
from pylore.core.vocabulary import SOURCES, STATUSES
from pylore.records.records import Records
from pylore.search.legs import MOST_RELEVANT, RELEVANCE_WEIGHT, in_order, relevance, set_standing
from pylore.store import Store
from pylore.store.filter import Scope

Standing = tuple[float, str, str, int]

STANDINGS = st.tuples(
    st.floats(0, 1), st.sampled_from(SOURCES), st.sampled_from(STATUSES), st.integers(0, 1_000_000)
)


@given(STANDINGS)
def test_a_score_moves_by_at_most_the_weight(standing: Standing) -> None:
    assert 0 <= relevance(standing, Settings()) <= MOST_RELEVANT
    hit = Hit("note-1")
    set_standing(hit, Settings(), 0, standing)
    assert abs(hit.standing["relevance"] - 1) <= RELEVANCE_WEIGHT + 1e-12


def test_nearer_hit_wins_a_tie() -> None:
    hits = [Hit(id, 0.5) for id in ("note-2", "note-1", "note-0")]
    hits[2].hops = 1
    assert [hit.id[-1] for hit in in_order(hits)] == ["1", "2", "0"]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Notes that match alike, and stand differently."""
    folder: Path = tmp_path_factory.mktemp("relevance")
    with new_store(str(folder)) as store:
        records = Records(store, Settings(), None)
        records.add("note", "tokens expire", id="note-a", source="conversation")
        records.add("note", "tokens expire", id="note-b", source="file")
        records.add("note", "tokens expire", id="note-c", confidence=0.5)
        for key, status in zip("defg", ("", "superseded", "retracted", ""), strict=True):
            records.add("note", "tokens expire", id=f"note-{key}", status=status or None)
        records.link("note-b", "relates_to", "note-f")
        records.link("note-f", "relates_to", "note-g")
        records.add("note", "a cookie", id="note-cookie")
        records.link("note-cookie", "supersedes", "note-e")
        yield store


def found(store: Store, query: str = "tokens", scope: Scope | None = None, **flags: object) -> str:
    hits = look(store, query, scope, retrievers="fulltext", **flags)
    return " ".join(hit.id[5:] for hit in hits)


def test_near_equals_are_ordered_by_relevance(store: Store) -> None:
    assert found(store) == "d g b c a"
    assert found(store, limit=2) == "d g", "what stands better comes in from past the limit"


def test_superseded_records_only_on_request(store: Store) -> None:
    assert found(store, scope=Scope(statuses=("retracted", "superseded"))) == "e f"
    assert found(store, scope=Scope(statuses=("staged",))) == "a"
    everything = found(store, scope=Scope(statuses=STATUSES))
    assert sorted(everything.split()) == ["a", "b", "c", "d", "e", "f", "g"]


@pytest.mark.parametrize("expansion", ["accumulate", "best-path"])
def test_the_walk_does_not_enter_them(store: Store, expansion: str) -> None:
    assert found(store, "cookie", graph_depth=2, expansion=expansion) == "cookie"
    asked = Scope(statuses=("confirmed", "superseded"))
    assert found(store, "cookie", asked, graph_depth=1, expansion=expansion) == "cookie e"


def test_accesses_lift_within_the_maximum(store: Store) -> None:
    store.connection.execute("SAVEPOINT read")
    store.review.count_access(["note-g"] * 1, "2026-01-01T00:00:00Z")
    hits = list(look(store, "tokens", retrievers="fulltext"))
    store.connection.execute("ROLLBACK TO read")
    assert [hit.id for hit in hits][:2] == ["note-g", "note-d"]
    assert hits[0].score == 1 == hits[1].score, "in order, and none above 1"
