"""Test commands on hostile stores: output, or an error in a line.

Each line of ``BROKEN`` breaks a valid store. ``doctor``, a deep search and a sample of commands run on each store.
"""

# ruff: noqa: E501 (a store is a line)
from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest
from commands import run_here
from forked import in_child, preload
from homes import move_home

from pylore import Lore

MOST_MEMORY = 1 << 30
MOST_SECONDS = 60
SAMPLE = 2
"""Number of sampled commands for each store."""

COMMANDS = """
search rotating keys
show note-1 --history
context sessions
graph stats
graph path note-1 note-3
graph neighbors note-1
graph view -o -
export
add note another thought
fact Zurich has_river Limmat
link note-1 relates_to note-3
forget note-2
forget note-2 --purge
verify
search keys --files src/a.py
run start --task note-1
run show run-1
feedback note-1 --helpful
confirm note-1
sweep
graph similar
reindex
store embed --all
doctor --full
""".strip().splitlines()
ALWAYS = ("search sessions keys --graph-depth 2 --explain", "doctor")


SOUND = """
INSERT INTO nodes(id, type, title, data, created_at, updated_at) VALUES
  ('run-1', 'run', 'a task', '{"task": "a task"}', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z');
INSERT INTO shown VALUES ('run-1', 'note-2', 1, 'keys', '2026-01-01T00:00:00Z');
INSERT INTO links(from_key, to_key, relation, metadata, created_at)
  SELECT a.key, b.key, 'used_in_run', '{"rating": "helpful", "position": 1, "query": "keys"}',
   '2026-01-01T00:00:00Z' FROM nodes a JOIN nodes b WHERE a.id = 'note-1' AND b.id = 'run-1';
INSERT OR IGNORE INTO ratings SELECT key, 1.0, 1 FROM nodes WHERE id = 'note-1';
INSERT INTO anchors(node_id, kind, path, detail, hash, commit_id, created_at, verified_at) VALUES
  ('note-1', 'file', 'src/a.py', '', '', '', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'),
  ('note-2', 'lines', 'src/a.py', '1-2', '00', '', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'),
  ('note-3', 'glob', 'src/*', '', '00', '', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z');
UPDATE nodes SET line_start = 1, line_end = 2 WHERE id = 'note-1';
INSERT INTO passages(key, node_key)
  SELECT max(key) + 1, (SELECT key FROM nodes WHERE id = 'run-1') FROM passages;
INSERT INTO texts_fts(rowid, title, body, tags, file, parts)
  SELECT max(key), 'a task', '', '', '', '' FROM passages;
INSERT INTO vectors SELECT 9, embedding FROM vectors WHERE key = 1;
UPDATE vectors SET key = (SELECT max(key) FROM passages) WHERE key = 9;
INSERT INTO sketches SELECT 999, bits FROM sketches WHERE key = 1;
UPDATE sketches SET key = (SELECT max(key) FROM passages) WHERE key = 999;
"""
"""Rows that are slow to make by commands."""


