"""Writers wait for each other: in turn, not for an embedder, and what they wrote is durable."""

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
from sqlite_stores import connection_of

import pylore
from pylore.code import write
from pylore.code.index import index
from pylore.core.errors import EmbedderError, StoreError
from pylore.core.model import Node
from pylore.core.settings import Settings
from pylore.core.vocabulary import symbol_id
from pylore.embed.prefetch import TRIES, Ahead
from pylore.embed.static import StaticEmbedder
from pylore.formats.jsonl import import_lines
from pylore.formats.markdown import import_markdown
from pylore.indexing.indexer import rebuild, write_nodes
from pylore.records.records import Records
from pylore.store import Store, create_store, open_store, write_queue

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
    return import_markdown(store, Settings(), slow, [str(page)], str(page.parent))


def _index(store: Store, slow: Slow) -> object:
    root = Path(store.path).parent.parent
    (root / "a.py").write_text("def one():\n    return 1\n")
    return index(store, Settings(), lambda: slow, str(root))


def _file_node(store: Store, slow: Slow) -> object:
    ahead = Ahead(store, lambda: slow)
    node = Node("file-a.py", "file", title="a.py")
    return ahead.settled(lambda: write_nodes(store, ahead.given, [node]))


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
    "reindex": lambda store, slow: (_old(store), rebuild(store, slow, "auto")),
    "index": _index,
    "a file to link to": lambda store, slow: _file_node(store, slow),
}


@pytest.mark.parametrize("name", WRITES)
def test_others_write_while_a_write_waits_for_its_vectors(store: Store, name: str) -> None:
    slow = Slow(os.path.dirname(store.path))
    WRITES[name](store, slow)
    assert store.meta.get("written meanwhile")
    assert store.staged_vectors.count_lacking(aside=False) == 0


