"""Test ``lore run`` and ``lore eval``."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping

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
    assert edges == {("part_of", "task-d"), *{("used_in_run", id) for id in before}}


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
    assert store("feedback", "-", "--helpful", stdin="").json == store("run", "list").json == []
    assert store("feedback", "note-c", "--helpful").json and store("undo").json
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
    store.patch.setenv("LORE_RUN", "\udcff")
    assert "give a text in UTF-8" in store.refuse("search", "x")


WORDS = "granite heron lagoon maple nettle orchid pebble quartz reed spruce".split()
QUERIES = [
    {"id": word, "query": word, "relevant": [f"note-{word}", f"decision-{word}"]} for word in WORDS
]
EVAL = ("eval", "--queries", "queries.jsonl")


@pytest.fixture
def asked(lore: Lore) -> Lore:
    """Each query has two relevant records: the first has the word, the second is linked to it."""
    lore.write(".lore/.config", "embedder=none\n")
    lore.fill(
        *({"id": f"note-{word}", "title": f"All about {word}"} for word in WORDS),
        *({"id": f"decision-{word}", "title": "A rule"} for word in WORDS),
        *(
            {"from_id": f"note-{word}", "to_id": f"decision-{word}", "relation": "relates_to"}
            for word in WORDS
        ),
    )
    lore.write("queries.jsonl", lines(*QUERIES))
    return lore


def lines(*rows: Mapping[str, object]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_eval_measures_legs_fusions_and_configurations(asked: Lore) -> None:
    done = asked(*EVAL)
    rows = done.json["rows"]
    assert (done.json["queries"], done.json["reference"], done.err) == (10, "fulltext", "")
    ids = "fulltext vector convex rrf graph_depth=0 graph_depth=1"
    assert [row["id"] for row in rows] == ids.split()
    assert rows[-1]["recall@5"] == 1
    assert rows[-1]["difference"]["recall@5"]["mean"] == 0.5


def test_eval_prints_a_table_without_writing(asked: Lore) -> None:
    temporary = asked.root / "temporary"
    temporary.mkdir()
    asked.patch.setattr("tempfile.tempdir", str(temporary))
    before = asked("export").out
    done = asked(*EVAL, "--compare", "graph_depth=1", "--controls", "--text")
    assert "recall@5  recall@10  all_relevant@5  ndcg@10" in done.lines[0]
    assert "recall@5 against fulltext" in done.lines[0]
    for part in ("shuffled edges, graph_depth=1", "in-degree prior  ", "+50.0 [+50.0, +50"):
        assert part in done.out
    assert asked("export").out == before and os.listdir(temporary) == []


def test_eval_and_tune_refuse_in_a_line(asked: Lore) -> None:
    asked.write("few.jsonl", lines(*QUERIES[:9]))
    asked.write("bad.jsonl", '{"id":"x","query":"y","relevant":"z"}\n')
    asked.refuse_each("""
        eval | 2 | eval needs --queries FILE
        eval --queries none.jsonl | 1 | none.jsonl
        eval --queries /dev/null | 1 | no query with relevant ids
        eval --queries bad.jsonl | 1 | line 1: relevant is not a list of ids
        eval --queries queries.jsonl --compare graph_dept=1 | 2 | did you mean 'graph_depth'
        tune | 2 | eval needs --queries FILE
        tune --queries queries.jsonl --controls | 2 | --tune and --controls exclude each other
        eval --queries queries.jsonl --settings fusion | 2 | needs --tune
        tune --queries few.jsonl | 1 | too few for 5 folds
        tune --queries queries.jsonl --settings embedder | 2 | 'embedder' is not tuned
    """)
