"""search.db itself: both legs and their scopes, transactions, engines, history, read-only files."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from fnmatch import fnmatchcase
from operator import mul
from pathlib import Path
from struct import unpack

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import examples, some
from sqlite_fts4 import rank_bm25 as theirs
from sqlite_stores import connection_of
from things import edge_past, whole_passages

from pylore.core.errors import StoreBusy, StoreError
from pylore.core.model import Edge, Node
from pylore.core.settings import Settings
from pylore.core.text import parse_query, words
from pylore.core.vocabulary import HIDDEN_STATUSES
from pylore.embed import open_embedder
from pylore.indexing.embed import embed_missing
from pylore.indexing.indexer import Index, rebuild
from pylore.records.records import Records
from pylore.search.legs import FIELD_WEIGHTS, NEIGHBOURS
from pylore.search.pipeline import ROOM, Request, search
from pylore.store import Store, conditions, create_store, open_store, vectors
from pylore.store import nodes as listed
from pylore.store.filter import Scope
from pylore.store.fts4 import rank_bm25
from pylore.store.vectors import restore

ROOT = Path(__file__).parents[2]
MANY = 2_000
WEIGHTS = FIELD_WEIGHTS
TYPES = ("decision", "lesson", "note")
TAGS = ("auth", "api", "db", "auth-api")
FILES = ("src/a.py", "src/deep/b.py", "docs/a.md", None)
DAYS = ("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T12:00:00Z")


def vocabulary() -> list[str]:
    """Words of this project's pages."""
    pages = " ".join(page.read_text() for page in sorted(ROOT.glob("docs/decisions/*.md")))
    return sorted({word for word in words(pages) if word.isascii() and len(word) > 3})


@pytest.fixture(scope="module")
def nodes() -> list[Node]:
    """Random nodes, live and forgotten, with two to twelve words each."""
    chance = random.Random(7)
    known = vocabulary()
    return [
        Node(
            f"{type}-{number}",
            type,
            title=" ".join(chance.choices(known, k=2)),
            body=" ".join(chance.choices(known, k=chance.randint(2, 12))),
            tags=tuple(sorted(chance.sample(TAGS, chance.randint(0, 3)))),
            file=chance.choice(FILES),
            status=chance.choice(("confirmed", "staged", "confirmed", "staged", "superseded")),
            created_at=DAYS[0],
            updated_at=chance.choice(DAYS),
            invalidated_at=DAYS[2] if chance.random() < 0.1 else None,
        )
        for number in range(MANY)
        for type in [chance.choice(TYPES)]
    ]


def filled(folder: Path, nodes: list[Node], fulltext: str = "fts5") -> Store:
    store = create_store(str(folder), fulltext=fulltext)
    with store.transaction():
        for node in nodes:
            store.nodes.put(node)
        Index(store).update(nodes)
    embed_missing(store, open_embedder("static", store), bulk=True)
    return store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, nodes: list[Node]) -> Iterator[Store]:
    with filled(tmp_path_factory.mktemp("many"), nodes) as store:
        yield store


def vector_of(store: Store, text: str) -> bytes:
    embedder = open_embedder("static", store)
    assert embedder is not None
    (vector,) = embedder.embed([text])
    assert vector is not None
    return vector


# --- vectors


Vectors = list[tuple[int, list[float]]]


def every_vector(store: Store) -> Vectors:
    rows = connection_of(store).execute("SELECT key, embedding FROM vectors")
    return [(key, [*unpack("<256f", restore(blob))]) for key, blob in rows]


def brute_force(vectors: Vectors, vector: bytes) -> list[tuple[int, float]]:
    """Every passage with its cosine, nearest first, in plain Python."""
    query = unpack("<256f", vector)
    found = [(key, sum(map(mul, query, own))) for key, own in vectors]
    return sorted(found, key=lambda item: (-item[1], item[0]))


