"""Answers that are kept: given again only where the same would be answered."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest
from homes import move_home
from new_stores import new_store
from repositories import Repository
from samples import SAMPLE

from pylore.app import query_cache
from pylore.app.code import AnchorRequest, anchor
from pylore.app.context import ContextRequest, context
from pylore.app.engine import Engine
from pylore.app.query_cache import Keepable, question_of
from pylore.app.search import search
from pylore.app.show import record_accesses
from pylore.core.settings import SETTINGS, Settings
from pylore.records.records import Records
from pylore.store import Store, open_store
from pylore.store.connection import apsw
from pylore.system import files as store_files
from pylore.system.files import StoreState
from pylore.system.json_encode import dumps

CODE = "def login(user):\n    return user.check()\n\n\ndef logout(user):\n    user.end()\n"
_opened: list[str] | None = None


def _note_opened(event: str, given: tuple[object, ...]) -> None:
    if _opened is not None and event in ("open", "os.posix_spawn", "subprocess.Popen"):
        _opened.append(str(given[0]) if event == "open" else f"run {given[0]!s}")


def unnumbered(row: str) -> str:
    """A context without the number of its frame, which is another one each time."""
    return re.sub(r"(=== (end of )?data )[0-9a-f]{12}", r"\1", row)


class Asker:
    """Asks as the commands do: what is kept first, else the store, and then it is kept."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = str(root / ".lore")
        self.question: Keepable | None = None

    def settings(self, **flags: str) -> Settings:
        return Settings.load(environ={}, flags={"cache_seconds": "60", **flags})

    def search(self, query: str, since: str = "", **flags: str) -> tuple[bool, list[str]]:
        """Whether it was kept, and the results."""

        def found(engine: Engine) -> tuple[list[str], list[str]]:
            hits = search(engine, query, since=since)
            return [dumps(hit.to_dict()) for hit in hits], hits.notes

        return self._ask([query, since], self.settings(**flags), found)

    def context(self, query: str, form: str, **flags: str) -> tuple[bool, list[str]]:
        """The same of a context, which counts as read each time."""
        ids: list[str] = []

        def found(engine: Engine) -> tuple[list[str], list[str]]:
            made = context(engine, ContextRequest(query, form=form))
            ids.extend(entry["id"] for entry in made.included)
            return [dumps(made.to_dict())], made.notes

        settings = self.settings(**flags)
        answer = self._ask([query, form], settings, found, ids, counts_reads=False)
        with open_store(self.folder) as store:
            read = json.loads(answer[1][0])["included"]
            record_accesses(Engine(store, settings, str(self.root)), [one["id"] for one in read])
        return answer

    def fresh(self, what: str, query: str, store: Store) -> list[str]:
        """What is answered where nothing is kept; nothing is recorded."""
        engine = Engine(store, self.settings(), str(self.root))
        if what == "search":
            return [dumps(hit.to_dict()) for hit in search(engine, query)]
        return [dumps(context(engine, ContextRequest(query)).to_dict())]

    def _ask(
        self,
        asked: list[object],
        settings: Settings,
        found: Callable[[Engine], tuple[list[str], list[str]]],
        ids: Sequence[str] = (),
        *,
        counts_reads: bool = True,
    ) -> tuple[bool, list[str]]:
        time.sleep(0.012)  # what was written before has settled, however quick this machine is
        root = str(self.root)
        self.question = question_of(asked, settings, self.folder, root, counts_reads=counts_reads)
        kept = self.question.answer() if self.question else None
        if kept is not None:
            return True, kept.rows
        with open_store(self.folder) as store:
            engine = Engine(store, settings, root)
            with self.question or nullcontext():
                rows, notes = found(engine)
        if self.question:
            self.question.keep(rows, notes, ids)
        return False, rows

    def write(self, change: Callable[[Records], object]) -> None:
        """Another process's change."""
        with open_store(self.folder) as store:
            change(Records(store, Settings(), None, str(self.root)))
        time.sleep(0.02)


