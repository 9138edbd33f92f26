"""Opening search.db."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from new_stores import is_locked
from things import a_node

from pylore.core.errors import NoStore, StoreError
from pylore.store import create_store, open_store
from pylore.store.backup import back_up, restore_backup
from pylore.store.opening import APPLICATION_ID


@pytest.fixture
def folder(tmp_path: Path) -> str:
    with create_store(str(tmp_path / "store")) as store:
        store.nodes.put(a_node("note-a"))
    return str(tmp_path / "store")


@pytest.mark.parametrize(
    "statement",
    [
        "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema",
        "BEGIN; CREATE VIEW v AS SELECT 1; SELECT * FROM v",
        "INSERT INTO nodes(id, type, created_at, updated_at) VALUES ('x-1', 'x', '', '')",
        "ATTACH ':memory:' AS one; ATTACH ':memory:' AS two",
        "SELECT zeroblob(1 << 27)",
    ],
)
def test_connections_refuse_harmful_statements(statement: str, folder: str) -> None:
    with open_store(folder) as store, pytest.raises(apsw.Error):
        store.connection.execute(statement).fetchall()
    with open_store(folder) as store:
        assert store.nodes.get("note-a") is not None


@pytest.mark.parametrize("logged", [True, False])
def test_read_only_folder_shows_all_commits(
    logged: bool, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with create_store(folder) as writer:
        if logged:  # the last commit is not in the file itself yet
            writer.nodes.put(a_node("note-b"))
        monkeypatch.setattr("os.access", lambda *_: False)  # root may write anywhere
        with open_store(folder) as store:
            assert not store.writable
            assert [node.id for node in store.nodes.all()] == ["note-a", "note-b"][: 1 + logged]
            with pytest.raises(StoreError), store.faults, store.transaction():
                store.nodes.put(a_node("note-c"))


def test_missing_and_empty_stores_are_reported(tmp_path: Path) -> None:
    with pytest.raises(NoStore, match=f"no store in {tmp_path}/none: run 'lore init'"):
        open_store(str(tmp_path / "none"))
    with pytest.raises(NoStore, match="run 'lore init'"):
        open_store(str(tmp_path))
    (tmp_path / "search.db").touch()
    with pytest.raises(StoreError, match="is empty: 'lore init' makes a store of it, then import"):
        open_store(str(tmp_path))
    with create_store(str(tmp_path)) as store:
        assert store.connection.pragma("application_id") == APPLICATION_ID
        assert store.connection.pragma("journal_mode") == "wal"
    (tmp_path / "file").touch()
    (tmp_path / "taken/search.db").mkdir(parents=True)
    with pytest.raises(StoreError, match=r"search\.db: is not a plain file: move it away"):
        create_store(str(tmp_path / "taken"))
    (tmp_path / "link").symlink_to("nowhere")
    for place in ("file/store", "file/deep/store", "link"):
        with pytest.raises(StoreError, match=": Not a directory: choose a different folder with"):
            create_store(str(tmp_path / place))


def test_opening_and_restoring_preserve_locks(folder: str, tmp_path: Path) -> None:
    with open_store(folder) as store:
        with store.transaction():
            store.nodes.put(a_node("note-b"))
        assert is_locked(f"{folder}/search.db")
        create_store(folder).close()
        assert is_locked(f"{folder}/search.db")
        back_up(folder, str(tmp_path / "backup"))
        restore_backup(folder, str(tmp_path / "backup"))
        assert is_locked(f"{folder}/search.db")
    assert not is_locked(f"{folder}/search.db")


@pytest.mark.parametrize("instead", [None, b"another log"])
def test_commit_to_a_removed_log_fails(folder: str, instead: bytes | None) -> None:
    log = Path(f"{folder}/search.db-wal")
    store = open_store(folder)
    with store.transaction():
        store.nodes.put(a_node("note-b"))
    log.unlink()
    if instead is not None:
        log.write_bytes(instead)
    with pytest.raises(StoreError, match=r"search\.db-wal: was removed"), store.transaction():
        store.nodes.put(a_node("note-c"))
    log.unlink(missing_ok=True)
    store.close()
