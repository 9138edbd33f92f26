"""Errors of SQLite, and the failures and advice that users see."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from pylore.core.errors import (
    GraphUnavailable,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreReadOnly,
)
from pylore.store.faults import GraphFaults, Translated, translate

LOCKED = "is locked by another writer: try again, or raise busy_timeout"
FULL = "could not grow, the disk is full: nothing was changed; free some space"


@pytest.mark.parametrize(
    ("code", "failure", "message"),
    [
        ("NOTADB", StoreDamaged, "is not a database: move it away and import your last export"),
        ("BUSY", StoreBusy, LOCKED),
        ("READONLY", StoreReadOnly,
         "cannot be written: check the permissions of it and of its folder"),
        ("FULL", StoreFull, FULL),
    ],
)  # fmt: skip
def test_sqlite_errors_become_failures_with_advice(
    code: str, failure: type[StoreError], message: str, tmp_path: Path
) -> None:
    path = str(tmp_path / "search.db")
    Path(path).touch()
    error = apsw.exception_for(getattr(apsw, f"SQLITE_{code}"))
    assert isinstance(error, apsw.Error)
    said = translate(error, path)
    assert type(said) is failure and str(said) == f"{path}: {message}"
    with pytest.raises(failure) as raised, Translated(path):
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


def test_other_errors_pass_through() -> None:
    for block in (Translated("search.db"), GraphFaults()):
        with pytest.raises(KeyError), block:
            raise KeyError
        with block:
            pass
    with pytest.raises(apsw.BusyError), GraphFaults():
        raise apsw.exception_for(apsw.SQLITE_BUSY)


def test_invalid_text_and_json_are_damage() -> None:
    import json

    said = pytest.raises(StoreDamaged, match="has text that is not UTF-8: import your last")
    with said, Translated("search.db"):
        b"\xff".decode()
    said = pytest.raises(
        StoreDamaged, match="a record whose data is not valid JSON: import your last"
    )
    with said, Translated("search.db"):
        json.loads("{")
