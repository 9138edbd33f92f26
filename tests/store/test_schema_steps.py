"""The way to a second version of the schema, tried with a step that is made up."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from new_stores import new_store
from things import a_node

from pylore.core.errors import StoreError, StoreReadOnly
from pylore.store import create_store, open_store, opening, schema
from pylore.store.schema import SCHEMA, created, name_of, schema_text

NEW = next(one for one in created(schema_text(SCHEMA)) if one.startswith("CREATE INDEX"))
"""What version 1 did not have yet, in this story."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store of version 1, for a lore of version 2."""
    folder = str(tmp_path / "store")
    with new_store(folder) as store, store.transaction():
        store.nodes.put(a_node("note-a", body="kept"))
    with apsw.Connection(f"{folder}/search.db") as connection:
        connection.execute(f"DROP INDEX {name_of(NEW)}")
    before = schema_text(SCHEMA).replace(f"{NEW};\n", "")
    assert before != schema_text(SCHEMA)
    monkeypatch.setattr(opening, "SCHEMA_VERSION", 2)
    monkeypatch.setitem(schema.STEPS, 2, (before, f"{NEW};"))
    return folder


def version(folder: str) -> object:
    return apsw.Connection(f"{folder}/search.db").pragma("user_version")


def alter(folder: str, statement: str) -> None:
    with apsw.Connection(f"{folder}/search.db") as connection:
        connection.execute(statement)


def test_there_is_a_step_to_each_version_but_the_first() -> None:
    assert [*schema.STEPS] == [*range(2, opening.SCHEMA_VERSION + 1)]


@pytest.mark.parametrize("way", [open_store, create_store])
def test_an_older_store_is_brought_up_when_it_is_opened(way: object, folder: str) -> None:
    with way(folder) as store:  # type: ignore[operator]
        assert store.nodes.require("note-a").body == "kept"
        assert store.checks.version == 2 and not store.checks.missing_tables()
        with store.transaction("add"):  # its triggers work
            store.nodes.put(a_node("note-b"))
        assert [one.name for one in store.history.commands()] == ["add"]
    with open_store(folder) as store:
        assert {node.id for node in store.nodes.all()} == {"note-a", "note-b"}


def test_who_comes_second_finds_it_done(folder: str) -> None:
    connection = apsw.Connection(f"{folder}/search.db")
    open_store(folder).close()
    schema.upgrade(connection, "search.db", 1, 2)
    connection.close()
    open_store(folder).close()


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER r AFTER DELETE ON nodes BEGIN SELECT 1; END",
        "CREATE VIEW v AS SELECT 1",
        "CREATE INDEX i ON nodes(hex(title))",
        NEW,  # of version 2, in a store that says it is of version 1
    ],
)
def test_one_that_is_not_lores_is_refused_as_it_is(statement: str, folder: str) -> None:
    alter(folder, statement)
    with pytest.raises(StoreError, match="that are not lore's"):
        open_store(folder)
    assert version(folder) == 1


@pytest.mark.parametrize(
    ("step", "error"),
    [
        ("CREATE VIEW v AS SELECT 1;", StoreError),  # leads to something else
        (f"{NEW}; SELECT no_such_column FROM nodes;", apsw.SQLError),
        (f"{NEW}; INSERT INTO nodes(id, type, created_at, updated_at)"
         " VALUES ('x-1', 'none', '', '');", StoreError),
    ],
)  # fmt: skip
def test_a_step_that_fails_changes_nothing(
    step: str, error: type[Exception], folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = schema.STEPS[2][0]
    monkeypatch.setitem(schema.STEPS, 2, (before, step))
    with pytest.raises((StoreError, error)):
        open_store(folder)
    assert version(folder) == 1
    monkeypatch.setitem(schema.STEPS, 2, (before, f"{NEW};"))
    with open_store(folder) as store:
        assert [node.id for node in store.nodes.all()] == ["note-a"]


def test_where_nobody_may_write_it_says_so(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(StoreReadOnly, match="schema version 1, this lore reads 2: open it once"):
        open_store(folder)
