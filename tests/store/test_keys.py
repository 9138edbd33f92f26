"""Keys within search.db: ids come out as they went in, whatever comes and goes."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlite_stores import connection_of, store_of_version
from things import a_node, an_edge

from pylore.core.errors import StoreError, StoreFull
from pylore.core.text import parse_query
from pylore.store import create_store, open_store
from pylore.store.filter import Scope
from pylore.store.sqlite import foreign, upgrade
from pylore.store.sqlite.store import SCHEMA_VERSION, SqliteStore, scratch_store

NAMES = ("note-a", "note-b", "note-c", "note-d")
STEPS = st.one_of(
    st.tuples(st.just("node"), st.sampled_from(NAMES)),
    st.tuples(st.just("gone"), st.sampled_from(NAMES)),
    st.tuples(st.just("purge"), st.sampled_from(NAMES)),
    st.tuples(st.just("edge"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
    st.tuples(st.just("code"), st.sampled_from(NAMES)),
)


@given(st.lists(STEPS, max_size=20))
def test_an_id_is_the_same_whatever_comes_and_goes(steps: list[tuple[str, ...]]) -> None:
    nodes: set[str] = set()
    edges: set[tuple[str, str]] = set()
    store = scratch_store()
    with store:
        for step, *ids in steps:
            with store.transaction():
                _take(store, step, ids, nodes, edges)
            assert {edge.key[:2] for edge in store.edges.all()} == edges
            assert {node.id for node in store.nodes.all()} == nodes
            absent = connection_of(store).execute("SELECT id FROM absent ORDER BY id")
            ends = {id for pair in edges for id in pair}
            assert [str(id) for (id,) in absent] == sorted(ends - nodes)
            assert {key[:2] for key in store.edges.dangling()} == {
                pair for pair in edges if not nodes.issuperset(pair)
            }


def _take(
    store: SqliteStore, step: str, ids: list[str], nodes: set[str], edges: set[tuple[str, str]]
) -> None:
    if step == "node":
        store.nodes.put(a_node(ids[0]))
        nodes.add(ids[0])
    elif step == "code" and ids[0] not in nodes:
        store.code.add_nodes([a_node(ids[0])])
        nodes.add(ids[0])
    elif step == "gone":
        store.nodes.delete(ids[0])
        nodes.discard(ids[0])
    elif step == "purge":
        store.edges.delete_node(ids[0])
        edges -= {pair for pair in edges if ids[0] in pair}
    elif step == "edge":
        store.edges.put(an_edge(ids[0], ids[1]))
        edges.add((ids[0], ids[1]))


def test_a_plain_shell_sees_edges_by_ids(tmp_path: Path) -> None:
    with create_store(str(tmp_path)) as store, store.transaction():
        store.nodes.put(a_node("note-a"))
        store.edges.put(an_edge("note-a", "note-none", weight=0.5))
    plain = sqlite3.connect(tmp_path / "search.db")
    rows = plain.execute("SELECT from_id, to_id, relation, weight FROM edges").fetchall()
    plain.close()
    assert rows == [("note-a", "note-none", "relates_to", 0.5)]


def objects(folder: Path) -> set[tuple[object, ...]]:
    with open_store(str(folder)) as store:
        rows = connection_of(store).execute("SELECT type, name, tbl_name, sql FROM sqlite_schema")
        return set(rows)


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_an_upgraded_store_has_the_objects_of_a_new_one(tmp_path: Path, version: int) -> None:
    (tmp_path / "old").mkdir()
    store_of_version(version, tmp_path / "old").close()
    create_store(str(tmp_path / "new"), fulltext="fts5").close()
    assert objects(tmp_path / "old") == objects(tmp_path / "new")


def old_store(folder: Path) -> None:
    connection = store_of_version(3, folder)
    for statement in (
        "INSERT INTO nodes(id, type, created_at, updated_at) VALUES"
        " ('note-b', 'note', '', ''), ('note-a', 'note', '', '')",
        "INSERT INTO graph_edges(from_id, to_id, relation, weight, created_at) VALUES"
        " ('note-a', 'note-b', 'relates_to', 0.5, ''), ('note-z', 'note-a', 'calls', 1, ''),"
        " ('note-a', 'run-1', 'used_in_run', 1, '')",
        "INSERT INTO passages(key, node_id) VALUES (7, 'note-a')",
        """INSERT INTO code_files VALUES ('a.py', '', '', 'python', '{"a": 1}'),
        ('b.py', '', '', '', '{"skipped": "binary"}')""",
    ):
        connection.execute(statement)
    connection.close()


def test_an_upgraded_store_says_what_it_said_and_is_kept_as_it_was(tmp_path: Path) -> None:
    old_store(tmp_path)
    with open_store(str(tmp_path)) as store:
        assert [edge.key for edge in store.edges.all()] == [
            ("note-a", "note-b", "relates_to"), ("note-a", "run-1", "used_in_run"),
            ("note-z", "note-a", "calls"),
        ]  # fmt: skip
        assert store.edges.dangling() == [
            ("note-a", "run-1", "used_in_run"), ("note-z", "note-a", "calls"),
        ]  # fmt: skip
        assert store.nodes.first_passages(["note-a", "note-b"]) == {"note-a": 7}
        assert store.ratings.of(["note-a"]) == {"note-a": (1.0, 1)}
        assert [*store.code.facts()] == [("a.py", "python", '{"a": 1}')]
        assert store.code.skipped() == {"binary": 1}
        assert [*store.edges.history()] == []
    kept = sqlite3.connect(tmp_path / "search.db.version-3")
    assert kept.execute("SELECT count(from_id) FROM graph_edges").fetchall() == [(3,)]
    kept.close()


def test_an_upgrade_that_fails_leaves_the_store_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old_store(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(upgrade, "_ROOM", 1 << 40)
        with pytest.raises(StoreFull, match="free some space"):
            open_store(str(tmp_path))
    assert not (tmp_path / "search.db.version-3").exists()
    with monkeypatch.context() as patched:
        patched.setitem(upgrade._FILL, "passages", "SELECT raise_no_such_function()")
        with pytest.raises(Exception, match="no such function"):
            open_store(str(tmp_path))
    with open_store(str(tmp_path)) as store:
        assert len([*store.edges.all()]) == 3


def store_of_version_4(folder: Path) -> apsw.Connection:
    connection = store_of_version(4, folder)
    for statement in (
        "INSERT INTO nodes(key, id, type, title, body, created_at, updated_at) VALUES"
        " (3, 'note-a', 'note', 'Rotating keys', 'by hand', '', ''),"
        " (4, 'note-b', 'note', 'Another', '', '', '')",
        "INSERT INTO absent VALUES (5, 'run-1')",
        "INSERT INTO graph_edges(from_key, to_key, relation, created_at) VALUES"
        " (3, 4, 'relates_to', ''), (3, 5, 'used_in_run', '')",
        "INSERT INTO passages(key, node_key) VALUES (7, 3)",
        "INSERT INTO texts_fts(rowid, title, body) VALUES (7, 'Rotating keys', 'by hand')",
        "INSERT INTO passage_texts(key, digest) VALUES (7, 1)",
        "UPDATE nodes SET title = 'Other' WHERE id = 'note-b'",
    ):
        connection.execute(statement)
    return connection


def test_a_store_of_version_4_keeps_all_it_has_and_gets_what_it_lacks(tmp_path: Path) -> None:
    store_of_version_4(tmp_path).close()
    with open_store(str(tmp_path)) as store:
        assert connection_of(store).pragma("user_version") == SCHEMA_VERSION
        assert [edge.key for edge in store.edges.all()] == [
            ("note-a", "note-b", "relates_to"), ("note-a", "run-1", "used_in_run"),
        ]  # fmt: skip
        assert store.ratings.of(["note-a"]) == {"note-a": (1.0, 1)}
        assert [past.node.title for past in store.history.of_node("note-b")] == ["Another"]
        query = parse_query("rotating")
        (hit,) = store.fulltext.search("texts", query, "all", Scope(), {}, 9)
        assert hit[:2] == (7, "note-a") and store.fulltext.body(7) == "by hand"
        assert connection_of(store).execute("SELECT count(*) FROM candidates").get == 0
    kept = sqlite3.connect(tmp_path / "search.db.version-4")
    assert kept.execute("PRAGMA user_version").fetchone() == (4,)
    assert kept.execute("SELECT title FROM nodes ORDER BY key").fetchall() == [
        ("Rotating keys",), ("Other",),
    ]  # fmt: skip
    kept.close()


def test_a_table_of_anothers_in_the_way_of_a_new_one_is_named(tmp_path: Path) -> None:
    connection = store_of_version_4(tmp_path)
    connection.execute("CREATE TABLE Candidates(name, votes)")
    with pytest.raises(
        StoreError, match=r"table 'Candidates' of another program's.*: put what it has elsewhere$"
    ):
        open_store(str(tmp_path))
    connection.execute("CREATE TABLE elections AS SELECT * FROM Candidates")
    connection.execute("DROP TABLE Candidates")
    connection.close()
    with open_store(str(tmp_path)) as store:
        assert connection_of(store).execute("SELECT count(*) FROM elections").get == 0


def test_a_version_that_is_one_text_adds_tables_to_the_one_before_and_changes_none() -> None:
    """What an upgrade from it relies on: tables stay, it creates what lacks."""
    for number in range(foreign.FIRST_WHOLE, SCHEMA_VERSION):
        before, after = (
            {text for text in foreign.created(*foreign.schema_texts([file]))
             if text.startswith("CREATE TABLE ")}
            for file in foreign.SCHEMA_FILES[number - 1 : number + 1]
        )  # fmt: skip
        assert before < after
