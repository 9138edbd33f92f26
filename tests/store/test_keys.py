"""Keys within search.db: ids come out as they went in, whatever comes and goes."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlite_stores import connection_of, store_of_version
from things import a_node, an_edge

from pylore.core.errors import StoreFull
from pylore.store import create_store, open_store
from pylore.store.sqlite import upgrade
from pylore.store.sqlite.store import SqliteStore, scratch_store

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


@pytest.mark.parametrize("version", [1, 2, 3])
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