def test_the_vector_search_finds_what_a_whole_scan_finds(store: Store, nodes: list[Node]) -> None:
    chance = random.Random(3)
    hits = 0
    every = every_vector(store)
    queries = some([chance.choice(nodes).body for _ in range(12)], 2)
    for text in queries:
        vector = vector_of(store, text)
        found = store.vectors.search(vector, Scope(), NEIGHBOURS * ROOM)
        truth = brute_force(every, vector)[:10]
        assert found[0][0] == truth[0][0]
        cosines = dict(truth)
        for key, id, score in found:
            assert key in [own for own, _ in store.nodes.passages(id)]
            if key in cosines:
                assert score == pytest.approx(cosines[key], abs=0.01)
        scores = [score for _, _, score in found]
        assert scores == sorted(scores, reverse=True)
        hits += len(cosines.keys() & {key for key, _, _ in found[:10]})
    assert hits / (10 * len(queries)) >= 0.9


def test_a_forgotten_node_has_no_passage(store: Store, nodes: list[Node]) -> None:
    gone = [node for node in nodes if node.invalidated_at]
    assert gone
    assert not any(store.nodes.passages(node.id) for node in gone)
    hidden = sum(node.status in HIDDEN_STATUSES for node in nodes if not node.invalidated_at)
    live = MANY - len(gone)
    assert connection_of(store).execute("SELECT count(*) FROM passages").get == live
    for table in ("vectors", "sketches"):
        assert connection_of(store).execute(f"SELECT count(*) FROM {table}").get == live - hidden


# --- scopes


SCOPES = st.builds(
    Scope,
    types=st.lists(st.sampled_from(TYPES), max_size=2, unique=True).map(tuple),
    tags=st.lists(st.sampled_from(TAGS), max_size=2, unique=True).map(tuple),
    files=st.lists(
        st.sampled_from(["src/*", "*.md", "src/a.py", "src/[ab].py", "none*"]), max_size=2
    ).map(tuple),
    since=st.sampled_from(["", *DAYS]),
    until=st.sampled_from(["", *DAYS]),
    statuses=st.sampled_from(
        [
            (),
            ("staged",),
            ("staged", "confirmed"),
            ("superseded",),
            ("retracted", "staged"),
        ]
    ),
)


def within(node: Node, scope: Scope) -> bool:
    """The scope, said once more in Python."""
    return (
        node.invalidated_at is None
        and (not scope.types or node.type in scope.types)
        and (not scope.statuses or node.status in scope.statuses)
        and set(scope.tags) <= set(node.tags)
        and (not scope.files or any(fnmatchcase(node.file or "", glob) for glob in scope.files))
        and (not scope.since or node.updated_at >= scope.since)
        and (not scope.until or node.updated_at <= scope.until)
    )


def counting_as_few(few: int) -> pytest.MonkeyPatch:
    """Up to so many nodes are listed first; of more, each match is looked at."""
    patch = pytest.MonkeyPatch()
    for module, name in ((conditions, "FEW"), (vectors, "FEW_OF_ALL"), (listed, "_SORTED")):
        patch.setattr(module, name, few)
    return patch


@given(SCOPES, st.sampled_from([0, MANY]))
@settings(max_examples=examples(40), deadline=None)
def test_both_legs_the_list_and_the_match_keep_to_the_scope(
    store: Store, nodes: list[Node], scope: Scope, few: int
) -> None:
    patch = counting_as_few(few)
    try:
        keep_to_the_scope(store, nodes, scope)
    finally:
        patch.undo()


@given(SCOPES, st.sampled_from([1, 7, 60]))
@settings(max_examples=examples(30), deadline=None)
def test_as_many_are_near_and_listed_however_a_scope_is_looked_at(
    store: Store, nodes: list[Node], scope: Scope, limit: int
) -> None:
    vector = vector_of(store, nodes[0].title)
    found, listed_ids = [], []
    for few in (0, MANY):
        patch = counting_as_few(few)
        found.append(store.vectors.search(vector, scope, limit))
        listed_ids.append([node.id for node in store.nodes.select(scope, limit)])
        patch.undo()
    near, nearest = ([score for _, _, score in rows] for rows in found)
    assert len(near) == len(nearest)
    assert all(one <= other for one, other in zip(near, nearest, strict=True))
    assert listed_ids[0] == listed_ids[1]


