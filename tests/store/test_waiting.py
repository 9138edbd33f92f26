"""Waiting for locks, and durability."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from soak.disks import Disk, used

import pylore
from pylore.core.settings import Settings
from pylore.formats.jsonl import import_lines
from pylore.records.records import Records
from pylore.store import Store, create_store, open_store

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with create_store(str(tmp_path / "store")) as store:
        yield store


# --- vectors do not block writers


class Slow:
    """An embedder that writes to the store by a second connection."""

    name, dimension = "slow", 8

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.asked = 0

    def embed(self, texts: Sequence[str]) -> list[bytes | None]:
        self.asked += 1
        with open_store(self._folder, busy_timeout=0) as other, other.transaction():
            other.meta.set("written meanwhile", str(self.asked))
        return [b"\0\0\x80?" * 8 for _ in texts]


WRITES: dict[str, Callable[[Store, Slow], object]] = {
    "add": lambda store, slow: Records(store, Settings(), slow).add("note", "a", file="b.py"),
    "import": lambda store, slow: import_lines(
        store, Settings(), slow, [b'{"id":"note-1","body":"one"}']
    ),
}


@pytest.mark.parametrize("name", WRITES)
def test_vectors_do_not_block_writers(store: Store, name: str) -> None:
    slow = Slow(os.path.dirname(store.path))
    WRITES[name](store, slow)
    assert store.meta.get("written meanwhile")
    assert store.vectors.count_passages(lacking=True) == 0


# --- nor do pipes


def test_waiting_import_does_not_block_writers(store: Store, tmp_path: Path) -> None:
    store.close()
    environ = {key: value for key, value in os.environ.items() if key[:4] != "LORE"}
    environ |= {"HOME": str(tmp_path), "LORE_DIR": str(tmp_path / "store")}
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    words = [str(ROOT / "lore.sh"), "import", "-"]
    with (
        subprocess.Popen(words, cwd=tmp_path, env=environ, text=True, **pipes) as process,
        pylore.open(tmp_path / "store") as sdk,
    ):
        assert process.stdin is not None
        process.stdin.write('{"id":"note-1"}\n' * 5000)  # more than a pipe's buffer
        process.stdin.flush()
        assert sdk.add("note", "another").state == "added"
        assert sdk.get("note-1") is None
        process.stdin.write('{"id":"note-2"}')
        out, err = process.communicate()
        assert process.returncode == 0, err
        assert json.loads(out)["nodes"] == 5001
        assert sdk.get("note-2") is not None


# --- concurrent writers


WRITER = """
import sys
from pylore.store import open_store
folder, name, count = sys.argv[1:]
for number in range(int(count)):
    with open_store(folder, busy_timeout=60) as store, store.transaction():
        store.meta.set(f"{name} {number}", "written")
"""


def test_long_transaction_does_not_refuse_writers(store: Store) -> None:
    run = [sys.executable, "-c", WRITER, os.path.dirname(store.path)]
    with store.transaction():
        writers = [
            subprocess.Popen([*run, f"writer{number}", "4"], cwd=ROOT, stderr=subprocess.PIPE)
            for number in range(6)
        ]
        writers[0].send_signal(signal.SIGKILL)
        time.sleep(0.5)
    for process in writers[1:]:
        assert process.communicate()[1] == b"" and process.returncode == 0
    written = store.connection.execute("SELECT count(*) FROM meta WHERE value = 'written'").get
    assert written >= 20
    writers[0].communicate()


# --- syncs


class Watched(Disk):
    """A disk with the number of syncs of write-ahead logs."""

    syncs = 0

    def synced(self, path: str) -> None:
        self.syncs += path.endswith("-wal")


def test_commits_are_synced_except_reads(store: Store) -> None:
    watched = Watched("watched")
    with used(watched), open_store(os.path.dirname(store.path)) as other:  # while ``store`` is open
        records = Records(other, Settings(), None)
        records.add("note", "the first one makes the log")
        for write in (
            lambda: records.add("note", "a text", id="note-a"),
            lambda: records.edit("note-a", text="another text"),
            lambda: records.forget(["note-a"]),
            lambda: import_lines(other, Settings(), None, [b'{"id":"note-b"}']),
        ):
            before = watched.syncs
            write()
            assert watched.syncs > before
        before = watched.syncs
        with other.aside():
            other.meta.set("told", "yes")
        assert watched.syncs == before