BROKEN: dict[str, str | Callable[[bytes], bytes]] = {
    # the schema
    "version 2": "PRAGMA user_version = 2",
    "a view in place of nodes": "DROP TABLE nodes; CREATE VIEW nodes AS SELECT hex(zeroblob(300000000)) AS id, 'note' AS type",
    "a view in place of edges": "DROP VIEW graph_edges; DROP TABLE links; CREATE VIEW graph_edges AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT n AS from_key FROM r",
    "a trigger that deletes": "CREATE TRIGGER evil AFTER INSERT ON nodes BEGIN DELETE FROM nodes; END",
    "a collation that is not there": "DROP TABLE types; PRAGMA writable_schema = ON; INSERT INTO sqlite_schema SELECT 'table', 'types', 'types', rootpage, 'CREATE TABLE types(name TEXT COLLATE evil PRIMARY KEY, description TEXT)' FROM sqlite_schema WHERE name = 'meta'",
    "a table in another's pages": "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'meta') WHERE name = 'nodes'",
    "nodes of other columns": "DROP TABLE nodes; CREATE TABLE nodes(a, b)",
    "a body of many words": "UPDATE nodes SET body = replace(hex(zeroblob(1000000)), '00', 'keys ') WHERE id = 'note-1'",
    "metadata of other kinds": 'UPDATE links SET metadata = \'{"rating": {}, "position": "x", "query": [], "rated_at": {}}\'',
    "a hub": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO absent SELECT 1000 + i, 'note-x' || i FROM n; INSERT INTO links(from_key, to_key, relation, created_at) SELECT (SELECT key FROM nodes WHERE id = 'note-1'), key, 'relates_to', '' FROM absent WHERE key > 1000",
    "another's vectors": "UPDATE meta SET value = 'static:another' WHERE key = 'embedder'",
    "full text without an index": "DELETE FROM texts_fts_data",
    "full text of noise": "UPDATE texts_fts_data SET block = randomblob(length(block))",
    "an anchor's commit an option": "UPDATE anchors SET commit_id = '--output=victim'",
    "facts that are no JSON": "INSERT INTO code_files(path, hash, stamp, language, facts) VALUES ('src/a.py', '', '', 'python', '{')",
    "no bytes": lambda data: b"",
    "a schema format of 99": lambda data: data[:44] + b"\0\0\0\x63" + data[48:],
    "pages in a circle": lambda data: _looped(data, "nodes"),
}


def _altered(data: bytes, statements: str) -> bytes:
    """Return the store after statements; tables accept values of any kind meanwhile."""
    with open("altered.db", "wb") as file:
        file.write(data)
    connection = _lax_connection()
    strict = connection.execute(
        "SELECT sql FROM sqlite_schema WHERE sql LIKE '%STRICT%'"
    ).fetchall()
    lax = [(re.sub(r"STRICT(, )?|,? STRICT$", "", sql), sql) for (sql,) in strict]
    connection.executemany("UPDATE sqlite_schema SET sql = ?1 WHERE sql = ?2", lax)
    connection.close()
    connection = _lax_connection()
    connection.execute(statements)
    connection.executemany("UPDATE sqlite_schema SET sql = ?2 WHERE sql = ?1", lax)
    connection.close()
    with open("altered.db", "rb") as file:
        altered = file.read()
    os.remove("altered.db")
    return altered


def _lax_connection() -> apsw.Connection:
    connection = apsw.Connection("altered.db")
    connection.execute(
        "PRAGMA journal_mode = delete; PRAGMA foreign_keys = 0; PRAGMA recursive_triggers = 0;"
        "PRAGMA ignore_check_constraints = 1; PRAGMA writable_schema = 1"
    ).fetchall()
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    return connection


def _in_memory(data: bytes) -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.deserialize("main", data[:18] + b"\1\1" + data[20:])  # without a WAL
    return connection


def _looped(data: bytes, table: str) -> bytes:
    """Return the store with a table that repeats rows 100 to the power of 16 times."""
    connection = _in_memory(data)
    root = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).get
    size, count = 4096, len(data) // 4096
    pages = [bytearray(data[at : at + size]) for at in range(0, len(data), size)]
    assert pages[root - 1][0] == 13, "a table of one page"
    levels = [root, *range(count + 2, count + 17)]
    pages += [bytearray(pages[root - 1]), *(bytearray(size) for _ in levels[1:])]
    for level, page in enumerate(levels):
        below = levels[level + 1] if level + 1 < len(levels) else count + 1
        cells = [below.to_bytes(4, "big") + bytes([key]) for key in range(1, 101)]
        start = size - 5 * len(cells)
        pages[page - 1][:] = (
            b"\5\0\0"
            + len(cells).to_bytes(2, "big")
            + start.to_bytes(2, "big")
            + b"\0"
            + below.to_bytes(4, "big")
            + b"".join((start + 5 * n).to_bytes(2, "big") for n in range(len(cells)))
        ).ljust(start, b"\0") + b"".join(cells)
    pages[0][28:32] = len(pages).to_bytes(4, "big")
    return b"".join(map(bytes, pages))


