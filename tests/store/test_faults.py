"""Faults that come by chance: a cut or damaged file, an interrupt, a hostile store.

What chance there is comes from a fixed seed, which stands in every message of a failure.
"""

from __future__ import annotations

import json
import os
import pty
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest
from samples import some
from store_places import store_folder

ROOT = Path(__file__).resolve().parents[2]
LORE = str(ROOT / "lore.sh")
SEED = 20260131
NODES = 40


class Project:
    """A folder with a store, and a home of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        home = folder / "home"
        home.mkdir()
        self.db = store_folder(home, folder) / "search.db"
        self.environ = {key: value for key, value in os.environ.items() if key[:4] != "LORE"}
        self.environ |= {
            "HOME": str(home), "XDG_CONFIG_HOME": str(home), "XDG_DATA_HOME": str(home),
            "XDG_STATE_HOME": str(home), "NO_COLOR": "1", "PWD": str(folder),
        }  # fmt: skip
        assert self.lore("init").returncode == 0

    def lore(self, *words: str, text: str = "", **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [LORE, *words], cwd=self.folder, env={**self.environ, **environ}, input=text,
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    def interrupted(self, words: list[str], kind: signal.Signals, delay: float) -> int:
        """The exit code of a command whose whole group gets a signal after ``delay`` seconds.

        An interpreter that is interrupted before it has begun dies of it in its own way.
        """
        child = subprocess.Popen(
            [LORE, *words], cwd=self.folder, env=self.environ, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip
        time.sleep(delay)
        os.killpg(child.pid, kind)  # not yet waited for, so the group is still there
        _, stderr = child.communicate()
        return -kind if b"Fatal Python error: init" in stderr else child.returncode

    def on_terminal(self, *words: str) -> bytes:
        """All that a command writes to a terminal, stdout and stderr."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve(LORE, [LORE, *words], {**self.environ, "TERM": "xterm"})
        written = b""
        try:
            while chunk := os.read(terminal, 65536):
                written += chunk
        except OSError:
            pass  # the other end is closed
        os.close(terminal)
        os.waitpid(pid, 0)
        return written

    def count(self, table: str = "nodes") -> int:
        db = apsw.Connection(str(self.db), flags=apsw.SQLITE_OPEN_READWRITE)
        count: int = db.execute(f"SELECT count(*) FROM {table}").get
        return count


