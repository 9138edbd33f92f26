"""The pipeline of a search, on a small store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from new_stores import new_store
from samples import examples
from searching import ids
from searching import look as look_in

from pylore.core.model import Hits
from pylore.core.settings import Settings
from pylore.embed.static import StaticEmbedder
from pylore.records.records import Records
from pylore.store import Store
from pylore.store.filter import Scope

SESSIONS = "decision-sessions"  # anchored to src/auth.py
LIMITS = "decision-limits"  # also anchored to src/auth.py, with different words
REPLICA = "decision-replica"  # anchored to src/db.py
KEYS = "lesson-keys"  # learned from OUTAGE, relates to SESSIONS
OUTAGE = "failure-outage"
AUTH, DB = "file-src/auth.py", "file-src/db.py"
POSTGRES, BILLING = "entity-postgresql", "entity-billing"
LOREM = "lorem ipsum dolor sit amet "
LONG = "doc-handbook"  # 1,000 words, with "zucchini" in the middle

NODES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    (SESSIONS, "Sessions are signed tokens, kept in a cookie", {"tags": ["auth", "web"]}),
    (LIMITS, "Requests above sixty a minute are refused", {"tags": ["web"]}),
    (REPLICA, "Reading queries go to a replica of the database", {"why": "overloaded primary"}),
    (KEYS, "Rotate the keys that sign tokens before they expire", {"tags": ["auth"]}),
    (OUTAGE, "All logins failed for an hour on a Sunday", {}),
    (LONG, f"{LOREM * 100}the zucchini harvest {LOREM * 130}", {"title": "The handbook"}),
)
FILES = {SESSIONS: "src/auth.py", LIMITS: "src/auth.py", REPLICA: "src/db.py:10-20"}
LINKS = (
    (KEYS, "relates_to", SESSIONS),
    (KEYS, "learned_from", OUTAGE),
    (SESSIONS, "contradicts", LIMITS),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with new_store(str(tmp_path_factory.mktemp("search"))) as store:
        records = Records(store, Settings(), StaticEmbedder(), "/project")
        for id, text, fields in NODES:
            records.add(id.partition("-")[0], text, id=id, file=FILES.get(id), **fields)
        for link in LINKS:
            records.link(*link)
        records.unlink(SESSIONS, "contradicts", LIMITS)
        records.fact("Billing", "reads from", "PostgreSQL")
        records.link(POSTGRES, "relates_to", REPLICA)
        yield store


class Lookup:
    """Searches of the store with ``expansion=best-path``."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(self, query: str, **given: Any) -> Hits:
        given = {"expansion": "best-path", **given}
        return look_in(self._store, query, embedder=StaticEmbedder(), **given)

    def words(self, query: str, **given: Any) -> Hits:
        """Search by full text only."""
        return self(query, retrievers="fulltext", **given)


@pytest.fixture(scope="module")
def look(store: Store) -> Lookup:
    return Lookup(store)


def direct(hits: Hits) -> list[str]:
    return [hit.id for hit in hits if hit.hops == 0]


@pytest.mark.parametrize(
    ("query", "there", "not_there"),
    [
        ("tokens", {SESSIONS, KEYS}, {LONG}),
        ('"sign tokens"', {KEYS}, {SESSIONS}),
        ("tokens -cookie", {KEYS}, {SESSIONS}),
        ("requests cook*", {SESSIONS, LIMITS}, {LONG}),
        ("tokens title:rotate", {KEYS}, {SESSIONS}),
        ("tokens tag:web", {SESSIONS}, {KEYS}),
        ("tokens type:lesson", {KEYS}, {SESSIONS}),
        ("harvest title:zucchini", set(), {LONG}),
    ],
)
def test_operators_hold_for_every_leg(
    look: Lookup, query: str, there: set[str], not_there: set[str]
) -> None:
    for found in (look(query, operators=True), look.words(query, operators=True)):
        assert there <= {*direct(found)} and not_there.isdisjoint(direct(found))


def test_unknown_type_and_tag_are_words_and_named(look: Lookup) -> None:
    hits = look.words("tokens type:string tag:nope", operators=True)
    assert {SESSIONS, KEYS} <= {*direct(hits)}
    assert any("no type 'string'" in note for note in hits.notes)
    assert any("the tag 'nope'" in note for note in hits.notes)
    hits = look.words("tokens", scope=Scope(tags=("webb",)))
    assert "no record has the tag 'webb' (did you mean 'web'?)" in hits.notes


def test_prefixes_match_without_words(look: Lookup) -> None:
    hits = look.words("zucch")
    assert {hit.id: hit.match for hit in hits} == {LONG: "prefix"}
    assert hits.notes == ["no record has these words; showing those with words that begin so"]


def test_meaning_matches_without_words(look: Lookup) -> None:
    hits = look("credentials")
    assert [(hit.id, hit.match, hit.weak) for hit in hits] == [(AUTH, "meaning", True)]
    assert hits.notes == ["these results are weak: the store may have nothing on this"]
    assert hits[0].bm25_score is None and hits[0].vector_score is not None


