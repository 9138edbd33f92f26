"""Test run and feedback."""

from __future__ import annotations

import re

import pytest
from commands import Lore


@pytest.fixture
def store(lore: Lore) -> Lore:
    """A store with three records and a task."""
    lore.patch.setenv("LORE_RETRIEVERS", "fulltext")
    lore.fill(
        {"id": "decision-a", "title": "Sessions are signed tokens"},
        {"id": "lesson-b", "title": "Tokens expire"},
        {"id": "note-c", "title": "Tokens again and again"},
        {"id": "task-d", "title": "Mend the login"},
    )
    return lore


def start(lore: Lore, *words: str) -> str:
    return lore("run", "start", *words).out.strip()


def derived(lore: Lore, id: str) -> list[str]:
    """The ids that a record is derived from."""
    edges = lore("show", id).json["edges"]
    return [edge["id"] for edge in edges if edge["relation"] == "derived_from"]


def test_run_start_prints_only_the_id(store: Lore) -> None:
    done = store("run", "start")
    assert re.fullmatch(r"run-\d{8}-\d{6}-[0-9a-f]{6}\n", done.out) and not done.err
    assert store("run", "start", "--json").json["state"] == "open"
    assert "no node 'task-none'" in store.refuse("run", "start", "--task", "task-none", code=1)
    assert len(store("run", "list", "--ids").lines) == 2


def test_finished_run_ranks_helpful_records_first(store: Lore) -> None:
    run = start(store, "--task", "task-d")
    before = store("search", "tokens", "--ids", "--run", run).lines
    store("search", "again", "--run", run)
    store("search", "sessions")  # belongs to no run
    shown = store("run", "show", run).json
    assert (shown["state"], shown["task"], shown["shown"]) == ("open", "task-d", 3)
    ranks = {id: 1 if id == "note-c" else rank for rank, id in enumerate(before, 1)}
    assert {row["id"]: row["position"] for row in shown["records"]} == ranks
    done = store("run", "finish", run, "--helpful", "lesson-b", "--unhelpful", "note-c")
    counts = {"shown": 3, "helpful": 1, "unhelpful": 1, "unrated": 1}
    assert not done.err and done.json["state"] == "finished"
    assert {name: done.json[name] for name in counts} == counts
    after = store("search", "tokens").json
    assert after[0]["id"] == "lesson-b" and len(after) == 3
    assert after[0]["feedback_score"] == 0.666667
    assert store("search", "tokens", "--feedback-weight", "0", "--ids").lines == before
    edges = {(edge["relation"], edge["id"]) for edge in store("show", run).json["edges"]}
    used = {("used_in_run", id) for id in before}
    assert edges == {("part_of", "task-d"), *used}


def test_lore_run_names_the_run_of_every_command(store: Lore) -> None:
    run = start(store)
    store.patch.setenv("LORE_RUN", run)
    store("related", "decision-a")
    store("run", "rate", "--helpful", "-", stdin=store("search", "tokens", "--ids").out)
    store("run", "finish")
    assert store("run", "show").json["helpful"] == 3
    assert "was finished at " in store.refuse("run", "finish", code=1)
    (note,) = store("search", "tokens").notes
    assert note == f"what was shown is not recorded: the run {run} is finished"
    assert store("search", "tokens", "--quiet").notes == []


def test_run_refuses_bad_words(store: Lore) -> None:
    run = start(store)
    store.refuse_each(f"""
        run finish | 2 | name a run
        run finish run-x | 1 | no run 'run-x'
        run finish note-c | 1 | 'note-c' is not a run
        run show note-c | 1 | 'note-c' is not a run
        run finish {run} --helpful note-c --unhelpful note-c | 2 | 'note-c' is helpful and unhelpful
        feedback note-c | 2 | give one of --helpful and --unhelpful
        feedback --helpful --unhelpful note-c | 2 | exclude each other
        feedback --helpful | 2 | needs an id
        feedback --helpful note-none | 1 | no node 'note-none'
        feedback --helpful note-c --run lesson-b | 1 | 'lesson-b' is not a run
    """)
    (note,) = store("run", "finish", run, "--helpful", "note-c").notes
    assert note == "not shown in this run, and rated all the same: note-c"


def test_feedback_rates(store: Lore) -> None:
    row = store("feedback", "lesson-b", "note-c", "--helpful").json[0]
    assert (row["id"], row["rating"], row["feedback_score"]) == ("lesson-b", "helpful", 0.666667)
    assert re.fullmatch(r"run-feedback-[\d-]{10}", row["run"])
    store("feedback", "-", "--unhelpful", stdin="decision-a\n")
    rows = store("run", "show", row["run"]).json["records"]
    ratings = {"decision-a": "unhelpful", "lesson-b": "helpful", "note-c": "helpful"}
    assert {row["id"]: row["rating"] for row in rows} == ratings
    assert store("feedback", "note-c", "--unhelpful", "--text").out.startswith("unhelpful  note-c ")


def test_records_added_in_a_run_are_derived_from_it(store: Lore) -> None:
    run = start(store)
    by_option = store.id("add", "note", "By an option", "--run", run)
    store.patch.setenv("LORE_RUN", run)
    lesson = store.id("add", "lesson", "Measure first")
    assert derived(store, lesson) == derived(store, by_option) == [run]
    assert store("add", "lesson", "Measure first").json["state"] == "unchanged"
    assert derived(store, store.id("add", "file", "a.py")) == []
    store.patch.setenv("LORE_RUN", "run-gone")
    (note,) = store("add", "note", "No such run").notes
    assert "no run 'run-gone', so nothing is linked to it" in note
    store("undo")
