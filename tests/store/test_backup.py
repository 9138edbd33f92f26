"""Backups and restores."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from new_stores import new_store
from things import a_node, an_edge

from pylore.core.errors import LoreError, StoreError
from pylore.formats.export import export_lines
from pylore.store import backup, open_store
from pylore.store.backup import back_up, copies_kept, restore_backup
from pylore.store.opening import SCHEMA_VERSION


def filled(folder: Path, *names: str) -> str:
    with new_store(str(folder)) as store, store.transaction():
        for name in names:
            store.nodes.put(a_node(f"note-{name}", body="words " * 2000))
    return str(folder)


def told(folder: str) -> list[str]:
    with open_store(folder) as store:
        return [*export_lines(store)]


def in_child(work: Callable[[], object]) -> int:
    """Run in a child process; return the exit status."""
    child = os.fork()
    if not child:
        try:
            work()
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1]


class KillingPages:
    """A number of pages that kills this process when it is read for the nth time."""

    def __init__(self, step: int) -> None:
        self.left = step

    def __index__(self) -> int:
        self.left -= 1
        if self.left < 0:
            killed()
        return 5


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_backup_during_writes_is_consistent(tmp_path: Path) -> None:
    folder = filled(tmp_path / "store", "first")
    child = os.fork()
    if not child:
        with open_store(folder) as store:
            for turn in range(3000):
                with store.transaction():
                    store.nodes.put(a_node(f"note-a{turn}", body="words " * 200))
                    store.nodes.put(a_node(f"note-b{turn}"))
                    store.edges.put(an_edge(f"note-a{turn}", f"note-b{turn}"))
        os._exit(1)
    try:
        for _ in range(2):
            back_up(folder, str(tmp_path / "backup.db"))
        restore_backup(folder, str(tmp_path / "backup.db"))
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    with open_store(folder) as store:
        assert store.checks.damage(full=True) == []
        assert len([*store.nodes.all()]) == 2 * len([*store.edges.all()]) + 1


def test_open_connections_survive_a_restore(tmp_path: Path) -> None:
    folder = filled(tmp_path / "store", "kept")
    file = str(tmp_path / "backup.db")
    back_up(folder, file)
    with open_store(folder) as other:
        with other.transaction():
            other.nodes.put(a_node("note-later"))
            machine = other.changes.machine()
        with other.snapshot():
            assert other.nodes.get("note-later")
            back = restore_backup(folder, file)
            assert other.nodes.get("note-later")  # from the snapshot
        assert other.nodes.get("note-later") is None
        with other.transaction():
            other.nodes.put(a_node("note-after"))
            assert other.changes.machine() != machine
    assert sum('"id": "note-' in line for line in told(folder)) == 2
    assert back is not None
    assert os.stat(back).st_mode & 0o777 == os.stat(file).st_mode & 0o777 == 0o600
    restore_backup(folder, back)
    assert any('"id": "note-later"' in line for line in told(folder))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("step", [3, 0, 8])
def test_killed_restore_is_atomic(
    tmp_path: Path, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, file = filled(tmp_path / "store", "a", "b"), str(tmp_path / "backup.db")
    back_up(folder, file)
    whole = told(folder)
    with open_store(folder) as store, store.transaction():
        store.nodes.put(a_node("note-c", body="words " * 20_000))
    before = told(folder)
    old = Path(file).read_bytes()
    with monkeypatch.context() as patched:  # copied, and not moved
        patched.setattr(os, "replace", lambda *_: killed())
        assert in_child(lambda: back_up(folder, file)) == signal.SIGKILL
    assert Path(file).read_bytes() == old

    keep = backup._keep

    def keep_and(act: Callable[[], object]) -> Callable[[str, str], str]:
        def kept(live: str, place: str) -> str:
            path = keep(live, place)
            act()
            return path

        return kept

    for act in (killed, lambda: setattr(backup, "PAGES", KillingPages(step))):
        with monkeypatch.context() as patched:
            patched.setattr(backup, "_keep", keep_and(act))
            assert in_child(lambda: restore_backup(folder, file)) == signal.SIGKILL
        assert told(folder) == before
    restore_backup(folder, file)
    assert told(folder) == whole


Damage = Callable[[bytes], bytes]


def _overwritten(start: int, end: int) -> Damage:
    def damage(data: bytes) -> bytes:
        return data[: start * 4096] + b"\xff" * (end - start) * 4096 + data[end * 4096 :]

    return damage


DAMAGES: list[Damage] = [
    lambda data: b"no database at all, and long enough to be read as one" * 50,
    lambda data: data[:20_000],
    _overwritten(8, 40),
    lambda data: b"",
]


def _is_readable(folder: str) -> bool:
    try:
        apsw.Connection(f"{folder}/search.db").execute("SELECT * FROM sqlite_schema").fetchall()
    except apsw.Error:
        return False
    return True


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_store_is_replaced_and_saved(tmp_path: Path, damage: Damage) -> None:
    folder, file = filled(tmp_path / "store", "a", "b"), str(tmp_path / "backup.db")
    back_up(folder, file)
    whole = told(folder)
    live = tmp_path / "store/search.db"
    broken = damage(live.read_bytes())
    live.write_bytes(broken)
    if broken and not _is_readable(folder):
        with pytest.raises(StoreError, match="the store is unchanged: close all programs"):
            restore_backup(folder, file)
        assert live.read_bytes() == broken
        return
    back = restore_backup(folder, file)
    assert told(folder) == whole
    assert Path(back).read_bytes() == broken if back else not broken


@pytest.mark.parametrize("damage", [*DAMAGES, _overwritten(1, 2), _overwritten(12, 13)])
def test_damaged_backup_is_refused(tmp_path: Path, damage: Damage) -> None:
    folder, file = filled(tmp_path / "store", "a", "b"), tmp_path / "backup.db"
    back_up(folder, str(file))
    before = told(folder)
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(StoreError) as refused:
        restore_backup(folder, str(file))
    said = str(refused.value)
    assert said.startswith(f"{file}: ") and "the store is unchanged: " in said
    assert "\n" not in said and "doctor" not in said
    assert told(folder) == before
    assert not [name for name in os.listdir(folder) if "restore" in name]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("CREATE TRIGGER r AFTER DELETE ON nodes BEGIN SELECT 1; END", "not lore's (r), the store"),
        ("CREATE VIEW v AS SELECT 1", "not lore's (v), the store"),
        (
            "PRAGMA user_version = 99",
            f"schema version 99, this lore reads {SCHEMA_VERSION},"
            " the store is unchanged: use a newer lore",
        ),
        ("DROP TABLE links", "lacks links, the store is unchanged: take another backup"),
    ],
)
def test_foreign_or_incomplete_backup_is_refused(tmp_path: Path, statement: str, said: str) -> None:
    folder, file = filled(tmp_path / "store", "a"), str(tmp_path / "backup.db")
    back_up(folder, file)
    connection = apsw.Connection(file)
    connection.execute(statement)
    connection.close()
    with pytest.raises(StoreError) as refused:
        restore_backup(folder, file)
    assert said in str(refused.value)


def test_three_replaced_stores_remain(tmp_path: Path) -> None:
    folder, file = filled(tmp_path / "store", "a"), str(tmp_path / "backup.db")
    back_up(folder, file)
    made = [restore_backup(folder, file) for _ in range(5)]
    assert copies_kept(f"{folder}/search.db") == made[2:]


def test_restore_creates_a_missing_store(tmp_path: Path) -> None:
    folder, file = filled(tmp_path / "store", "a"), str(tmp_path / "backup.db")
    back_up(folder, file)
    (tmp_path / "new").mkdir()
    (tmp_path / "new/search.db-wal").write_bytes(b"of another store")
    assert restore_backup(str(tmp_path / "new"), file) is None
    assert told(str(tmp_path / "new")) == told(folder)
    with pytest.raises(StoreError, match="run 'lore init'"):
        restore_backup(str(tmp_path / "nowhere"), file)


def test_backup_replaces_only_backups(tmp_path: Path) -> None:
    folder = filled(tmp_path / "store", "a")
    mine, log = tmp_path / "mine.db", tmp_path / "open.db-wal"
    mine.write_text("mine")
    log.write_text("what is not yet in open.db")
    for file, said in (
        (mine, "is no backup of lore's"),
        (tmp_path / "store/search.db", "is the store itself"),
        (tmp_path / "store/search.db-wal", "is the store itself"),
        (tmp_path / "open.db", "belongs to a database that is in use"),
        (tmp_path / "store", "is no backup of lore's"),
    ):
        with pytest.raises(LoreError) as refused:
            back_up(folder, str(file))
        assert said in str(refused.value)
    os.link(folder + "/search.db", tmp_path / "other name.db")
    with pytest.raises(LoreError, match="is the store itself"):
        back_up(folder, str(tmp_path / "other name.db"))
    assert mine.read_text() == "mine"
    mine.unlink()
    for _ in range(2):
        back_up(folder, str(mine))
    assert sorted(os.listdir(tmp_path)) == ["mine.db", "open.db-wal", "other name.db", "store"]


def test_backup_includes_the_log(tmp_path: Path) -> None:
    folder, file = filled(tmp_path / "store", "a"), tmp_path / "copy.db"
    with open_store(folder) as store:
        store.connection.wal_autocheckpoint(0)
        with store.transaction():
            store.nodes.put(a_node("note-in-the-log"))
        for suffix in ("", "-wal"):  # like cp without writers
            Path(f"{file}{suffix}").write_bytes(Path(f"{store.path}{suffix}").read_bytes())
        back_up(folder, str(tmp_path / "backup.db"))
    for source in ("copy.db", "backup.db"):
        other = filled(tmp_path / f"other {source}")
        restore_backup(other, str(tmp_path / source))
        assert told(other) == told(folder)