def keep_to_the_scope(store: Store, nodes: list[Node], scope: Scope) -> None:
    wanted = {node.id for node in nodes if within(node, scope)}
    assert {node.id for node in store.nodes.select(scope, -1)} == wanted
    assert store.nodes.match(scope, [node.id for node in nodes]) == wanted

    query = parse_query(" ".join(node.title for node in nodes[:40]))
    rows = store.fulltext.search("texts", query, "some", scope, WEIGHTS, 10_000)
    everywhere = store.fulltext.search("texts", query, "some", Scope(), WEIGHTS, 10_000)
    assert rows == [row for row in everywhere if row[1] in wanted]

    shown = {node.id for node in nodes if node.id in wanted and node.status not in HIDDEN_STATUSES}
    near = store.vectors.search(vector_of(store, nodes[0].title), scope, 10_000)
    assert {id for _, id, _ in near} == shown
    assert len(near) == len(shown)
    hidden = store.fulltext.search("hidden", query, "some", scope, WEIGHTS, 10_000)
    assert {id for _, id, _ in hidden} <= wanted - shown
    assert hidden or not wanted - shown or len(wanted - shown) < 20


def test_a_limited_vector_search_is_filled_from_within_the_scope(
    store: Store, nodes: list[Node]
) -> None:
    scope = Scope(types=("lesson",), tags=("auth",), files=("docs/*",))
    wanted = {node.id for node in nodes if within(node, scope)}
    near = store.vectors.search(vector_of(store, nodes[0].title), scope, 20)
    assert len(near) == 20 or {id for _, id, _ in near} == {
        node.id for node in nodes if node.id in wanted and node.status not in HIDDEN_STATUSES
    }
    assert len(near) > 5
    assert {id for _, id, _ in near} <= wanted


def test_tags_of_a_scope_are_folded_as_those_of_a_record() -> None:
    assert Scope(tags=("Code Review", "AUTH")).tags == ("auth", "code-review")


def test_a_tag_is_a_whole_word(store: Store, nodes: list[Node]) -> None:
    found = {node.id for node in store.nodes.select(Scope(tags=("auth",)), -1)}
    assert found == {n.id for n in nodes if "auth" in n.tags and not n.invalidated_at}
    assert any(n.tags == ("auth-api",) and n.id not in found for n in nodes)


@pytest.mark.parametrize("text", ["' OR 1=1 --", "%", "a' UNION SELECT 1", "\0", '"'])
def test_values_of_a_scope_are_never_sql(store: Store, text: str) -> None:
    for scope in (Scope(types=(text,)), Scope(tags=(text,)), Scope(files=(text,)),
                  Scope(statuses=(text,))):  # fmt: skip
        assert [*store.nodes.select(scope, -1)] == [] or scope.tags == ()
        assert store.nodes.get(text) is None


# --- transactions


def note(id: str) -> Node:
    return Node(id, "note", "A title", created_at=DAYS[0], updated_at=DAYS[0])


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Store]:
    with create_store(str(tmp_path)) as store:
        yield store


def test_a_transaction_that_fails_changes_nothing(empty: Store) -> None:
    with pytest.raises(KeyError), empty.transaction():
        empty.nodes.put(note("note-1"))
        Index(empty).update([note("note-1")])
        raise KeyError
    assert empty.nodes.get("note-1") is None
    assert empty.meta.get("embedder") is None
    assert connection_of(empty).execute("SELECT count(*) FROM texts_fts_docsize").get == 0
    assert not connection_of(empty).in_transaction


def test_an_inner_transaction_is_a_part_of_the_outer_one(empty: Store) -> None:
    with pytest.raises(KeyError), empty.transaction():
        with empty.transaction():
            empty.nodes.put(note("note-1"))
        assert connection_of(empty).in_transaction
        raise KeyError
    assert empty.nodes.get("note-1") is None
    with empty.transaction():
        empty.nodes.put(note("note-2"))
    assert empty.nodes.get("note-2") is not None