@pytest.fixture
def asker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asker]:
    """A project with git, code and a store; a file that was changed 10 ms ago has settled."""
    move_home(monkeypatch, tmp_path / "home")
    monkeypatch.setattr(store_files, "_RACY_NS", 10_000_000)
    monkeypatch.setattr(store_files, "_RACY_OF_COARSE_NS", 10_000_000)
    project = Repository(tmp_path / "project")
    (project.root / "auth.py").write_text(CODE)
    with new_store(str(project.root / ".lore")) as store:
        records = Records(store, Settings(), None, str(project.root))
        records.add("decision", "Sessions are signed tokens", id="decision-a")
        records.add("failure", "Tokens could not be revoked", id="failure-b",
                    links=[("decision-a", "relates_to")])  # fmt: skip
        records.add("note", "Tokens live in auth.py", id="note-c", file="auth.py")
    time.sleep(0.02)
    yield Asker(project.root)


def test_the_same_question_is_answered_once_until_anything_is_written(asker: Asker) -> None:
    first = asker.search("tokens")
    assert first == (False, asker.search("tokens")[1])
    assert asker.search("tokens")[0]
    assert not asker.search("signed tokens")[0]

    def by_plain_sql(_: object) -> None:
        connection = apsw.Connection(asker.folder + "/search.db")
        connection.execute("UPDATE nodes SET confidence = 0.5 WHERE id = 'decision-a'")
        connection.close()

    def by_another_file(_: object) -> None:
        path = asker.folder + "/search.db"
        shutil.copy2(path, path + ".new")
        os.replace(path + ".new", path)

    changes: list[Callable[[Records], object]] = [
        lambda records: records.add("note", "Tokens again"),
        lambda records: records.link("note-c", "relates_to", "decision-a"),
        by_plain_sql,
        by_another_file,
    ]
    for change in changes:
        asker.write(change)
        assert not asker.search("tokens", graph_depth="2")[0], change
        assert asker.search("tokens", graph_depth="2")[0], change
    with held_open(asker.folder):  # now the log stays where it is
        for number in range(3):
            asker.write(lambda records, number=number: records.add("note", f"Tokens {number}"))  # type: ignore[misc]
            assert [asker.search("tokens")[0] for _ in range(2)] == [False, True]


HOLD = """
import apsw, sys
connection = apsw.Connection(sys.argv[1])
print(connection.pragma("user_version"), flush=True)
sys.stdin.read()
"""


