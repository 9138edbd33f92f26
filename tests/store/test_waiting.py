"""Writers wait for each other, not for an embedder, and what they wrote is durable."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Thread
from typing import Any

import apsw
import pytest
from pages import import_documents
from sqlite_stores import connection_of

import pylore
from pylore.code.edges import Resolver
from pylore.code.index import index
from pylore.core.model import Node
from pylore.core.settings import Settings
from pylore.core.vocabulary import symbol_id
from pylore.formats.jsonl import import_lines
from pylore.indexing.embed import embed_missing
from pylore.indexing.indexer import rebuild, write_nodes
from pylore.records.records import Records
from pylore.store import Store, create_store, open_store

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with create_store(str(tmp_path / "store")) as store:
        yield store


# --- nobody waits for an embedder


class Slow:
    """Takes so long that another process writes to the store meanwhile."""

    name, dimension = "slow", 8

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.asked = 0

    def embed(self, texts: Sequence[str]) -> list[bytes | None]:
        self.asked += 1
        with open_store(self._folder, busy_timeout=0) as other, other.transaction():
            other.meta.set("written meanwhile", str(self.asked))
        return [b"\0\0\x80?" * 8 for _ in texts]


def _markdown(store: Store, slow: Slow) -> object:
    page = Path(store.path).parent.parent / "page.md"
    page.write_text("# A page\n\nsays [more](src/a.py)\n")
    (page.parent / "src").mkdir()
    (page.parent / "src/a.py").write_text("")
    return import_documents(store, Settings(), slow, [str(page)], str(page.parent))


def _index(store: Store, slow: Slow) -> object:
    root = Path(store.path).parent.parent
    (root / "a.py").write_text("def one():\n    return 1\n")
    return index(store, Settings(), lambda: slow, str(root))


def _file_node(store: Store, slow: Slow) -> None:
    with store.transaction():
        write_nodes(store, [Node("file-a.py", "file", title="a.py")])
    embed_missing(store, slow)


def _reindex(store: Store, slow: Slow) -> None:
    _old(store)
    rebuild(store, "auto")
    embed_missing(store, slow)


def _old(store: Store) -> Records:
    records = Records(store, Settings(), None)
    records.add("note", "an old one", id="note-old")
    return Records(store, Settings(), Slow(os.path.dirname(store.path)))


def _forgotten(store: Store) -> Records:
    records = _old(store)
    records.forget(["note-old"])
    return records


LINES = [b'{"id":"note-1","body":"one"}', b'{"id":"note-1","title":"two"}', b'{"id":"note-2"}']

WRITES: dict[str, Callable[[Store, Slow], object]] = {
    "add": lambda store, slow: Records(store, Settings(), slow).add("note", "a", file="b.py"),
    "edit": lambda store, slow: _old(store).edit("note-old", text="a new text"),
    "restore": lambda store, slow: _forgotten(store).restore(["note-old"]),
    "fact": lambda store, slow: Records(store, Settings(), slow).fact("shop", "uses", "redis"),
    "import": lambda store, slow: import_lines(store, Settings(), slow, LINES),
    "markdown": _markdown,
    "reindex": _reindex,
    "index": _index,
    "a file to link to": _file_node,
}


@pytest.mark.parametrize("name", WRITES)
def test_others_write_while_a_write_waits_for_its_vectors(store: Store, name: str) -> None:
    slow = Slow(os.path.dirname(store.path))
    WRITES[name](store, slow)
    assert store.meta.get("written meanwhile")
    assert store.vectors.count_lacking() == 0


def test_others_write_while_names_are_resolved(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Resolver.edges

    def resolved(*given: Any) -> Any:
        found = before(*given)
        with open_store(os.path.dirname(store.path), busy_timeout=0) as other, other.transaction():
            other.meta.set("written meanwhile", "yes")
        return found

    monkeypatch.setattr(Resolver, "edges", resolved)
    (tmp_path / "a.py").write_text("def one():\n    return two()\ndef two(): pass\n")
    index(store, Settings(), lambda: None, str(tmp_path))
    assert store.meta.get("written meanwhile")
    ends = symbol_id("a.py", "one"), symbol_id("a.py", "two")
    assert store.edges.get(*ends, "calls") is not None


def test_what_is_embedded_is_embedded_once(store: Store) -> None:
    slow = Slow(os.path.dirname(store.path))
    lines = [json.dumps({"id": f"note-{n}", "body": f"text {n}"}).encode() for n in range(600)]
    import_lines(store, Settings(), slow, lines)
    assert slow.asked == 1 + 3  # a word, to know the dimension; then 256 texts at a time
    import_lines(store, Settings(), slow, lines)
    assert slow.asked == 4


# --- nobody waits for a pipe


def lore(folder: Path, *words: str, **fields: Any) -> subprocess.Popen[str]:
    environ = {key: value for key, value in os.environ.items() if key[:4] != "LORE"}
    environ |= {"HOME": str(folder), "LORE_DIR": str(folder / "store")}
    return subprocess.Popen([str(ROOT / "lore.sh"), *words], cwd=folder, env=environ, text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            **fields)  # fmt: skip


def test_others_write_while_an_import_waits_for_its_stdin(store: Store, tmp_path: Path) -> None:
    store.close()
    with lore(tmp_path, "import", "-") as process, pylore.open(tmp_path / "store") as sdk:
        assert process.stdin is not None
        process.stdin.write('{"id":"note-1"}\n' * 5000)  # more than a pipe holds: it reads
        process.stdin.flush()
        assert sdk.add("note", "another").state == "added"
        assert sdk.get("note-1") is None
        process.stdin.write('{"id":"note-2"}')
        out, err = process.communicate()
        assert process.returncode == 0, err
        assert json.loads(out)["nodes"] == 5001
        assert sdk.get("note-2") is not None


def test_a_pipe_is_kept_until_the_store_is_locked_and_leaves_nothing(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pylore.core.lines._IN_MEMORY", 10)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    lines = iter(io.BytesIO(b'\xef\xbb\xbf{"id":"note-1"}\n\n{"id":"note-2"}'))
    assert import_lines(store, Settings(), None, lines).added == 2
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


# --- in turn


WRITER = """
import sys
from pylore.store import open_store
folder, name, count = sys.argv[1:]
for number in range(int(count)):
    with open_store(folder, busy_timeout=60) as store, store.transaction():
        store.meta.set(f"{name} {number}", "written")