def test_others_write_while_names_are_resolved(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def resolved(*given: Any) -> Any:
        found = write._resolved_before(*given)  # type: ignore[attr-defined]
        with open_store(os.path.dirname(store.path), busy_timeout=0) as other, other.transaction():
            other.meta.set("written meanwhile", "yes")
        return found

    monkeypatch.setattr(write, "_resolved_before", write._resolved, raising=False)
    monkeypatch.setattr(write, "_resolved", resolved)
    (tmp_path / "a.py").write_text("def one():\n    return two()\ndef two(): pass\n")
    index(store, Settings(), lambda: None, str(tmp_path))
    assert store.meta.get("written meanwhile")
    ends = symbol_id("a.py", "one"), symbol_id("a.py", "two")
    assert store.edges.get(*ends, "calls") is not None


def test_what_is_embedded_is_embedded_once(store: Store) -> None:
    slow = Slow(os.path.dirname(store.path))
    lines = [json.dumps({"id": f"note-{n}", "body": f"text {n}"}).encode() for n in range(600)]
    import_lines(store, Settings(), slow, lines)
    assert slow.asked == 3  # 256 texts at a time
    import_lines(store, Settings(), slow, lines)
    assert slow.asked == 3


def test_a_write_that_never_knows_what_it_embeds_comes_to_an_end(store: Store) -> None:
    class Quick(Slow):
        def embed(self, texts: Sequence[str]) -> list[bytes | None]:
            return [b"\0\0\x80?" * 8 for _ in texts]

    ahead = Ahead(store, lambda: Quick(""))
    runs: list[int] = []

    def write() -> None:
        runs.append(len(runs))
        write_nodes(store, ahead.given, [Node("note-a", "note", title=f"title {len(runs)}")])

    ahead.settled(write)
    assert len(runs) == TRIES
    node = store.nodes.get("note-a")
    assert node is not None and node.title == f"title {TRIES}"
    assert store.staged_vectors.count_lacking(aside=False) == 0


def test_an_embedder_that_fails_is_asked_once_and_costs_the_vectors_alone(store: Store) -> None:
    class Broken(Slow):
        def embed(self, texts: Sequence[str]) -> list[bytes | None]:
            self.asked += 1
            raise EmbedderError("nobody answers")

    broken = Broken("")
    change = Records(store, Settings(), broken).add("note", "a text", file="a.py")
    assert broken.asked == 1
    assert [note for note in change.notes if "nobody answers" in note]
    assert store.nodes.get(change.id) is not None


def test_many_vectors_do_not_need_much_memory(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pylore.embed.prefetch._IN_MEMORY", 64)

    class Telling(Slow):
        def embed(self, texts: Sequence[str]) -> list[bytes | None]:
            return [bytes([len(text)]) * 32 for text in texts]

    ahead = Ahead(store, lambda: Telling(""))
    texts = ["x" * length for length in range(1, 50)]
    ahead.prepare(texts)
    assert ahead.given is not None
    assert ahead.given.embed(texts) == [bytes([len(text)]) * 32 for text in texts]


NEW_WORDS: tuple[Callable[[Records], object], ...] = (
    lambda records: records.add("note", "Quixotically", title="Brobdingnagian", id="note-a"),
    lambda records: records.edit("note-a", text="Sesquipedalian", why="Tintinnabulation"),
    lambda records: records.fact("Chrysalis Widdershins", "uses", "Borborygmus"),
)


def test_a_record_of_new_words_stands_in_line_once(store: Store) -> None:
    for change in NEW_WORDS:
        before = _drawn(store)
        change(Records(store, Settings(), StaticEmbedder()))
        assert _drawn(store) == before + 1


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
    monkeypatch.setattr("pylore.formats.jsonl._IN_MEMORY", 10)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    lines = iter(io.BytesIO(b'\xef\xbb\xbf{"id":"note-1"}\n\n{"id":"note-2"}'))
    assert import_lines(store, Settings(), None, lines).added == 2
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


# --- in turn


WAITER = """
import sys
from pylore.store import open_store
from pylore.store import write_queue
write_queue.tell = lambda text: print(text, file=sys.stderr, flush=True)
with open_store(sys.argv[1]) as store:
    with store.transaction():
        store.connection.execute("INSERT INTO purged VALUES (?, (SELECT count(*) FROM purged))",
                                 (sys.argv[2],))
"""


def waiter(store: Store, name: str) -> subprocess.Popen[str]:
    """A process that writes its name; it stands in line when this returns."""
    number = _drawn(store)
    process = subprocess.Popen([sys.executable, "-c", WAITER, os.path.dirname(store.path), name],
                               cwd=ROOT, text=True, stderr=subprocess.PIPE)  # fmt: skip
    while _drawn(store) == number:
        assert process.poll() is None
        time.sleep(0.01)
    return process


def _drawn(store: Store) -> int:
    """How many numbers have been drawn. Read elsewhere: to close the file drops its locks."""
    done = subprocess.run(["head", "-c", "20", store.path + write_queue.SUFFIX],
                          capture_output=True, check=True)  # fmt: skip
    return int(done.stdout)


def test_writers_have_their_turn_in_the_order_they_came(store: Store) -> None:
    with store.transaction():
        waiting = [waiter(store, f"word{number}") for number in range(4)]
        waiting[2].send_signal(signal.SIGKILL)  # who dies leaves the line
        waiting[2].wait()
        assert waiting[3].stderr is not None
        assert waiting[3].stderr.readline() == (
            f"waiting for lore (process {os.getpid()}), which writes to the store\n"
        )
    for process in waiting:
        process.communicate()
    rows = connection_of(store).execute("SELECT id FROM purged ORDER BY CAST(at AS INTEGER)")
    assert [word for (word,) in rows] == ["word0", "word1", "word3"]


@pytest.mark.parametrize("queued", [True, False])
def test_a_command_says_for_whom_it_waits_and_then_goes_on(
    store: Store, tmp_path: Path, queued: bool
) -> None:
    other = apsw.Connection(store.path)  # another program knows of no line
    holder = store.transaction() if queued else None
    if holder:
        holder.__enter__()
    else:
        other.execute("BEGIN IMMEDIATE")
    with lore(tmp_path, "add", "note", "a text") as process:
        assert process.stderr is not None and process.stdout is not None
        whom = f"lore (process {os.getpid()})" if queued else "another program"
        assert process.stderr.readline() == (
            f"lore: waiting for {whom}, which writes to the store\n"
        )
        if holder:
            holder.__exit__(None, None, None)
        else:
            other.execute("ROLLBACK")
        assert json.loads(process.stdout.read())["state"] == "added"
    other.close()


def test_who_waits_in_vain_is_told_for_whom(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["main.py", "import", "x.jsonl"])
    script = WAITER.replace("(sys.argv[1])", "(sys.argv[1], busy_timeout=0.05)")
    with store.transaction():
        done = subprocess.run([sys.executable, "-c", script, os.path.dirname(store.path), "x"],
                              cwd=ROOT, capture_output=True, text=True, check=False)  # fmt: skip
    assert f"is locked by lore import (process {os.getpid()}): try again" in done.stderr


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
    match = "locked by another thread"
    with (
        store.transaction(),
        open_store(folder, busy_timeout=0.01) as other,
        pytest.raises(StoreError, match=match),
        other.transaction(),
    ):
        pass


def _link(path: Path) -> None:
    (path.parent / "victim").write_text("precious")
    path.symlink_to(path.parent / "victim")


SPOILT: dict[str, Callable[[Path], object]] = {
    "a link": _link,
    "a folder": Path.mkdir,
    "a pipe": lambda path: os.mkfifo(path),
    "no numbers": lambda path: path.write_text("\0\x1b[31mx 9 9 9\n" * 30),
    "a high number": lambda path: path.write_text("9" * 15),
    "not ours": lambda path: path.touch(0o400),
}


@pytest.mark.parametrize("what", SPOILT)
def test_the_store_is_written_whatever_stands_in_place_of_the_line(
    tmp_path: Path, what: str
) -> None:
    create_store(str(tmp_path)).close()
    path = tmp_path / ("search.db" + write_queue.SUFFIX)
    path.unlink()
    SPOILT[what](path)
    with open_store(str(tmp_path)) as store, store.transaction():
        store.meta.set("written", "yes")
    if what == "a link":
        assert (tmp_path / "victim").read_text() == "precious"


def test_searches_stand_in_no_line(store: Store) -> None:
    with store.transaction():
        number = _drawn(store)
        with open_store(os.path.dirname(store.path)) as other, other.snapshot():
            assert other.nodes.get("note-a") is None
        assert _drawn(store) == number


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