def test_what_is_written_aside_waits_for_nobody_and_leaves_the_connection_as_it_was(
    tmp_path: Path,
) -> None:
    with create_store(str(tmp_path)) as store, open_store(str(tmp_path), busy_timeout=600) as other:
        before = {name: connection_of(other).pragma(name) for name in _KEPT}
        with store.transaction():
            for patience in (0, 0.25):
                started = time.monotonic()
                with pytest.raises(StoreBusy), other.aside(patience):
                    pass
                assert patience <= time.monotonic() - started < patience + 2
        with other.aside():
            assert connection_of(other).pragma("synchronous") == 0
            assert connection_of(other).pragma("wal_autocheckpoint") == 0
            other.meta.set("told", "yes")
        assert {name: connection_of(other).pragma(name) for name in _KEPT} == before
        assert (before["synchronous"], store.meta.get("told")) == (2, "yes")
        with other.transaction(), other.aside():  # a part of the outer one: synced with it
            assert connection_of(other).pragma("synchronous") == 2


_KEPT = ("synchronous", "wal_autocheckpoint")


def test_another_connection_sees_a_transaction_whole_or_not_at_all(
    empty: Store, tmp_path: Path
) -> None:
    with open_store(str(tmp_path), busy_timeout=0) as other:
        with empty.transaction():
            empty.nodes.put(note("note-1"))
            assert other.nodes.get("note-1") is None
            with pytest.raises(StoreError, match="locked"), other.faults, other.transaction():
                pass
        assert other.nodes.get("note-1") is not None


# --- the two full-text engines

SIMPLE = ["jwt", "session keys", "replica", "auth", "src/auth.py", "nothingofthekind"]


def decisions(folder: Path, fulltext: str) -> Store:
    store = create_store(str(folder), fulltext=fulltext)
    records = Records(store, Settings(), open_embedder("static", store), str(folder))
    jwt = records.add("decision", "JWT for session tokens", tags=["auth"], file="src/auth.py")
    records.add("lesson", "Rotate session keys", links=[(jwt.id, "derived_from")])
    records.add("decision", "Queries go to a replica of the database")
    records.add("note", "The café opens at nine", why="keys are with the night shift")
    return store


def found(store: Store, query: str, depth: int = 0) -> dict[str, str]:
    """Id to how it matched."""
    settings = Settings.load(
        environ={}, flags={"graph_depth": str(depth), "retrievers": "fulltext"}
    )
    return {hit.id: hit.match for hit in search(store, settings, Request(query), None)}


def test_the_engine_is_the_one_that_was_asked_for(tmp_path: Path) -> None:
    for name in ("fts5", "fts4"):
        with create_store(str(tmp_path / name), fulltext=name) as store:
            assert store.fulltext.engine.name == store.meta.get("fulltext") == name
            sql = (
                connection_of(store)
                .execute("SELECT sql FROM sqlite_schema WHERE name = 'texts_fts'")
                .get
            )
            assert f"USING {name}" in sql
    with create_store(str(tmp_path / "fts4"), fulltext="fts5") as store:
        assert store.fulltext.engine.name == "fts4", "a store that is there keeps its engine"


def test_fts4_finds_what_fts5_finds(tmp_path: Path) -> None:
    with decisions(tmp_path / "5", "fts5") as five, decisions(tmp_path / "4", "fts4") as four:
        for query in SIMPLE:
            assert found(five, query) == found(four, query), query
        assert len(found(four, "session keys")) == 3
        assert found(four, "café") == found(four, "cafe\u0301") == found(five, "cafe")
        assert set(found(four, "replic").values()) == {"prefix"}


def test_the_rank_is_that_of_sqlite_fts4(tmp_path: Path, nodes: list[Node]) -> None:
    with filled(tmp_path, nodes[:300], "fts4") as store:
        connection_of(store).create_scalar_function("theirs", theirs)
        connection_of(store).create_scalar_function("rank_bm25", lambda *row: rank_bm25(row[0]))
        query = " OR ".join(sorted({word for node in nodes[:4] for word in node.body.split()}))
        rows = connection_of(store).execute(
            "SELECT rank_bm25(matchinfo(texts_fts, 'pcnalx')),"
            " theirs(matchinfo(texts_fts, 'pcnalx')) FROM texts_fts"
            " WHERE texts_fts MATCH ?", (f"title:nothing OR {query}",),
        )  # fmt: skip
        both = rows.fetchall()
    assert len(both) > 3 and len({ours for ours, _ in both}) > 2
    for ours, other in both:
        assert ours == pytest.approx(other)


