"""What a doctor is told of a store in which something is missing, or out of step."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from struct import pack

import apsw
import pytest
from sqlite_stores import connection_of
from things import LATE, a_node, an_edge, whole_passages

from pylore.core.errors import StoreError
from pylore.core.vocabulary import CODE, TEXTS
from pylore.store import Store, scratch_store
from pylore.store.check import sqlite_version, vector_extension


@pytest.fixture
def store() -> Iterator[Store]:
    """Two notes and a symbol with full text and vectors, one of them without words."""
    with scratch_store() as store:
        for id, text in (("note-a", "tokens"), ("note-b", "…"), ("symbol-f", "tokens")):
            store.nodes.put(a_node(id, title=text, body=text))
            collection = CODE if id.startswith("symbol-") else TEXTS
            (key,) = store.nodes.new_passages(whole_passages([id], collection))
            store.fulltext.add(collection, [(key, text, text, "", "", "")])
        store.nodes.put(a_node("run-1", title=""))
        store.nodes.put(a_node("note-gone", title="tokens", invalidated_at=LATE))
        store.meta.set("embedder", "some")
        store.meta.set("embedder_dimension", "8")
        store.vectors.add([(key, pack("<8f", *[key] * 8)) for key in (1, 3)])
        store.vectors.add([(2, None)])
        yield store


def run(store: Store, *statements: str) -> None:
    connection = connection_of(store)
    connection.pragma("foreign_keys", False)
    connection.pragma("ignore_check_constraints", True)
    for statement in statements:
        connection.execute(statement)


def test_what_is_in_step_is_well(store: Store) -> None:
    checks = store.checks
    assert checks.unindexed() == checks.unembedded() == checks.foreign_key_violations() == []
    assert checks.missing_tables() == checks.replaced_tables() == checks.fulltext_damage() == []


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DELETE FROM passages WHERE node_key <> (SELECT key FROM nodes WHERE id = 'note-a')",
         ["2 live nodes without passages", "2 full-text rows without a passage"]),
        ("UPDATE nodes SET tags = 'a', title = '' WHERE id = 'run-1'",
         ["1 live nodes without passages"]),
        ("UPDATE nodes SET file = 'a' WHERE id = 'run-1'", ["1 live nodes without passages"]),
        ("UPDATE nodes SET body = 'a' WHERE id = 'run-1'", ["1 live nodes without passages"]),
        ("UPDATE nodes SET title = 'a' WHERE id = 'run-1'", ["1 live nodes without passages"]),
        ("DELETE FROM nodes WHERE id = 'note-a'", ["1 passages without a live node"]),
        ("UPDATE nodes SET invalidated_at = 'x' WHERE id = 'note-a'",
         ["1 passages without a live node"]),
        ("INSERT INTO code_fts(code_fts) VALUES ('delete-all')", ["1 passages without full text"]),
        ("INSERT INTO texts_fts(texts_fts) VALUES ('delete-all')",
         ["2 passages without full text"]),
        ("INSERT INTO names_fts(rowid, title) VALUES (9, 'x')",
         ["1 full-text rows without a passage"]),
    ],
)  # fmt: skip
def test_nodes_and_full_text_that_are_out_of_step_are_counted(
    statement: str, said: list[str], store: Store
) -> None:
    run(store, statement)
    assert store.checks.unindexed() == said


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DELETE FROM vectors; DELETE FROM sketches", ["3 passages without a vector"]),
        ("DELETE FROM passages WHERE key = 1", ["1 vectors without a passage"]),
        ("DELETE FROM sketches WHERE key = 1", ["1 vectors without a sketch"]),
        ("DELETE FROM vectors WHERE key = 1",
         ["1 passages without a vector", "1 sketches without a vector"]),
        ("UPDATE vectors SET embedding = zeroblob(64) WHERE key = 1",
         ["1 vectors of another length"]),
        ("UPDATE meta SET value = '16' WHERE key = 'embedder_dimension'",
         ["2 vectors of another length"]),
    ],
)  # fmt: skip
def test_passages_and_vectors_that_are_out_of_step_are_counted(
    statement: str, said: list[str], store: Store
) -> None:
    run(store, statement)
    assert store.checks.unembedded() == said


def test_what_the_schema_has_and_the_store_has_not_is_named(store: Store) -> None:
    run(store, "DROP TABLE sketches", "DROP TABLE names_fts", "DROP INDEX edges_in",
        "CREATE TABLE mine(a)")  # fmt: skip
    checks = store.checks
    assert checks.missing_tables() == ["edges_in", "names_fts", "sketches"]
    assert checks.derived.intersection(checks.missing_tables()) == {"names_fts", "sketches"}


def test_what_stands_in_the_place_of_lores_own_is_named(store: Store) -> None:
    run(store, "DROP TABLE links", "CREATE TABLE links(a, b)")
    run(store, "CREATE TABLE mine(a, b)", "CREATE TABLE other(a, b AS (a))")
    assert store.checks.replaced_tables() == ["links is not lore's", "other is not lore's"]


def test_a_full_text_index_of_another_engine_is_named(store: Store) -> None:
    run(store, "DROP TABLE names_fts",
        "CREATE VIRTUAL TABLE names_fts USING fts4(title, body, tags, file, parts)")  # fmt: skip
    assert store.checks.fulltext_damage() == ["names_fts is not of fts5"]


def test_a_row_of_an_unknown_type_or_relation_is_named(store: Store) -> None:
    run(store)
    store.nodes.put(a_node("tale-1"))
    assert store.checks.foreign_key_violations() == ["nodes names no row of types"]
    store.nodes.delete("tale-1")
    store.edges.put(an_edge("note-a", "note-b", "unknown"))
    assert store.checks.foreign_key_violations() == ["links names no row of relations"]


def test_what_the_machine_has_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sqlite_version() == f"apsw {apsw.apsw_version()}, SQLite {apsw.sqlite_lib_version()}"
    version, file = vector_extension().split(", ")
    assert version.startswith("sqlite-vec v") and Path(file).is_file()
    monkeypatch.setattr("sys.path", ["/nowhere"])
    with pytest.raises(StoreError, match="sqlite-vec is not installed: run 'make setup'"):
        vector_extension()