TEXTS = (
    "sessions are signed with rotating keys",
    "keys are rotated each week",
    "another thought on sessions and keys",
)


class Project:
    """A folder with a valid store with all kinds of rows, and an empty home."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir()
        self.store = folder / ".lore"
        (folder / "src").mkdir()
        (folder / "src/a.py").write_text("def rotate():\n    return 1\n")
        with Lore(self.store, create=True) as lore:
            for number, text in enumerate(TEXTS, start=1):
                lore.add("note", text, id=f"note-{number}", why="they leak", tags=("keys",))
            lore.fact("Zurich", "has_river", "Limmat")
            lore.link("note-1", "relates_to", "note-2")
            lore.link("note-2", "relates_to", "note-3")
        self.data = _altered(self._whole(), SOUND)
        self.outside = self._files()

    def _whole(self) -> bytes:
        connection = apsw.Connection(str(self.store / "search.db"))
        connection.pragma("wal_checkpoint(truncate)")
        connection.close()
        return (self.store / "search.db").read_bytes()

    def put(self, data: bytes) -> None:
        for name in os.listdir(self.store):
            (self.store / name).unlink()
        (self.store / "search.db").write_bytes(data)

    def _files(self) -> dict[str, int]:
        """Return the sizes of all files outside the store and the caches."""
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        own = [path for path in files if path.parent == self.store or path.parent.name == "events"]
        others = [path for path in files if path not in own and "cache" not in path.parts]
        return {str(path): path.stat().st_size for path in others}


Outcome = tuple[str, int, str, str]
"""Command, exit code, stderr, and stdout of doctor."""


def outcomes(project: Project, data: bytes, commands: list[str]) -> list[Outcome]:
    """Run commands in a process with a gigabyte and a minute; return their outcomes."""

    def run(words: str) -> Outcome:
        project.put(data)
        done = run_here(words.split())
        return words, done.code, done.err, done.out if words.startswith("doctor") else ""

    found = in_child(lambda: [*map(run, commands)], MOST_MEMORY, MOST_SECONDS)
    return [tuple(outcome) for outcome in found]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    folder = tmp_path_factory.mktemp("project")
    preload()
    with pytest.MonkeyPatch.context() as patch:
        move_home(patch, folder / "home")
        patch.chdir(folder)
        patch.setattr("pylore.cli.doctor.of_machine", lambda settings: [])
        patch.setenv("LORE_DIR", str(folder / ".lore"))
        patch.setenv("LORE_STORE", str(folder / ".lore"))
        yield Project(folder)


def test_valid_store(project: Project) -> None:
    for words, code, said, _ in outcomes(project, project.data, [*ALWAYS, *COMMANDS]):
        assert (code, "bug" in said) == (0, False), (words, said)


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", BROKEN)
def test_broken_store(project: Project, name: str) -> None:
    how = BROKEN[name]
    data = _altered(project.data, how) if isinstance(how, str) else how(project.data)
    assert data != project.data
    found = outcomes(project, data, [*ALWAYS, *random.Random(name).sample(COMMANDS, SAMPLE)])
    for words, code, said, _ in found:
        assert code in (0, 1, 2), (name, words, said)
        if code and not words.startswith("doctor"):
            assert re.fullmatch(r"(lore: .*\n)*lore: .*: .*\n", said), (name, words, said)
    assert project.outside == project._files(), name
    if any(code for _, code, _, _ in found):
        checks = json.loads(found[ALWAYS.index("doctor")][3])
        failed = [check for check in checks if not check["ok"]]
        assert failed and all(check["detail"] and check["fix"] for check in failed), name