@pytest.mark.parametrize(
    ("query", "id"),
    [
        ("replica overloaded", REPLICA),  # the reason
        ("database db.py", REPLICA),  # the file
        ("postgresql", POSTGRES),  # a title
        ("handbook zucchini", LONG),  # a title and a passage
        ("it's the KEYS!", KEYS),
        ("LoginsFailed", OUTAGE),
    ],
)
def test_every_part_of_a_record_is_found(look: Lookup, query: str, id: str) -> None:
    assert ids(look.words(query))[0] == id


def test_filter_expanded_restricts_everything(look: Lookup) -> None:
    scope = Scope(tags=("auth",))
    hits = look.words("cookie", scope=scope, graph_depth=2)
    assert set(ids(hits)) == {SESSIONS, KEYS, AUTH, LIMITS, OUTAGE}
    hits = look.words("cookie", scope=scope, graph_depth=2, filter_expanded=True)
    assert set(ids(hits)) == {SESSIONS, KEYS}
    only = Scope(types=("lesson",))
    assert ids(look.words("logins failed", scope=only, graph_depth=1, filter_expanded=True)) == []


def test_excluded_nodes_are_not_entered(look: Lookup) -> None:
    hits = look.words("cookie", graph_depth=3, excluded=(AUTH,))
    assert {AUTH, LIMITS}.isdisjoint(ids(hits)) and KEYS in ids(hits)
    assert len(look.words("cookie", limit=1, graph_depth=2, graph_limit=2)) == 3
    assert KEYS not in ids(look("tokens", excluded=(KEYS,)))
    assert OUTAGE not in ids(look.words("tokens", graph_depth=1, excluded=(KEYS,)))


@pytest.mark.parametrize("fusion", ["convex", "rrf"])
@pytest.mark.parametrize("query", ["tokens", "replica database", "credentials", "zucch"])
def test_results_have_consistent_fields(look: Lookup, query: str, fusion: str) -> None:
    hits = look(query, graph_depth=2, fusion=fusion)
    assert hits and len(set(ids(hits))) == len(hits)
    for hit in hits:
        assert 0 < hit.score <= 1
        assert hit.path[-1] == hit.id and len({*hit.path}) == len(hit.path) == hit.hops + 1
        assert (hit.edge_type is not None) == (hit.match == "graph") == (hit.hops > 0)
        assert hit.hops or hit.rrf_score is not None
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("query", ["tokens", "replica database", "credentials", "sunday lorem"])
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("limit", [1, 2, 10])
def test_graph_preserves_direct_matches(look: Lookup, query: str, depth: int, limit: int) -> None:
    plain = look(query, limit=limit)
    deep = look(query, limit=limit, graph_depth=depth, graph_limit=3)
    assert {*direct(deep)} == {*ids(plain)} and deep[0].id == plain[0].id
    assert len(plain) <= min(limit, len(deep)) and len(deep) <= len(plain) + 3
    assert len(look(query, limit=limit, graph_depth=depth, graph_limit=0)) == len(plain)


def test_caps_are_reported(look: Lookup) -> None:
    for caps, said in (
        ({"graph_max_nodes": 1}, ["2 connected nodes not shown"]),
        ({"graph_limit": 1, "graph_max_nodes": 3}, ["3 connected nodes not shown"]),
        ({"graph_limit": 4}, []),
        ({"graph_depth": 1, "graph_fanout": 1}, ["weaker links of 1 node not followed"]),
    ):
        hits = look.words("cookie", **{"graph_depth": 2, **caps})
        assert [note for note in hits.notes if note.endswith(("shown", "followed"))] == said


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with new_store(str(tmp_path_factory.mktemp("odd"))) as store:
        records = Records(store, Settings(), StaticEmbedder())
        for text in ("it's a/b.py", "NEAR AND OR NOT", '"quoted" text*', "snake_case camelCase"):
            records.add("note", text)
        yield store


@given(
    st.text(max_size=40) | st.text("aAND OR\"'*():^-/_. é", max_size=30),
    st.integers(0, 2),
    st.sampled_from(["convex", "rrf"]),
    st.sampled_from(["fulltext", "vector", "fulltext vector"]),
)
@settings(max_examples=examples(60), deadline=None)
def test_any_query_is_searched(
    odd: Store, query: str, depth: int, fusion: str, retrievers: str
) -> None:
    flags = {"graph_depth": depth, "fusion": fusion, "retrievers": retrievers}
    hits = look_in(odd, query, embedder=StaticEmbedder(), **flags)
    assert all(0 <= hit.score <= 1 for hit in hits)
    assert hits.notes or len(hits)


@pytest.fixture(scope="module", params=["fts5", "fts4"])
def office(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    """A store of two notes within a project."""
    folder = tmp_path_factory.mktemp("office")
    (folder / "a.py").touch()
    with new_store(str(folder), fulltext=request.param) as store:
        records = Records(store, Settings(), None, str(folder))
        records.add("note", "The office is in Zurich")
        records.add("note", "We accept no signed tokens, cookies or requests")
        yield store


@pytest.mark.parametrize(
    "query", ['"in Zürich"', "title:zurich", "title:office-is", "zur*", "the -cookies office"]
)
def test_operators_are_the_same_with_both_engines(office: Store, query: str) -> None:
    (hit,) = look_in(office, query, operators=True)
    assert hit.title == "The office is in Zurich"
