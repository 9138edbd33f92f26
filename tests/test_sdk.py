"""The engine as a Python program sees it."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sdk_program
from homes import move_home
from new_stores import new_store

import pylore
from pylore.core.model import Hit, Hits
from pylore.records.runs import Runs

ROOT = Path(pylore.__file__).parents[1]


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    move_home(monkeypatch, tmp_path / "home")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "a project" / ".lore"


@pytest.fixture
def lore(folder: Path) -> Iterator[pylore.Lore]:
    new_store(str(folder)).close()
    with pylore.open(folder) as lore:
        yield lore


# --- every method


UNSTORABLE: dict[str, Callable[[pylore.Lore], object]] = {
    "NUL byte": lambda lore: lore.add("note", "a\0b"),
    "a text has a NUL": lambda lore: lore.add("note", "a", title="a\0b"),
    "NUL": lambda lore: lore.add("note", "a", why="a\0b"),
    "surrogate": lambda lore: lore.add("note", "a\ud800"),
    "half a surrogate": lambda lore: lore.add("note", "a", tags=["\ud800"]),
    "confidence": lambda lore: lore.add("note", "a", confidence=float("nan")),
}


@pytest.mark.parametrize("said", UNSTORABLE)
def test_texts_that_no_store_takes_are_refused(lore: pylore.Lore, said: str) -> None:
    with pytest.raises(pylore.LoreError, match=said):
        UNSTORABLE[said](lore)
    assert lore.list() == []


@pytest.mark.parametrize("value", ["a\0b", "\udfff", float("nan"), 1e400, {"a": [float("inf")]}])
def test_unstorable_metadata_are_refused(lore: pylore.Lore, value: object) -> None:
    one, other = (lore.add("note", text).id for text in ("one", "other"))
    with pytest.raises(pylore.LoreError):
        lore.link(one, "relates_to", other, metadata={"said": value})
    assert lore.edges(one) == []


def test_wrong_types_are_errors_of_python(lore: pylore.Lore) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'titel'"):
        lore.add("note", "a", titel="b")
    with pytest.raises(TypeError):
        lore.search("a", types=3)  # type: ignore[arg-type]
    assert lore.list() == []


def test_single_word_replaces_a_list(lore: pylore.Lore) -> None:
    id = lore.add("note", "Sessions are signed").id
    assert [hit.id for hit in lore.search("sessions", types="note")] == [id]


def test_methods_agree_with_commands(lore: pylore.Lore, folder: Path) -> None:
    subprocess.run(["git", "init", "-q", folder.parent], check=True)
    (folder.parent / "auth.py").write_text("def login():\n    check()\n\ndef check(): pass\n")
    jwt = lore.add("decision", "Sessions are signed JWTs")
    lesson = lore.add("lesson", "Rotate the keys", links=[(jwt.id, "learned_from")])
    assert lore.index(history=False)["symbols"] == 2
    assert lore.anchor(jwt.id, "auth.py", "symbol", "check")["state"] == "added"
    assert [row["id"] for row in lore.anchors_for_file("auth.py")] == [jwt.id]
    assert [row["verdict"] for row in lore.verify()] == ["valid"]
    assert lore.path(lesson.id, jwt.id)["hops"] == 1
    assert lore.show(jwt.id)["verdict"] == "valid"
    found = lore.context("signed JWTs", form="prompt", budget=500)
    assert jwt.id in found.text
    assert found.receipt()["budget"] == 500
    answer = lore.ask("what are sessions?", llm_command=f"/bin/echo [{jwt.id}]")
    assert [(one.text, one.in_prompt) for one in answer.citations] == [(jwt.id, True)]
    with pytest.raises(pylore.LoreError, match="commit"):
        lore.analyze_cochanges()


def test_verify_takes_ids_of_anchors(lore: pylore.Lore, folder: Path) -> None:
    (folder.parent / "auth.py").write_text("def login():\n    pass\n")
    jwt = lore.add("decision", "Sessions are signed JWTs")
    file = lore.anchor(jwt.id, "auth.py")
    symbol = lore.anchor(jwt.id, "auth.py", "symbol", "login")
    assert (symbol["id"], symbol["verdict"], symbol["detail"]) == (jwt.id, "valid", "login")
    ids = [one["anchor_id"] for one in (file, symbol)]
    assert [one["anchor_id"] for one in lore.verify(ids[1])] == ids[1:]
    assert {one["anchor_id"] for one in lore.verify()} == {*ids}
    assert lore.search("JWTs")[0].to_dict()["id"] == jwt.id
    with pytest.raises(pylore.LoreError, match="no anchor 'anchor-0'"):
        lore.verify("anchor-0")


def test_function_is_an_additional_or_only_retriever(lore: pylore.Lore, folder: Path) -> None:
    jwt = lore.add("decision", "Sessions are signed JWTs")
    other = lore.add("note", "Of another matter")
    asked: list[dict[str, object]] = []

    def retriever(request: dict[str, object]) -> list[dict[str, object]]:
        asked.append(request)
        return [{"id": other.id, "score": 0.5}]

    with pylore.open(folder, retriever=retriever) as own:
        hits = own.search("signed JWTs")
        assert {hit.id for hit in hits} == {jwt.id, other.id}
        assert other.id in [entry["id"] for entry in own.context("signed JWTs").included]
        assert (asked[0]["query"], asked[0]["limit"]) == ("signed JWTs", 10)
        assert [hit.id for hit in own.search("JWTs", retrievers="fulltext")] == [jwt.id]
        assert [hit.id for hit in own.search("JWTs", retrievers="given")] == [other.id]
    with pylore.open(folder, retriever=retriever, retrievers="given") as alone:
        assert [hit.id for hit in alone.search("signed JWTs")] == [other.id]
        assert [row["id"] for row in alone.context("signed JWTs").included] == [other.id]
    with pylore.open(folder, retriever=lambda request: 1 / 0) as broken:
        hits = broken.search("signed JWTs")
        assert [hit.id for hit in hits] == [jwt.id]
        assert "ZeroDivisionError" in hits.notes[0]
    with pytest.raises(TypeError, match="callable"):
        pylore.open(folder, retriever="x")  # type: ignore[arg-type]


def test_graph_helpers_expand_sort_and_write(lore: pylore.Lore) -> None:
    jwt = lore.add("decision", "Sessions are signed JWTs")
    lesson = lore.add("lesson", "Rotate the keys", links=[(jwt.id, "learned_from")])
    note = lore.add("note", "Keys are in a vault", links=[(lesson.id, "relates_to")])
    assert [hit.id for hit in lore.expand_with_graph([jwt.id], depth=1)] == [lesson.id]
    deep = lore.expand_with_graph([jwt.id], depth=2)
    assert {hit.id for hit in deep} == {lesson.id, note.id}
    assert [hit.id for hit in lore.prioritize_nodes(deep)] == [lesson.id, note.id]
    even = Hits([Hit(note.id, 1.0), Hit(lesson.id, 1.0)], [])
    central_first = [lesson.id, note.id]
    assert [hit.id for hit in lore.prioritize_nodes(even)] == central_first
    assert "## Decisions" in lore.build_graph_context("signed JWTs")


def test_added_records_are_found_with_their_links(lore: pylore.Lore, folder: Path) -> None:
    (folder.parent / "src").mkdir()
    (folder.parent / "src/auth.py").write_text("")
    jwt = lore.add("decision", "Sessions are signed JWTs", tags=["auth"], file="src/auth.py")
    lesson = lore.add("lesson", "Rotate the keys", links=[(jwt.id, "learned_from")])
    assert isinstance(jwt, pylore.Change)
    assert (jwt.state, jwt.notes) == ("added", [])
    assert "there is no such file" in lore.add("note", "Soon", file="src/new.py").notes[0]
    plain = lore.search("jwts")
    assert isinstance(plain, pylore.Hits)
    assert [hit.id for hit in plain] == [jwt.id]
    deep = lore.search("jwts", graph_depth=1)
    assert {hit.id for hit in deep} == {jwt.id, lesson.id, "file-src/auth.py"}
    assert len(deep) == 3 and deep[0].id == jwt.id and isinstance(deep[0], pylore.Hit)
    assert deep[1].path == [jwt.id, deep[1].id]


def test_contexts_and_answers_are_recorded_in_a_run(lore: pylore.Lore) -> None:
    lore.fact("ada", "lives_in", "rome")
    lore.fact("ada", "lives_in", "bern")
    run = Runs(lore._open().store).start()
    found = lore.context("where does ada live", run=run)
    assert found.notes == [] or "not recorded" not in " ".join(found.notes)
    assert "rome" not in found.text
    assert "rome (superseded)" in lore.context("where does ada live", with_superseded=True).text
    held = {row["id"] for row in found.included}
    assert {row["id"] for row in Runs(lore._open().store).get(run)["records"]} == held != set()
    other = Runs(lore._open().store).start()
    answer = lore.ask("where does ada live", run=other, llm_command="cat", with_superseded=True)
    assert "rome (superseded)" in answer.answer
    counts = {"runs": 2, "finished": 0, "shown": 2 * len(held), "rated": 0}
    assert lore.stats()["coverage"] == counts
    assert lore.stats()["diversity"]["answers"] in (0, 2)
    assert "not recorded" in " ".join(lore.context("ada", run="run-none").notes)


def test_get_edges_list_and_stats(lore: pylore.Lore) -> None:
    id = lore.add("note", "one", tags=["x"], status="staged").id
    other = lore.add("goal", "two").id
    lore.link(id, "part_of", other, weight=0.5)
    node = lore.get(id)
    assert isinstance(node, pylore.Node)
    assert (node.id, node.title, node.tags, node.status) == (id, "one", ("x",), "staged")
    assert lore.get("note-none") is None
    (edge,) = lore.edges(other)
    assert isinstance(edge, pylore.Edge)
    assert (edge.from_id, edge.relation, edge.to_id, edge.weight) == (id, "part_of", other, 0.5)
    assert {node.id for node in lore.list()} == {id, other}
    assert [node.id for node in lore.list(types="goal")] == [other]
    assert [node.id for node in lore.list(tags=["x"])] == [id]
    assert [node.id for node in lore.list(statuses=["staged"])] == [id]
    assert lore.list(since="2999-01-01") == []
    assert len(lore.list(limit=1)) == 1
    stats = lore.stats()
    assert (stats["nodes"], stats["edges"]) == (2, 1)


def test_facts_links_edits_and_forgetting(lore: pylore.Lore) -> None:
    fact = lore.fact("Billing", "uses", "PostgreSQL", confidence=0.5)
    assert fact.id == "entity-billing uses entity-postgresql"
    assert lore.unlink("entity-billing", "uses", "entity-postgresql").state == "invalidated"
    assert lore.edges("entity-billing") == []
    id = lore.add("note", "first").id
    assert lore.edit(id, text="second", tags="a, b").state == "updated"
    assert lore.get(id).tags == ("a", "b")  # type: ignore[union-attr]
    assert [change.state for change in lore.forget(id)] == ["invalidated"]
    assert len(lore.search("second")) == 0
    assert [change.state for change in lore.restore(id)] == ["restored"]
    assert len(lore.search("second")) == 1
    assert [change.state for change in lore.forget(id, purge=True)] == ["purged"]
    assert lore.get(id) is None


def test_paths_start_from_the_project(
    lore: pylore.Lore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    id = lore.add("note", "one", file=str(folder.parent / "src" / "a.py")).id
    assert lore.get(id).file == "src/a.py"  # type: ignore[union-attr]


# --- open and close


def test_closed_store_opens_again(folder: Path) -> None:
    with pylore.open(folder, create=True) as lore:
        id = lore.add("note", "kept").id
    assert lore.get(id) is not None, "a later call opens it again"
    lore.close()
    lore.close()
    with pylore.open(str(folder)) as again:
        assert [hit.id for hit in again.search("kept")] == [id]
        assert again.settings.graph_depth == 0
    with pylore.open(folder, create=True) as again:
        assert again.get(id) is not None


# --- settings


def test_settings_are_keywords(folder: Path) -> None:
    weights = {"calls": 0.5, "cites": "0.7/0.1"}
    given = {"graph_depth": 2, "edge_weights": weights, "hop_decay": 0.25}
    with pylore.open(folder, create=True, retrievers=["fulltext"], **given) as lore:
        settings = lore.settings
        assert (settings.graph_depth, settings.hop_decay) == (2, 0.25)
        assert settings.edge_weights == {"calls": (0.5, None), "cites": (0.7, 0.1)}
        assert settings.retrievers == ("fulltext",)
        assert settings.origins["hop_decay"] == "pylore:open"
        a, b = lore.add("note", "one").id, lore.add("note", "two").id
        lore.link(a, "relates_to", b)
        assert [hit.id for hit in lore.search("one")] == [a, b]
        assert [hit.id for hit in lore.search("one", graph_depth=0)] == [a]


# --- errors


def test_wrong_settings_are_usage_errors(folder: Path, lore: pylore.Lore) -> None:
    with pytest.raises(pylore.UsageError, match=r"unknown setting 'grph_depth' \(did you mean"):
        pylore.open(folder, grph_depth=2)
    with pytest.raises(pylore.UsageError, match="graph_depth is '9': give a whole number"):
        lore.search("x", graph_depth=9)
    (folder / ".config").write_text("limit=$(rm -rf /)\n")
    with pytest.raises(pylore.UsageError, match=r"\.config:1: only plain assignments"):
        pylore.open(folder)


def test_wrong_calls_are_errors_of_lore(lore: pylore.Lore) -> None:
    id = lore.add("note", "one").id
    wrong_use: tuple[Callable[[], object], ...] = (
        lambda: lore.search("x", types=["decison"]),
        lambda: lore.context("x", form="bogus"),
        lambda: lore.search("x", graph_depth=1, graph_edges="nonsense"),
        lambda: lore.related(id, hops=4),
        lambda: lore.list(since="soon"),
        lambda: lore.add("decison", "x"),
        lambda: lore.add("note", "two", links=[(id, "nonsense")]),
    )
    not_there: tuple[Callable[[], object], ...] = (
        lambda: lore.related("note-none"),
        lambda: lore.path(id, "note-none"),
        lambda: lore.show("note-none"),
        lambda: lore.add("note", "x", confidence=2),
        lambda: lore.fact("a", "uses", "b", status="nonsense"),
        lambda: lore.forget("note-none"),
    )
    for calls, kind, code in ((wrong_use, pylore.UsageError, 2), (not_there, pylore.LoreError, 1)):
        for call in calls:
            with pytest.raises(kind) as error:
                call()
            assert error.value.exit_code == code
    assert lore.add("recipe", "Soup", new_type=True).state == "added"


# --- threads and processes


def test_threads_add_and_search(lore: pylore.Lore) -> None:
    barrier = threading.Barrier(4)

    def work(thread: int) -> None:
        barrier.wait()
        for number in range(5):
            id = lore.add("note", f"zebra {thread} runs {number}", tags=["herd"]).id
            assert id in {hit.id for hit in lore.search(f"zebra {thread} runs {number}")}
            lore.fact(f"zebra {thread}", "follows", "zebra 0" if thread else "nobody")

    with ThreadPoolExecutor(4) as threads:
        assert [*threads.map(work, range(4))] == [None] * 4
    assert len(lore.list(types=["note"])) == 20
    assert len(lore.search("zebra", limit=100, types="note")) == 20
    assert lore.stats()["edges"] == 4


def _add_some(folder: str, process: int) -> None:
    with pylore.open(folder) as lore:
        for number in range(10):
            lore.add("note", f"gnu {process} runs {number}")
            lore.search("gnu", graph_depth=1)


@pytest.mark.soak
def test_concurrent_processes_lose_no_record(folder: Path, lore: pylore.Lore) -> None:
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=_add_some, args=(str(folder), n)) for n in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * 2
    assert len(lore.list()) == 20
    assert len(lore.search("gnu", limit=50)) == 20


_FORKED = """
import os, sys
sys.path.insert(0, sys.argv[1])
import pylore
with pylore.open(sys.argv[2]) as lore:
    lore.add("note", "the parent's")
    mine = lore._open().store.connection
    child = os.fork()
    if not child:
        lore.add("note", "the child's")
        ours = lore._open().store.connection
        lore.close()
        os._exit(0 if ours is not mine and mine.filename else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert lore._open().store.connection is mine
    print(len(lore.list()))
"""


def test_forked_process_has_a_separate_connection(folder: Path, lore: pylore.Lore) -> None:
    words = [sys.executable, "-c", _FORKED, str(ROOT), str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("2\n", "")


# --- types: 'make lint' checks the program and the errors marked in it


def test_the_program_that_was_checked_runs(tmp_path: Path) -> None:
    found = sdk_program.titles(str(tmp_path / "store"))
    assert found[0] == "JWT"
    assert found[1].startswith("decision-")


def test_spellings_of_a_symbol_mean_the_same_node(lore: pylore.Lore, folder: Path) -> None:
    folder.parent.joinpath("a.py").write_text("class C:\n    def m(self):\n        pass\n")
    lore.index(history=False)
    note = lore.add("note", "Slow", links=[("a.py::C::m", "relates_to")]).id
    symbol = "symbol-a.py::C.m"
    for name in ("a.py::C::m", "a.py::C.m", "symbol-a.py::C::m", symbol):
        found = lore.get(name)
        assert found is not None
        assert found.id == lore.show(name)["id"] == symbol
        assert {note, "file-a.py"} <= {edge.from_id for edge in lore.edges(name)}
        assert lore.path(note, name)["path"] == [note, symbol]
        assert note in [hit.id for hit in lore.related(name)]
        assert lore.rate([name], "helpful")[0]["id"] == symbol
        assert lore.fact(name, "uses", "jwt").id == f"{symbol} uses entity-jwt"
    assert lore.get("a.py::C::n") is None
