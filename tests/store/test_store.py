"""search.db itself: both legs and their scopes, transactions, engines, history, read-only files."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import examples

from pylore.core.errors import StoreBusy
from pylore.core.model import Node
from pylore.core.settings import Settings
from pylore.core.text import parse_query, words
from pylore.core.vocabulary import HIDDEN_STATUSES
from pylore.embed import open_embedder
from pylore.indexing.embed import embed_missing
from pylore.indexing.indexer import rebuild, write_nodes
from pylore.records.records import Records
from pylore.search.legs import FIELD_WEIGHTS as WEIGHTS
from pylore.search.pipeline import Request, search
from pylore.store import Store, create_store, filter, open_store, vectors
from pylore.store import nodes as listed
from pylore.store.filter import Scope

ROOT = Path(__file__).parents[2]
MANY = 2_000
TYPES = ("decision", "lesson", "note")
TAGS = ("auth", "api", "db", "auth-api")
FILES = ("src/a.py", "src/deep/b.py", "docs/a.md", None)
GLOBS = ("src/*", "*.md", "src/a.py", "src/[ab].py", "none*")
DAYS = ("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T12:00:00Z")


@pytest.fixture(scope="module")
def nodes() -> list[Node]:
    """Random nodes, live and forgotten, with two to twelve words each."""
    chance = random.Random(7)
    pages = " ".join(page.read_text() for page in sorted(ROOT.glob("docs/decisions/*.md")))
    known = sorted({word for word in words(pages) if word.isascii() and len(word) > 3})
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


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, nodes: list[Node]) -> Iterator[Store]:
    with create_store(str(tmp_path_factory.mktemp("many")), fulltext="fts5") as store:
        with store.transaction():
            write_nodes(store, nodes)
        embed_missing(store, open_embedder("static", store), bulk=True)
        yield store


def vector_of(store: Store, text: str) -> bytes:
    embedder = open_embedder("static", store)
    assert embedder is not None
    (vector,) = embedder.embed([text])
    assert vector is not None
    return vector


# --- scopes

SCOPES = st.builds(
    Scope,
    types=st.lists(st.sampled_from(TYPES), max_size=2, unique=True).map(tuple),
    tags=st.lists(st.sampled_from(TAGS), max_size=2, unique=True).map(tuple),
    files=st.lists(st.sampled_from(GLOBS), max_size=2).map(tuple),
    since=st.sampled_from(["", *DAYS]),
    until=st.sampled_from(["", *DAYS]),
    statuses=st.sampled_from([(), ("staged",), ("staged", "confirmed"), ("retracted", "staged")]),
)


def within(node: Node, scope: Scope) -> bool:
    """Return True for a node within a scope."""
    return (
        node.invalidated_at is None
        and (not scope.types or node.type in scope.types)
        and (not scope.statuses or node.status in scope.statuses)
        and set(scope.tags) <= set(node.tags)
        and (not scope.files or any(fnmatchcase(node.file or "", glob) for glob in scope.files))
        and (not scope.since or node.updated_at >= scope.since)
        and (not scope.until or node.updated_at <= scope.until)
    )


@given(SCOPES, st.sampled_from([0, MANY]))
@settings(max_examples=examples(40), deadline=None)
def test_searches_and_lists_respect_the_scope(
    store: Store, nodes: list[Node], scope: Scope, few: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:  # list passages of up to few nodes, or test matches
        for module, name in ((filter, "FEW"), (vectors, "FEW_OF_ALL"), (listed, "_SORTED")):
            patch.setattr(module, name, few)
        keep_to_the_scope(store, nodes, scope)


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
    assert sorted(id for _, id, _ in near) == sorted(shown)
    hidden = store.fulltext.search("hidden", query, "some", scope, WEIGHTS, 10_000)
    assert {id for _, id, _ in hidden} <= wanted - shown
    assert hidden or not wanted - shown or len(wanted - shown) < 20


@pytest.mark.parametrize("text", ["' OR 1=1 --", "%", "a' UNION SELECT 1", "\0", '"'])
def test_scope_values_are_parameters(store: Store, text: str) -> None:
    assert store.nodes.get(text) is None
    for field in ("types", "files", "statuses"):
        assert [*store.nodes.select(Scope(**{field: (text,)}), -1)] == []


# --- transactions


def test_aside_does_not_wait_and_restores_settings(tmp_path: Path) -> None:
    with create_store(str(tmp_path)) as store, open_store(str(tmp_path), busy_timeout=600) as other:
        synchronous = other.connection.pragma("synchronous")
        with store.transaction():
            started = time.monotonic()
            with pytest.raises(StoreBusy), other.aside(0.25):
                pass
            assert 0.25 <= time.monotonic() - started < 2.25
        with other.aside():
            assert other.connection.pragma("synchronous") == 1
            other.meta.set("told", "yes")
        assert other.connection.pragma("synchronous") == synchronous == 2
        assert store.meta.get("told") == "yes"
        with other.transaction(), other.aside():  # nested: synced
            assert other.connection.pragma("synchronous") == 2


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
    """Return id to way of matching."""
    flags = {"graph_depth": str(depth), "retrievers": "fulltext"}
    settings = Settings.load(environ={}, flags=flags)
    return {hit.id: hit.match for hit in search(store, settings, Request(query), None)}


def test_fts4_matches_fts5(tmp_path: Path) -> None:
    with decisions(tmp_path / "5", "fts5") as five, decisions(tmp_path / "4", "fts4") as four:
        for query in SIMPLE:
            assert found(five, query) == found(four, query), query
        assert len(found(four, "session keys")) == 3
        assert found(four, "café") == found(four, "cafe\u0301") == found(five, "cafe")
        assert set(found(four, "repl").values()) == {"prefix"}


def test_reindex_changes_the_engine(tmp_path: Path) -> None:
    with decisions(tmp_path, "fts5") as store:
        embedder = open_embedder("static", store)
        before = [found(store, query, 1) for query in SIMPLE]
        vectors = store.connection.execute("SELECT count(*) FROM vectors").get
        for engine in ("fts4", "fts5", "auto"):
            assert rebuild(store, engine) == 5
            embed_missing(store, embedder)
            assert store.fulltext.engine == ("fts5" if engine == "auto" else engine)
            assert [found(store, query, 1) for query in SIMPLE] == before
            assert store.connection.execute("SELECT count(*) FROM vectors").get == vectors
            with open_store(str(tmp_path)) as other:
                assert other.fulltext.engine == store.fulltext.engine


# --- the rest


def test_plain_sqlite_reads_the_store(tmp_path: Path) -> None:
    """Text is no blob, and the tokenizers are built in."""
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
