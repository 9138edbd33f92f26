"""Each damage is done to a real store, and the check that is there for it must fail."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from commands import Lore
from homes import move_home
from new_stores import new_store

from pylore.cli.doctor import Check, examine
from pylore.core.settings import Settings
from pylore.embed import open_embedder
from pylore.indexing.embed import embed_missing
from pylore.indexing.indexer import rebuild
from pylore.records.records import Records
from pylore.store import open_store
from pylore.store.vectors import extension_file

IDS = (
    "python sqlite sqlite-vec embedder ast-grep jq config store data-folder tables indexes "
    "integrity values fulltext foreign-keys passages vectors edges ontology purged shared-file "
    "copies"
).split()


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    move_home(monkeypatch, tmp_path / "home")


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A data folder with three decisions; the third has no words."""
    path = str(tmp_path / "a store")
    new_store(path).close()
    with open_store(path) as store:
        records = Records(store, Settings(), open_embedder("static", store), path)
        first = records.add("decision", "sessions are signed with a rotating key")
        second = records.add("decision", "queries are answered from a replica")
        records.add("decision", "…!")
        records.link(first.id, "relates_to", second.id)
    return path


def examined(folder: str, *, full: bool = False) -> dict[str, Check]:
    return dict(examine(folder, Settings(), full=full))


def failing(checks: dict[str, Check]) -> set[str]:
    return {id for id, check in checks.items() if not check.ok}


def warning(checks: dict[str, Check]) -> set[str]:
    return {id for id, check in checks.items() if check.ok and check.fix}


def damage(folder: str | Path, *statements: str) -> None:
    """Runs statements that lore itself would not."""
    connection = apsw.Connection(os.path.join(folder, "search.db"))
    connection.enable_load_extension(True)
    connection.load_extension(extension_file())
    connection.execute("PRAGMA foreign_keys = OFF; PRAGMA writable_schema = ON")
    for statement in statements:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize("full", [False, True])
def test_a_sound_store_passes_every_check(folder: str, full: bool) -> None:
    checks = examined(folder, full=full)
    assert [*checks] == IDS
    assert failing(checks) | warning(checks) <= {"jq"}


DAMAGES = """
DELETE FROM passages | passages
UPDATE nodes SET status = 'retracted' | passages
DELETE FROM texts_fts_data WHERE id > 10 | fulltext
INSERT INTO texts_fts(texts_fts) VALUES ('delete-all') | passages
DELETE FROM vectors WHERE key = 1 | vectors
DROP TABLE vectors | indexes
UPDATE meta SET value = 'static:another' WHERE key = 'embedder' | vectors
UPDATE nodes SET type = 'unheard' | foreign-keys
DROP TRIGGER graph_edges_insert | tables
DROP TABLE links | tables
"""
FIXES = {"foreign-keys": "import your last export", "tables": "import your last export"}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("line", DAMAGES.strip().splitlines())
def test_a_damage_is_found_and_named(folder: str, line: str) -> None:
    statement, id = line.split(" | ")
    damage(folder, statement)
    checks = examined(folder)
    assert id in failing(checks)
    assert FIXES.get(id, "embed --all" if "another" in line else "reindex") in str(checks[id].fix)


def test_reindex_fixes_reported_damage(folder: str) -> None:
    lost = "DELETE FROM texts_fts_data WHERE id > 10; DELETE FROM texts_fts_docsize WHERE id = 1"
    damage(folder, f"{lost}; DROP TABLE vectors")
    assert failing(examined(folder)) == {"indexes", "fulltext", "passages", "vectors"}
    with open_store(folder) as store:
        rebuild(store, "auto")
        embed_missing(store, open_embedder("static", store))
    assert failing(examined(folder)) == set()


def test_dangling_edge_is_a_warning(folder: str) -> None:
    columns = "from_key, to_key, relation, created_at"
    damage(
        folder,
        "INSERT INTO absent VALUES (101, 'decision-1'), (102, 'decision-2')",
        f"INSERT INTO links({columns}) VALUES (101, 102, 'relates_to', '')",
    )
    checks = examined(folder)
    assert warning(checks) - {"jq"} == {"edges"}
    assert failing(checks) == set()
    assert "decision-1 relates_to decision-2" in checks["edges"].detail


# --- files that are no store


def overwrite_pages(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    path.write_bytes(data)


HARMS = {
    "missing": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "no database": lambda path: path.write_bytes(b"no database\n" * 500),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-9000]),
    "overwritten": overwrite_pages,
    "of a different version": lambda path: damage(path.parent, "PRAGMA user_version = 99"),
}


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_invalid_store_fails_a_check_with_a_fix(folder: str, harm: Callable[[Path], None]) -> None:
    harm(Path(folder, "search.db"))
    checks = examined(folder)
    assert failing(checks) & {"store", "integrity"}
    assert all(checks[id].detail and checks[id].fix for id in failing(checks))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_folder_is_checked(folder: str) -> None:
    os.chmod(folder, 0o555)
    assert failing(examined(folder)) == {"data-folder"}
    os.chmod(folder, 0o755)


# --- the command


def failed(lore: Lore, code: int = 1) -> dict[str, str]:
    """Return the ids of failed checks, each with the command that mends."""
    done = lore("doctor", code=code)
    assert not done.err
    return {row["id"]: row["fix"] for row in done.json if not row["ok"]}


def test_doctor_prints_checks_as_json_and_as_text(lore: Lore) -> None:
    lore("add", "decision", "sessions are signed with a rotating key")
    assert failed(lore, 0) == {}
    assert {*lore("doctor").json[0]} == {"id", "ok", "detail", "fix"}
    assert re.match(r"ok +python +Python 3\.", lore("doctor", "--text").out)
    lore.refuse("doctor", "--fulll")


@pytest.mark.parametrize("text", ["graph_depth=$(touch gotcha)\n", "graph_depth=9\n"])
def test_doctor_reports_a_config_that_commands_refuse(lore: Lore, text: str) -> None:
    lore.write(".lore/.config", text)
    lore.refuse("list")
    assert {*failed(lore)} == {"config"}
    details = {row["id"]: row["detail"] for row in lore("doctor", code=1).json}
    assert ".config:1:" in details["config"]
    assert os.listdir(lore.project) == [".lore"]


def test_doctor_names_every_problem_of_the_config(lore: Lore) -> None:
    lore.config.write_text("limit = 3\nrrf_k=x\ngrap_depth=2\n")
    (check,) = [row for row in lore("doctor", code=1).json if row["id"] == "config"]
    assert f"{lore.config}:1: " in check["detail"] and f"{lore.config}:2: " in check["detail"]
    lore.config.write_text("grap_depth=2\n")
    (check,) = [row for row in lore("doctor").json if row["id"] == "config"]
    assert check["fix"] and "unknown setting 'grap_depth'" in check["detail"]