def records(start: int, count: int) -> str:
    return "".join(
        json.dumps({"id": f"note-{number}", "body": f"record {number} speaks of tokens"}) + "\n"
        for number in range(start, start + count)
    )


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    yield Project(tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A search.db with records, links and vectors, and nothing beside it."""
    project = Project(tmp_path_factory.mktemp("whole"))
    edges = "".join(
        json.dumps({"from_id": f"note-{n}", "to_id": f"note-{n + 1}", "relation": "relates_to"})
        + "\n"
        for n in range(NODES - 1)
    )
    assert project.lore("import", "-", text=records(0, NODES) + edges).returncode == 0
    db = apsw.Connection(str(project.db))
    db.pragma("wal_checkpoint(truncate)")
    db.close()
    return project.db.read_bytes()


@pytest.fixture
def filled(project: Project, whole: bytes) -> Project:
    project.db.write_bytes(whole)
    return project


# --- a file that is not whole

ASKED = (
    ["search", "tokens", "--graph-depth", "2", "--ids"],
    ["graph", "stats"],
    ["add", "note", "x"],
)


def fails_well(project: Project, data: bytes, why: str) -> None:
    """Whatever is asked of this search.db is answered, or refused in one line."""
    for words in ASKED:
        project.db.write_bytes(data)
        for extra in ("search.db-wal", "search.db-shm"):
            project.db.with_name(extra).unlink(missing_ok=True)
        done = project.lore(*words)
        assert done.returncode in (0, 1), (why, words, done.stderr)
        if done.returncode:
            assert re.fullmatch(r"lore: .*search\.db: .*: .*\n", done.stderr), (why, words)
            assert done.stdout == ""


def test_a_truncated_store_is_named_in_one_line(filled: Project, whole: bytes) -> None:
    chance = random.Random(SEED)
    lengths = [0, 99, 4097, len(whole) - 1]
    for length in some([*lengths, chance.randrange(len(whole))], 5):
        fails_well(filled, whole[:length], f"{length} bytes of {len(whole)}, seed {SEED}")


def test_a_damaged_store_is_no_bug_of_ours(filled: Project, whole: bytes) -> None:
    chance = random.Random(SEED)
    for places in some((1, 30, 1000, 30_000), 2):
        damaged = bytearray(whole)
        for _ in range(places):
            damaged[chance.randrange(len(whole))] = chance.randrange(256)
        fails_well(filled, bytes(damaged), f"{places} bytes damaged, seed {SEED}")


def test_a_full_text_index_of_an_unknown_tokenizer_is_named(filled: Project) -> None:
    with apsw.Connection(str(filled.db)) as db:
        db.pragma("writable_schema", 1)
        db.execute(
            "UPDATE sqlite_schema SET sql = replace(sql, 'unicode61', 'unicode99')"
            " WHERE name = 'texts_fts'"
        )
        assert db.changes() == 1
    for words in (["search", "tokens"], ["add", "note", "x"]):
        done = filled.lore(*words)
        assert (done.returncode, done.stdout) == (1, "")
        assert re.fullmatch(r"lore: .*search\.db: has tables that are not lore's .*\n", done.stderr)


# --- interruptions


def test_an_interrupt_at_any_moment_leaves_all_of_a_command_or_nothing(project: Project) -> None:
    chance = random.Random(SEED)
    spans: dict[str, float] = {}
    make: dict[str, Callable[[int], list[str]]] = {
        "import": lambda turn: ["import", f"{turn}.jsonl"],
        "add": lambda turn: ["add", "note", f"a record of turn {turn}"],
        "reindex": lambda turn: ["reindex"],
    }
    adds = {"import": 300, "add": 1, "reindex": 0}
    project.lore("import", "-", text=records(0, 100))
    for number, (name, words) in enumerate(make.items()):  # undisturbed, to see how long each takes
        (project.folder / f"{number}.jsonl").write_text(
            records(1000 * (number + 1), adds["import"])
        )
        begun = time.monotonic()
        assert project.lore(*words(number)).returncode == 0
        spans[name] = time.monotonic() - begun
    count = project.count()
    for turn in some(range(3, 12), 3):  # each command, each signal
        name = [*make][turn % 3]
        kind = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)[turn // 3 % 3]
        (project.folder / f"{turn}.jsonl").write_text(records(1000 * (turn + 1), adds["import"]))
        delay = chance.random() * spans[name]
        code = project.interrupted(make[name](turn), kind, delay)
        why = f"{name}, {kind.name} after {delay:.3f} s, exit code {code}, seed {SEED}"
        assert code in (0, -kind, 128 + kind), why
        with apsw.Connection(str(project.db)) as db:
            assert db.pragma("integrity_check") == "ok", why
        now = project.count()
        assert now - count in ({adds[name]} if code == 0 else {0, adds[name]}), why
        assert project.count("passages") == now, why  # one a record, they are short
        count = now
    assert project.lore("add", "note", "the next one").returncode == 0
    doctor = project.lore("doctor", "--full", "--text")
    assert doctor.returncode == 0, doctor.stdout


# --- a store that means harm

HOSTILE = "\x1b]0;owned\x07\x1b[31mred\x1b[0m\u009b31m\u202etxt\x08\r$(touch canary)`touch canary`"
OBEYED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\r(?!\n)"
)


@pytest.fixture
def hostile(filled: Project) -> Project:
    """A store that another program wrote, with control sequences wherever there is text."""
    with apsw.Connection(str(filled.db)) as db:
        db.create_scalar_function("hostile", lambda *values: HOSTILE)
        db.pragma("foreign_keys", 0)
        for table, columns in (
            ("nodes", "title body tags file category source_ status_ created_at updated_at"),
            ("types", "description"), ("relations", "description"),
            ("passage_texts", "title body tags file"), ("graph_edges", "created_at"),
        ):  # fmt: skip
            for column in columns.split():
                if not column.endswith("_"):
                    db.execute(f"UPDATE {table} SET {column} ="
                               f" coalesce({column}, '') || ' tokens ' || hostile()"
                               if column in ("title", "body")
                               else f"UPDATE {table} SET {column} = hostile()")  # fmt: skip
        db.execute("INSERT INTO relations(name, weight) VALUES (hostile(), 1)")
        db.execute("INSERT INTO types(name) VALUES (hostile())")
        db.execute(
            "UPDATE graph_edges SET relation = hostile()"
            " WHERE from_key = (SELECT key FROM nodes WHERE id = 'note-3')"
        )
        db.execute("UPDATE nodes SET type = hostile() WHERE id = 'note-4'")
        db.execute("UPDATE nodes SET id = 'note-5' || hostile() WHERE id = 'note-5'")
        db.execute("UPDATE nodes SET invalidated_at = hostile() WHERE id = 'note-9'")
        db.execute("UPDATE nodes SET data = json_object(hostile(), hostile()) WHERE id = 'note-3'")
        db.execute("UPDATE meta SET value = hostile() WHERE key = 'embedder'")
    return filled


SHOWN = """
search tokens --graph-depth 2 --explain
search tokens --type x
search tokens --tag x
search tokens --json
search tokens --jq .[].title
search tokens --edges x
list
list --ids
show note-3 --history
show note-9
show note-
related note-3
graph stats
graph hubs
graph neighbors note-3
graph path note-2 note-5
graph relations
graph export --format dot
link note-1 relates_to note-9
add x y
doctor
export
"""


def test_nothing_of_a_hostile_store_steers_a_terminal(hostile: Project) -> None:
    for words in some(SHOWN.strip().splitlines(), 8):
        written = hostile.on_terminal(*words.split()).decode()
        assert written.strip(), words
        assert not OBEYED.search(written), (words, written[:2000])
        assert "a bug in lore" not in written, words
    assert not (hostile.folder / "canary").exists()


@pytest.mark.parametrize("word", [HOSTILE, "--" + HOSTILE])
def test_nothing_that_is_typed_comes_back_as_a_control_sequence(
    project: Project, word: str
) -> None:
    raw = word.encode() + b"\x9b31m"
    for words in ([raw], [b"graph", raw], [b"help", raw], [b"list", b"--tag", raw], [b"show", raw]):
        done = subprocess.run([LORE, *words], cwd=project.folder, env=project.environ,
                              capture_output=True, check=False)  # fmt: skip
        assert done.returncode == 2, done.stderr
        assert done.stderr.count(b"\n") == 1
        assert not OBEYED.search(done.stderr.decode()), done.stderr  # and it is UTF-8


def test_an_interrupt_that_an_import_turns_into_its_own_error_is_one() -> None:
    program = """
from pylore.cli import main
from pylore.system import programs

def run(words):
    try:
        programs._interrupt(15, None)
    except KeyboardInterrupt:
        raise ImportError("half of a module")

main._run = run
main.run([])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True)
    assert (done.returncode, done.stderr) == (-15, b"")