@contextmanager
def held_open(folder: str) -> Iterator[None]:
    """Another process has the store open meanwhile."""
    command = [sys.executable, "-c", HOLD, f"{folder}/search.db"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdout.readline()
        yield
        process.stdin.close()


def test_a_store_that_has_just_been_written_may_be_so_again_within_its_time(
    asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_files, "_RACY_NS", 10**12)
    monkeypatch.setattr(store_files, "_RACY_OF_COARSE_NS", 10**12)
    assert [asker.search("tokens")[0] for _ in range(2)] == [False, False]


def test_what_is_written_while_an_answer_is_made_keeps_it_from_being_kept(asker: Asker) -> None:
    question = question_of(["q"], asker.settings(), asker.folder, "")
    assert question is not None
    with question:
        asker.write(lambda records: records.add("note", "Meanwhile"))
    question.keep(["{}"], [])
    again = question_of(["q"], asker.settings(), asker.folder, "")
    assert again is not None and again.answer() is None


def test_whoever_reads_changes_what_a_search_says_and_a_context_only_about_things(
    asker: Asker,
) -> None:
    def read(id: str) -> None:
        with open_store(asker.folder) as store:
            record_accesses(Engine(store, asker.settings(), ""), [id])

    asker.search("tokens")
    read("decision-a")
    assert not asker.search("tokens")[0]
    told = [asker.context("tokens", "narrative") for _ in range(3)]
    assert [kept for kept, _ in told] == [False, True, True]
    assert told[1][1] == told[2][1]
    with open_store(asker.folder) as store:  # each of them was counted
        assert [node.access_count for node in store.nodes.get_many(["note-c"]).values()] == [3]
    asker.write(lambda records: records.add("entity", "Tokens", id="entity-tokens"))
    assert not asker.context("tokens", "narrative")[0]
    read("entity-tokens")  # it has no facts
    assert asker.context("tokens", "narrative")[0]
    for value, sure in (("cookies", 1.0), ("headers", 0.9)):
        asker.write(
            lambda records, value=value, sure=sure: records.fact(  # type: ignore[misc]
                "Tokens", "uses", value, confidence=sure
            )
        )
    assert [asker.context("tokens", "narrative")[0] for _ in range(3)] == [False, True, True]
    read("entity-tokens")
    assert [asker.context("tokens", "narrative")[0] for _ in range(2)] == [False, True]
    read("entity-cookies")  # the surer one was read more often: it stays the first
    assert [asker.context("tokens", "narrative")[0] for _ in range(2)] == [False, True]
    read("entity-headers")
    read("entity-headers")  # now the other one was: by each read it comes nearer
    assert [asker.context("tokens", "narrative")[0] for _ in range(2)] == [False, False]


@pytest.mark.parametrize("seed", [int(SAMPLE or 0)])
def test_in_any_order_of_reads_and_writes_a_kept_answer_is_the_one_that_would_be_given(
    asker: Asker, seed: int
) -> None:
    dice = random.Random(seed)
    hits = 0
    for step in range(30):
        what = dice.choice(["context", "context", "context", "search", "read", "write"])
        if what == "write":
            subject, value = dice.choice("ABC"), dice.choice("DEF")
            asker.write(
                lambda records, subject=subject, value=value: records.fact(  # type: ignore[misc]
                    f"Token {subject}", "uses", f"Key {value}", confidence=dice.choice([0.5, 0.9])
                )
            )
        elif what == "read":
            with open_store(asker.folder) as store:
                ids = dice.sample(sorted(store.contents.ids()), 2)
                record_accesses(Engine(store, asker.settings(), ""), ids)
        else:
            before = StoreState(asker.folder).reads
            with open_store(asker.folder) as store:
                fresh = asker.fresh(what, "tokens", store)
            assert StoreState(asker.folder).reads == before
            if what == "search":
                kept, rows = asker.search("tokens")
            else:
                kept, rows = asker.context("tokens", "narrative")
            assert [*map(unnumbered, rows)] == [*map(unnumbered, fresh)], (seed, step, kept)
            hits += kept
    assert hits


@pytest.mark.parametrize("flags", [
    {"run": "run-1"}, {"embedder": "endpoint:http://127.0.0.1:9"}, {"retrievers": "fulltext own"},
])  # fmt: skip
def test_no_question_is_kept_that_somebody_else_has_a_part_in(
    asker: Asker, flags: dict[str, str]
) -> None:
    assert question_of(["q"], asker.settings(**flags), asker.folder, "") is None
    assert question_of(["q", object()], asker.settings(), asker.folder, "") is None
    assert question_of(["q"], asker.settings(), asker.folder, "") is not None


def test_the_key_has_every_setting_and_all_that_is_asked(
    asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def key(asked: object = "q", settings: Settings | None = None, root: str = "") -> bytes:
        return Keepable([asked], settings or asker.settings(), asker.folder, root)._key

    keys = [key(), key("r"), key(("q",)), key(root="/")]
    for setting in SETTINGS:
        other = asker.settings()
        value = getattr(other, setting.name)
        setattr(other, setting.name, {"x": 1.0} if isinstance(value, dict) else f"{value}x")
        keys.append(key(settings=other))
        other = asker.settings()
        other.origins[setting.name] = "elsewhere"
        keys.append(key(settings=other))
    monkeypatch.setattr(query_cache, "__version__", "0")
    keys.append(key())
    assert len({*keys}) == len(keys)


def test_an_answer_ends_when_an_age_in_it_or_the_day_does(asker: Asker) -> None:
    connection = apsw.Connection(asker.folder + "/search.db")
    connection.execute(
        "UPDATE nodes SET"
        " updated_at = strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-30 days', '+5 seconds')"
        " WHERE id = 'failure-b'"
    )
    connection.close()
    time.sleep(0.02)
    asker.search("tokens", cache_seconds="86400")
    assert asker.search("tokens", cache_seconds="86400")[0]
    assert asker.question is not None
    asker.question._made += 6
    assert asker.question.answer() is None
    for hour, seconds in ((86_400.0 * 9 - 30, 30), (86_400.0 * 9, 86_400)):
        assert asker.question._noted.until(hour) == hour + seconds


def test_an_age_as_a_filter_is_not_kept(asker: Asker) -> None:
    assert [asker.search("tokens", since="7d")[0] for _ in range(2)] == [False, False]
    assert [asker.search("tokens", since="2020-01-01")[0] for _ in range(2)] == [False, True]


# --- files


def test_a_context_with_code_looks_again_at_the_files_and_asks_git_again(asker: Asker) -> None:
    from pylore.code.index import index

    with open_store(asker.folder) as store:
        index(store, Settings(), lambda: None, str(asker.root))
        records = Records(store, Settings(), None, str(asker.root))
        records.add("note", "How login checks users", id="note-login")
        engine = Engine(store, Settings(), str(asker.root))
        anchor(engine, AnchorRequest("note-login", "auth.py", "symbol", "login"))
    time.sleep(0.02)

    def asked() -> tuple[bool, str]:
        kept, rows = asker.context("where is login", "prompt", graph_depth="1")
        return kept, rows[0]

    assert [asked()[0] for _ in range(2)] == [False, True]
    assert "return user.check()" in asked()[1]
    (asker.root / "auth.py").write_text(CODE.replace("user.check()", "user.verify()"))
    time.sleep(0.02)
    kept, text = asked()
    assert not kept and "user.verify()" in text and asked()[0]
    (asker.root / ".gitignore").write_text("auth.py\n")
    kept, text = asked()
    assert not kept and "user.verify()" not in text
    time.sleep(0.02)
    assert [asker.search("login")[0] for _ in range(2)] == [False, True]
    (asker.root / "auth.py").unlink()
    assert not asker.search("login")[0]


def test_every_file_that_an_answer_opens_is_noted_and_no_program_but_git_is_started(
    asker: Asker,
) -> None:
    global _opened
    from pylore.code.index import index

    sys.addaudithook(_note_opened)
    with open_store(asker.folder) as store:
        index(store, Settings(), lambda: None, str(asker.root))
        records = Records(store, Settings(), None, str(asker.root))
        records.add("note", "auth.py logs in", id="note-d")
        engine = Engine(store, Settings(), str(asker.root))
        anchor(engine, AnchorRequest("note-d", "auth.py", "symbol", "login"))
    time.sleep(0.02)
    asks: list[Callable[[], object]] = [
        lambda: asker.search("login user auth", graph_depth="2"),
        lambda: asker.context("where is login", "json", graph_depth="2"),
    ]
    opened: list[str]
    for ask in asks:
        _opened = opened = []
        ask()
        _opened = None
        assert asker.question is not None and asker.question.answer() is not None
        read = {path for path in opened if path.startswith(str(asker.root.parent))}
        lores_own = ("/.lore/", "/lore/answers/", "/lore/secret", "/lore/table-")
        own = {path for path in read if not any(part in path for part in lores_own)}
        assert own <= asker.question._noted.files.keys()
        started = [path for path in opened if path.startswith("run ")]
        assert {os.path.basename(path) for path in started} <= {"git"}
    assert own and started  # the last one shows code