def test_a_long_query_takes_no_long_time_on_fts4(tmp_path: Path, nodes: list[Node]) -> None:
    with filled(tmp_path, nodes[:500], "fts4") as store:
        query = parse_query(" ".join(node.body for node in nodes[:60]))
        begun = time.perf_counter()
        assert len(store.fulltext.search("texts", query, "some", Scope(), WEIGHTS, 400)) > 50
        assert time.perf_counter() - begun < 1


def test_a_whole_search_works_on_fts4(tmp_path: Path) -> None:
    with decisions(tmp_path, "fts4") as store:
        embedder = open_embedder("static", store)
        settings = Settings.load(environ={}, flags={"graph_depth": "2"})
        hits = search(store, settings, Request("jwt", explain=True), embedder)
        assert {hit.type for hit in hits} >= {"decision", "lesson", "file"}
        assert all(0 <= hit.score <= 1 for hit in hits)
        assert hits[0].title == "JWT for session tokens"
        assert hits[0].snippet == "JWT for session tokens"
        long_query = " ".join(f"word{number}" for number in range(10_000)) + " jwt"
        assert search(store, settings, Request("jwt " + long_query), embedder)[0].id == hits[0].id


def test_an_index_can_go_from_one_engine_to_the_other_and_back(tmp_path: Path) -> None:
    with decisions(tmp_path, "fts5") as store:
        embedder = open_embedder("static", store)
        before = [found(store, query, 1) for query in SIMPLE]
        vectors = connection_of(store).execute("SELECT count(*) FROM vectors").get
        for engine in ("fts4", "fts5", "auto"):
            assert rebuild(store, engine) == 5
            embed_missing(store, embedder)
            assert store.fulltext.engine.name == ("fts5" if engine == "auto" else engine)
            assert [found(store, query, 1) for query in SIMPLE] == before
            assert connection_of(store).execute("SELECT count(*) FROM vectors").get == vectors
            with open_store(str(tmp_path)) as other:
                assert other.fulltext.engine == store.fulltext.engine


def test_an_index_that_is_rebuilt_without_an_embedder_has_no_vectors(tmp_path: Path) -> None:
    with decisions(tmp_path, "fts5") as store:
        rebuild(store, "auto")
        assert store.meta.get("embedder") is None
        embedder = open_embedder("static", store)
        hits = search(store, Settings(), Request("jwt"), embedder)
        assert [hit.vector_score for hit in hits] == [None]
        rebuild(store, "auto")
        embed_missing(store, embedder)
        assert search(store, Settings(), Request("jwt"), embedder)[0].vector_score is not None


def test_a_store_of_other_vectors_is_searched_by_full_text_with_a_note(tmp_path: Path) -> None:
    with decisions(tmp_path, "fts5") as store:
        store.meta.set("embedder", "another:one")
        embedder = open_embedder("static", store)
        hits = search(store, Settings(), Request("jwt"), embedder)
        assert [hit.title for hit in hits] == ["JWT for session tokens"]
        assert hits.notes == [
            "the store's vectors are another:one's, not static:l2_supercat_256's: "
            "run 'lore store embed --all'; full text only"
        ]


# --- edges and their history


@pytest.fixture
def linked(empty: Store) -> Store:
    for id in ("note-a", "note-b"):
        empty.nodes.put(note(id))
    empty.edges.put(Edge("note-a", "note-b", "calls", 0.5, created_at=DAYS[0]))
    return empty


KEY = ("note-a", "note-b", "calls")


def test_edge_keeps_the_states_that_it_leaves(linked: Store) -> None:
    assert edge_past(linked, KEY) == []
    with linked.transaction():
        linked.edges.put(Edge(*KEY, 0.9, created_at=DAYS[1]))
        linked.edges.invalidate(KEY, DAYS[1], "retracted")
        linked.edges.invalidate(KEY, None)
        linked.nodes.invalidate("note-b", DAYS[2])
        linked.nodes.invalidate("note-b", None)
    assert [(past.row.weight, past.row.status) for past in edge_past(linked, KEY)] == [
        (0.5, "confirmed"), (0.9, "confirmed"), (0.9, "retracted"),
    ]  # fmt: skip


