"""Look for purged texts in the file of the store."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from pylore.core.settings import Settings
from pylore.records.records import Records
from pylore.store import Store, create_store, open_store

SECRET = "zanzibarsecret"


def purge(store: Store) -> None:
    records = Records(store, Settings(), None, "")
    for number in range(40):
        records.add("note", f"Filler {number} that is about nothing in particular")
    records.add("note", f"The {SECRET} is under the flowerpot", id="note-x")
    records.edit("note-x", text=f"The {SECRET} was moved to the attic")
    records.add("note", "another", links=[("note-x", "relates_to")])
    records.forget(["note-x"], purge=True)


def remove_file(store: Store) -> None:
    path = "src/keys.py"
    with store.transaction():
        store.code.put([(name, "", "", "python", "{}") for name in (path, "src/other.py")])
        store.whole_files.put([("src/other.py", "nothing of this", ""), (path, SECRET, "")])
    with store.transaction():
        store.whole_files.remove([path])
        store.code.remove([path])


def in_files(folder: Path) -> bool:
    return any(SECRET.encode() in path.read_bytes() for path in folder.iterdir())


@pytest.mark.parametrize("engine", ["fts5", "fts4"])
def test_wipe_removes_purged_texts(tmp_path: Path, engine: str) -> None:
    create_store(str(tmp_path), fulltext=engine).close()
    with open_store(str(tmp_path)) as store:
        purge(store)
        remove_file(store)
        assert in_files(tmp_path)
        assert store.wipe()
    assert not in_files(tmp_path)


def test_wipe_waits_for_readers(tmp_path: Path) -> None:
    create_store(str(tmp_path)).close()
    with open_store(str(tmp_path)) as store:
        purge(store)
        reader = apsw.Connection(store.connection.filename)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM nodes").fetchall()
        store.connection.set_busy_timeout(30_000)
        assert not store.wipe()
        reader.close()
        assert store.wipe()
    assert not in_files(tmp_path)
