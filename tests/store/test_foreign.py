"""What a store is taken for when it is opened, and what is said of values that are not lore's."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from homes import move_home
from sqlite_stores import connection_of

from pylore import Lore
from pylore.cli.main import run
from pylore.core.errors import StoreError
from pylore.store import create_store, open_store
from pylore.store.schema import HASHES, schema_hash


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    move_home(monkeypatch, tmp_path / "home")
    monkeypatch.setenv("LORE_DIR", str(tmp_path / "store"))
    monkeypatch.setenv("LORE_STORE", str(tmp_path / "store"))


def altered(folder: Path, *statements: str) -> str:
    """A new store in which these statements have been run, which lore would not run."""
    create_store(str(folder / "store")).close()
    connection = apsw.Connection(str(folder / "store/search.db"))
    connection.pragma("ignore_check_constraints", 1)
    for statement in statements:
        connection.execute(statement)
    connection.close()
    return str(folder / "store")


@pytest.mark.parametrize("engine", ["fts5", "fts4"])
def test_hash_of_the_schema_is_that_of_every_store(tmp_path: Path, engine: str) -> None:
    with create_store(str(tmp_path), fulltext=engine) as store:
        assert schema_hash(connection_of(store)) == HASHES[engine], "write this into schema.py"
        store.whole_files.put([("a.py", "words", "parts")])
        connection_of(store).execute("ANALYZE")
        assert store.checks.missing_tables() == store.checks.replaced_tables() == []
        assert schema_hash(connection_of(store)) == HASHES[engine]
        store.vectors.take_next()
        store.vectors.renew()
        store.compact()
        assert schema_hash(connection_of(store)) == HASHES[engine]


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
def test_a_store_of_another_schema_is_refused_and_named(
    tmp_path: Path, statement: str, named: str
) -> None:
    folder = altered(tmp_path, statement)
    with pytest.raises(StoreError) as refused:
        open_store(folder)
    assert f"its schema is not lore's ({named}): import an export" in str(refused.value)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE mine(a TEXT, b)",
        "DROP TABLE ratings",
        "DROP TABLE ratings; CREATE TABLE ratings(a, b)",
    ],
)
def test_plain_and_missing_tables_do_no_harm(tmp_path: Path, statement: str) -> None:
    with open_store(altered(tmp_path, statement)) as store:
        assert store.types.all()


def test_schema_of_a_project_store_is_not_looked_at(tmp_path: Path) -> None:
    """A store in the user's own data folder was made by lore."""
    projects = tmp_path / "home/data/lore/projects"
    projects.mkdir(parents=True)
    folder = altered(projects, "CREATE TABLE mine(a TEXT, b AS (hex(a)))")
    with open_store(folder) as store:
        assert store.types.all()


@pytest.mark.parametrize("version", [0, 3, 7])
@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_init_leaves_another_programs_database_as_it_is(
    tmp_path: Path, version: int, journal: str
) -> None:
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


WRONG = "UPDATE types SET description = x'00'"


def test_a_failure_from_a_value_of_another_program_is_its_stores_and_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    altered(tmp_path, WRONG, "INSERT INTO nodes(id, type, title, created_at, updated_at)"
                             " VALUES ('note-1', 'note', x'00', '', '')")  # fmt: skip
    assert run(["list"]) == 1
    said = capsys.readouterr().err
    assert "has values that lore does not write (types.description: " in said
    assert "nodes.title: 1" in said and said.endswith(": run 'lore doctor'\n")


@pytest.mark.parametrize("statements", [(), (WRONG,)])
def test_a_failure_is_a_bug_only_where_the_store_is_sound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statements: tuple[str, ...]
) -> None:
    altered(tmp_path, *statements)

    def fail(*_: object, **__: object) -> None:
        raise TypeError

    monkeypatch.setattr("pylore.cli.find._why_none", fail)
    assert run(["list"]) == (1 if statements else 3)


def test_python_programs_are_told_the_same(tmp_path: Path) -> None:
    folder = altered(tmp_path, "UPDATE relations SET weight = 'much'")
    with Lore(folder, embedder="none") as lore:
        for id in ("note-1", "note-2"):
            lore.add("note", "words", id=id)
        lore.link("note-1", "relates_to", "note-2")
        with pytest.raises(StoreError) as failure:
            lore.related("note-1")
    assert "has values that lore does not write (relations.weight: " in str(failure.value)