def test_equal_edge_leaves_no_past(linked: Store) -> None:
    assert linked.edges.put(Edge(*KEY, 0.5, created_at=DAYS[2])) == "unchanged"
    assert edge_past(linked, KEY) == []


def test_only_known_relations_can_be_written(linked: Store) -> None:
    with pytest.raises(apsw.ConstraintError):
        linked.edges.put(Edge("note-a", "note-b", "nonsense", created_at=DAYS[0]))


# --- the rest


def test_words_that_stand_together_in_a_query_count_more_where_they_do(empty: Store) -> None:
    texts = {
        "note-a": "rate of a limit",
        "note-b": "limit the rate now",
        "note-c": "a rate limit now",
    }
    for id, text in texts.items():
        empty.nodes.put(note(id))
        (key,) = empty.nodes.new_passages(whole_passages([id], "texts"))
        empty.fulltext.add("texts", [(key, "", text, "", "", "")])
    for number in range(9):
        (key,) = empty.nodes.new_passages(whole_passages(["note-a"], "texts"))
        empty.fulltext.add("texts", [(key, "", f"about other things, {number}", "", "", "")])
    rows = empty.fulltext.search("texts", parse_query("rate-limit"), "some", Scope(), WEIGHTS, 9)
    assert rows[0][1] == "note-c" and {row[1] for row in rows} == {*texts}


def read_only(folder: Path) -> Store:
    """The store as one finds it who may not write: root may always, so SQLite is told."""
    connection = apsw.Connection(str(folder / "search.db"), flags=apsw.SQLITE_OPEN_READONLY)
    return Store(connection, str(folder / "search.db"))


def test_a_store_that_cannot_be_written_can_be_searched(tmp_path: Path) -> None:
    decisions(tmp_path, "fts5").close()
    before = (tmp_path / "search.db").read_bytes()
    with read_only(tmp_path) as store:
        assert not store.writable
        settings = Settings.load(environ={}, flags={"graph_depth": "2"})
        hits = search(store, settings, Request("jwt"), open_embedder("static", store))
        assert len(hits) >= 3
        with pytest.raises(StoreError, match="cannot be written"):
            Records(store, settings, None).add("note", "one more")
    assert (tmp_path / "search.db").read_bytes() == before


def test_a_store_with_the_tools_of_others(tmp_path: Path) -> None:
    """No blobs where text will do, built-in tokenizers: the plain shell can read it."""
    import sqlite3

    decisions(tmp_path, "fts5").close()
    plain = sqlite3.connect(tmp_path / "search.db")
    assert plain.execute("SELECT count(*) FROM nodes").fetchone() == (5,)
    if sqlite3.sqlite_version_info < (3, 43):  # it knows no contentless_delete
        return
    titles = plain.execute(
        "SELECT n.title FROM nodes n JOIN passages p ON p.node_key = n.key"
        " JOIN texts_fts f ON f.rowid = p.key WHERE texts_fts MATCH 'jwt'"
    ).fetchall()
    assert titles == [("JWT for session tokens",)]
    plain.close()


def test_create_is_idempotent_and_keeps_what_is_there(tmp_path: Path) -> None:
    with create_store(str(tmp_path)) as store:
        store.nodes.put(note("note-1"))
    with create_store(str(tmp_path)) as store:
        assert store.nodes.get("note-1") is not None


def test_what_stands_in_the_place_of_a_store_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a text")
    for use in (create_store, open_store):
        with pytest.raises(StoreError, match=r"/file: is a file, not a folder: move it away"):
            use(str(tmp_path / "file"))
    (tmp_path / "folder/search.db").mkdir(parents=True)
    with pytest.raises(StoreError, match=r"search\.db: is not a plain file: move it away"):
        open_store(str(tmp_path / "folder"))
