"""Foreign schemas and values, and errors of SQLite."""

from __future__ import annotations

import json
from pathlib import Path

import apsw
import pytest
from homes import move_home
from things import a_node

from pylore.cli.main import run
from pylore.core.errors import GraphUnavailable, StoreBusy, StoreDamaged, StoreError, StoreFull
from pylore.store import create_store, open_store
from pylore.store.connection import GraphFaults, Translated, translate
from pylore.store.opening import HASHES, missing_statements, other_statements, schema_hash


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    move_home(monkeypatch, tmp_path / "home")
    monkeypatch.setenv("LORE_DIR", str(tmp_path / "store"))
    monkeypatch.setenv("LORE_STORE", str(tmp_path / "store"))


def altered(folder: Path, *statements: str) -> str:
    """Return the folder of a new store after these statements."""
    create_store(str(folder / "store")).close()
    connection = apsw.Connection(str(folder / "store/search.db"))
    connection.pragma("ignore_check_constraints", 1)
    for statement in statements:
        connection.execute(statement)
    connection.close()
    return str(folder / "store")


@pytest.mark.parametrize("engine", ["fts5", "fts4"])
def test_schema_hash_of_a_new_store(tmp_path: Path, engine: str) -> None:
    with create_store(str(tmp_path), fulltext=engine) as store:
        assert schema_hash(store.connection) == HASHES[engine], "write this into opening.py"
        store.whole_files.put([("a.py", "words", "parts")])
        store.connection.execute("ANALYZE")
        assert not missing_statements(store.connection) and not other_statements(store.connection)
        assert schema_hash(store.connection) == HASHES[engine]
        store.vectors.renew()
        store.compact()
        assert schema_hash(store.connection) == HASHES[engine]


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("CREATE VIEW v AS SELECT 1", "v"),
        ("CREATE INDEX i ON nodes(hex(title))", "i"),
        ("CREATE TABLE t(a, b AS (hex(a)))", "t"),
        ("CREATE TRIGGER r AFTER DELETE ON nodes BEGIN SELECT 1; END", "r"),
        ("CREATE TRIGGER sketches AFTER DELETE ON nodes BEGIN SELECT 1; END", "sketches"),
        ("DROP TABLE purged; CREATE TABLE purged(id, at CHECK (hex(at) > 1))", "purged"),
    ],
)
def test_foreign_schema_is_refused(tmp_path: Path, statement: str, named: str) -> None:
    folder = altered(tmp_path, statement)
    with pytest.raises(StoreError) as refused:
        open_store(folder)
    assert f"its schema is not lore's ({named}): import an export" in str(refused.value)


def test_plain_and_missing_tables_are_accepted(tmp_path: Path) -> None:
    folder = altered(tmp_path, "CREATE TABLE mine(a, b)", "DROP TABLE ratings", "DROP TABLE shown")
    altered(tmp_path, "CREATE TABLE ratings(a, b)")
    with open_store(folder) as store:
        assert store.types.all()


@pytest.mark.parametrize("version", [0, 3, 7])
@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_init_does_not_change_foreign_databases(tmp_path: Path, version: int, journal: str) -> None:
    path = tmp_path / "search.db"
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", journal)
    connection.execute("CREATE TABLE theirs(a); INSERT INTO theirs VALUES (1)")
    connection.pragma("user_version", version)
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError):
        create_store(str(tmp_path))
    assert path.read_bytes() == before


# --- values


WRONG = "UPDATE relations SET weight = 7 WHERE name = 'calls'"


@pytest.mark.parametrize("statements", [(), (WRONG,)])
def test_failures_in_damaged_stores_are_no_bugs(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    statements: tuple[str, ...],
) -> None:
    altered(tmp_path, *statements)

    def fail(*_: object, **__: object) -> None:
        raise TypeError

    monkeypatch.setattr("pylore.cli.find._why_none", fail)
    assert run(["list"]) == (1 if statements else 3)
    said = "CHECK constraint failed in relations: run 'lore doctor'"
    assert (said in capsys.readouterr().err) == bool(statements)


def test_invalid_values_are_refused(tmp_path: Path) -> None:
    with create_store(str(tmp_path)) as store:
        store.nodes.put(a_node("note-a"))
        for change in ("title = x'00'", "data = '[]'", "status = 'done'"):
            with pytest.raises(apsw.ConstraintError):
                store.connection.execute(f"UPDATE nodes SET {change}")


# --- errors of SQLite


@pytest.mark.parametrize(
    ("code", "failure"),
    [("NOTADB", StoreDamaged), ("BUSY", StoreBusy), ("READONLY", StoreError), ("FULL", StoreFull)],
)
def test_sqlite_errors_become_failures(code: str, failure: type[StoreError]) -> None:
    path = "search.db"
    error = apsw.exception_for(getattr(apsw, f"SQLITE_{code}"))
    assert isinstance(error, apsw.Error)
    assert type(translate(error, path)) is failure
    with pytest.raises(failure, match=f"^{path}: .*[:;] .*") as raised, Translated(path):
        raise error
    assert raised.value.__cause__ is error


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("SELECT * FROM gone", "the table gone is missing: run 'lore doctor'"),
        ("SELECT * FROM main.gone", "the table gone is missing: run 'lore doctor'"),
        ("SELECT gone FROM here", "its tables are not lore's (no such column: gone): run 'lore"),
        ("INSERT INTO here VALUES (1, 2)", "its tables are not lore's (table here has 1 columns"),
    ],
)
def test_foreign_tables_are_reported_as_damage(statement: str, said: str) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE here(a)")
    with pytest.raises(StoreDamaged) as raised, Translated("search.db"):
        connection.execute(statement)
    assert str(raised.value).startswith(f"search.db: {said}")
    with pytest.raises(GraphUnavailable, match="the graph cannot be read"), GraphFaults():
        connection.execute(statement)


def test_invalid_text_and_json_are_damage() -> None:
    with pytest.raises(StoreDamaged, match="has text that is not UTF-8"), Translated("search.db"):
        b"\xff".decode()
    said = pytest.raises(StoreDamaged, match="has a record with invalid JSON: import your last")
    with said, Translated("search.db"):
        json.loads("{")