"""


def test_no_writer_of_many_is_refused_beside_a_long_one(store: Store) -> None:
    folder = os.path.dirname(store.path)
    with store.transaction():
        writers = [
            subprocess.Popen([sys.executable, "-c", WRITER, folder, f"writer{number}", "4"],
                             cwd=ROOT, text=True, stderr=subprocess.PIPE)
            for number in range(6)
        ]  # fmt: skip
        writers[0].send_signal(signal.SIGKILL)
        time.sleep(0.5)
    for process in writers[1:]:
        assert process.communicate()[1] == "" and process.returncode == 0
    written = connection_of(store).execute("SELECT count(*) FROM meta WHERE value = 'written'").get
    assert written >= 20
    writers[0].communicate()


def test_command_prints_that_it_waits_and_then_goes_on(store: Store, tmp_path: Path) -> None:
    other = apsw.Connection(store.path)
    other.execute("BEGIN IMMEDIATE")
    with lore(tmp_path, "add", "note", "a text") as process:
        assert process.stderr is not None and process.stdout is not None
        assert process.stderr.readline() == (
            "lore: waiting for another process, which writes to the store\n"
        )
        other.execute("ROLLBACK")
        assert json.loads(process.stdout.read())["state"] == "added"
    other.close()


def test_threads_of_one_process_wait_for_each_other_too(store: Store) -> None:
    folder = os.path.dirname(store.path)

    def write() -> None:
        with open_store(folder) as other:
            for _ in range(20):
                with other.transaction():
                    count = int(other.meta.get("count") or 0)
                    other.meta.set("count", str(count + 1))

    threads = [Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.meta.get("count") == "80"


# --- on the disk


class Watched(apsw.VFS):
    """Counts the syncs of write-ahead logs."""

    def __init__(self) -> None:
        self.syncs = 0
        super().__init__("watched", "")

    def xOpen(self, name: object, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        watched = self

        class File(apsw.VFSFile):
            def __init__(self) -> None:
                super().__init__("", name, flags)  # type: ignore[arg-type]

            def xSync(self, flags: int) -> None:  # noqa: N802
                watched.syncs += str(name).endswith("-wal")
                super().xSync(flags)

        return File()


def test_a_record_is_on_the_disk_before_its_id_is_known(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched()
    connect = apsw.Connection
    monkeypatch.setattr("pylore.store.opening.apsw.Connection",
                        lambda name, flags: connect(name, flags=flags, vfs="watched"))  # fmt: skip
    with open_store(os.path.dirname(store.path)) as other:  # while ``store`` has it open too
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
        with other.aside():  # what may be lost waits for no disk
            other.meta.set("told", "yes")
        assert watched.syncs == before
