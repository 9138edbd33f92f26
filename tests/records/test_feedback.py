"""Runs and feedback: impressions, ratings, and their effect on results."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from new_stores import new_store
from samples import examples

from pylore.app import Engine
from pylore.app.find import audit, record_shown
from pylore.core.errors import LoreError, UsageError
from pylore.core.model import Node
from pylore.core.settings import Settings
from pylore.core.times import now
from pylore.formats.export import export_lines
from pylore.formats.jsonl import import_lines
from pylore.indexing.indexer import rebuild
from pylore.records.records import Records
from pylore.records.runs import Runs
from pylore.search.expand import related
from pylore.search.pipeline import Request, search
from pylore.store import Store, open_store

WORDS = ("tokens", "expire", "cookie", "replica", "queue")
IDS = tuple(f"note-{number}" for number in range(8))
FULLTEXT: dict[str, Any] = {"retrievers": "fulltext"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with make(tmp_path / "store") as store:
        yield store


def make(folder: Path) -> Store:
    """Eight notes, ranked by how often they contain "tokens"."""
    store = new_store(str(folder))
    records = Records(store, Settings(), None)
    with store.transaction():
        for number, id in enumerate(IDS):
            records.add("note", "tokens " * (8 - number) + "filler " * (2 * number), id=id)
    return store


def options(**flags: object) -> Settings:
    texts = {name: str(value) for name, value in flags.items()}
    return Settings.load(environ={}, flags={**FULLTEXT, **texts})


def found(store: Store, query: str = "tokens", **flags: object) -> list[str]:
    return [hit.id for hit in search(store, options(**flags), Request(query), None)]


def scores(store: Store, **flags: object) -> dict[str, float]:
    hits = search(store, options(**flags), Request("tokens"), None)
    return {hit.id: hit.feedback_score for hit in hits}


def keep_shown(store: Store, settings: Settings, query: str, shown: Iterable[str]) -> str:
    return "".join(record_shown(Engine(store, settings, ""), query, shown))


def run_with(store: Store, shown: list[str], query: str = "tokens") -> str:
    run = Runs(store).start()
    assert keep_shown(store, options(run=run), query, shown) == ""
    return run


def counts(row: dict[str, Any]) -> dict[str, int]:
    return {name: row[name] for name in ("shown", "helpful", "unhelpful", "unrated")}


def test_secrets_in_queries_are_redacted(store: Store) -> None:
    token = "ghp_" + "a8Fk2LqPz9XcVb3NmQwEr" + "TyUiOpAsDfGhJkL"
    run = run_with(store, ["note-1"], f"why is {token} refused")
    ((_, query, _),) = store.impressions.shown(run).values()
    assert query == "why is [redacted:token] refused"


def in_step(store: Store) -> bool:
    """Return True if the stored ratings equal sums over the edges."""
    sums: dict[str, tuple[float, int]] = {}
    for edge in store.edges.all(live_only=True):
        rating = json.loads(edge.metadata).get("rating", "by weight")
        if edge.relation == "used_in_run" and rating is not None:
            helpful, rated = sums.get(edge.from_id, (0.0, 0))
            sums[edge.from_id] = (helpful + edge.weight, rated + 1)
    return store.ratings.of([*IDS, "note-elsewhere"]) == sums


# --- runs


def test_run_records_the_best_positions(store: Store) -> None:
    run = run_with(store, ["note-0", "note-1", "note-2"], "first")
    keep_shown(store, options(run=run), "second", ["note-2", "note-0", "note-3"])
    records = Runs(store).get(run)["records"]
    assert all(row["title"] == store.nodes.require(row["id"]).title for row in records)
    rows = {row["id"]: (row["position"], row["query"]) for row in records}
    first, second = {"note-0": 1, "note-1": 2}, {"note-2": 1, "note-3": 3}
    assert {id: at for id, (at, query) in rows.items() if query == "first"} == first
    assert {id: at for id, (at, query) in rows.items() if query == "second"} == second
    assert Runs(store).summaries()[0]["unrated"] == 4


def test_finish_links_all_shown_records(store: Store) -> None:
    run = run_with(store, [*IDS[:5]])
    row, notes = Runs(store).finish(run, ["note-1", "note-7"], ["note-2"])
    assert counts(row) == {"shown": 6, "helpful": 2, "unhelpful": 1, "unrated": 3}
    assert row["state"] == "finished"
    assert notes == ["not shown in this run, and rated all the same: note-7"]
    edges = {edge.from_id: edge for edge in store.edges.of(run)}
    assert edges.keys() == {*IDS[:5], "note-7"}
    weights = {id: (edge.weight, json.loads(edge.metadata)["rating"]) for id, edge in edges.items()}
    rated = {"note-1": (1, "helpful"), "note-2": (0, "unhelpful"), "note-7": (1, "helpful")}
    assert weights == {**dict.fromkeys(IDS[:5], (0, None)), **rated}
    first = json.loads(edges["note-1"].metadata)
    assert (first["position"], first["helpful"]) == (2, True)
    assert store.impressions.shown(run) == {}
    assert counts(told := Runs(store).get(run)) == counts(row)
    assert [row["id"] for row in told["records"]] == [*IDS[:5], "note-7"], "as they were shown"
    assert Runs(store).rate(["note-0", "note-7"], "helpful", run)[1] == [], "it used both"
    assert in_step(store)


def test_run_is_linked_to_a_task(store: Store) -> None:
    run = Runs(store).start("note-0")
    assert [(edge.relation, edge.to_id) for edge in store.edges.of(run)] == [("part_of", "note-0")]
    assert Runs(store).get(run)["task"] == "note-0"
    assert Runs(store).get(Runs(store).start())["task"] is None
    node = store.nodes.require(run)
    assert node.created_at == node.updated_at != ""
    assert found(store, "run") == found(store, run) == []
    assert store.fulltext.of_nodes([run]) == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda runs, run: runs.finish("run-none"), "no run 'run-none': see 'lore run list'"),
        (lambda runs, run: runs.finish("run-gone"), "'run-gone' is forgotten: 'lore undo"),
        (lambda runs, run: runs.start("note-gone"), "'note-gone' is forgotten"),
        (lambda runs, run: runs.finish("note-0"), "'note-0' is not a run"),
        (lambda runs, run: runs.finish(run, ["note-none"]), "no node 'note-none'"),
        (lambda runs, run: runs.finish(run, [run]), "is a run: rate records"),
        (lambda runs, run: runs.rate(["note-0", "x"], "helpful"), "no node 'x'"),
    ],
)
def test_refused_calls_leave_the_store_unchanged(store: Store, call: Any, message: str) -> None:
    run = run_with(store, ["note-0"])
    for id in ("run-gone", "note-gone"):
        store.nodes.put(Node(id, id.partition("-")[0], invalidated_at=now()))
    before = [*export_lines(store)]
    with pytest.raises(LoreError, match=message.replace("(", r"\(")):
        call(Runs(store), run)
    assert [*export_lines(store)] == before
    assert [*store.impressions.shown(run)] == ["note-0"]


def test_run_finishes_once(store: Store) -> None:
    run = run_with(store, ["note-0"])
    Runs(store).finish(run)
    with pytest.raises(LoreError, match=r"was finished at .*: 'lore run rate --run"):
        Runs(store).finish(run)
    said = keep_shown(store, options(run=run), "tokens", ["note-1"])
    assert said == f"what was shown is not recorded: the run {run} is finished"
    with pytest.raises(UsageError, match="'note-0' is helpful and unhelpful"):
        Runs(store).finish(run, ["note-0"], ["note-0"])
    with pytest.raises(UsageError, match="give helpful or unhelpful"):
        Runs(store).rate(["note-0"], "fine")


def test_recording_never_fails_a_search(store: Store, tmp_path: Path) -> None:
    run = run_with(store, ["note-0"])
    assert keep_shown(store, options(), "q", ["note-1"]) == ""
    with open_store(str(tmp_path / "store")) as other, other.transaction():
        said = keep_shown(store, options(run=run, busy_timeout=0), "q", ["note-1"])
    assert said == "what was shown is not recorded: the store is busy"
    assert "no run 'run-x'" in keep_shown(store, options(run="run-x"), "q", ["note-1"])
    assert "no run 'note-1'" in keep_shown(store, options(run="note-1"), "q", ["note-1"])
    Records(store, Settings(), None).forget([run])
    assert "forgotten" in keep_shown(store, options(run=run), "q", ["note-1"])
    store.connection.execute("DROP TABLE shown")
    said = keep_shown(store, options(run=Runs(store).start()), "q", ["note-1"])
    assert "the table shown is missing" in said


def test_run_finishes_without_purged_records(store: Store) -> None:
    run = run_with(store, ["note-0", "note-1", "note-2", "note-gone"])
    Records(store, Settings(), None).forget(["note-1"], purge=True)
    Records(store, Settings(), None).forget(["note-2"])
    assert Runs(store).finish(run, ["note-0"])[0]["shown"] == 1
    Records(store, Settings(), None).restore(["note-2"])
    assert {row["id"] for row in Runs(store).get(run)["records"]} == {"note-0", "note-2"}
    Records(store, Settings(), None).forget([run], purge=True)
    assert store.ratings.of([*IDS]) == {}


# --- rating without finishing


def test_last_rating_of_a_run_counts(store: Store) -> None:
    runs = Runs(store)
    run = run_with(store, ["note-0", "note-1"])
    runs.rate(["note-0"], "unhelpful", run)
    assert scores(store)["note-0"] == pytest.approx(1 / 3, abs=1e-6)
    rows, notes = runs.rate(["note-0", "note-5"], "helpful", run)
    assert [row["feedback_score"] for row in rows] == [pytest.approx(2 / 3, abs=1e-6)] * 2
    assert notes == ["not shown in this run, and rated all the same: note-5"]
    row = runs.finish(run)[0]
    assert counts(row) == {"shown": 3, "helpful": 2, "unhelpful": 0, "unrated": 1}
    assert in_step(store)


def test_links_by_hand_are_ratings(store: Store) -> None:
    run = run_with(store, ["note-0"])
    Records(store, Settings(), None).link("note-0", "used_in_run", run)
    Records(store, Settings(), None).link("note-1", "used_in_run", run, weight=0.25)
    assert store.ratings.of([*IDS]) == {"note-0": (1.0, 1), "note-1": (0.25, 1)}
    Records(store, Settings(), None).link("note-2", "used_in_run", run, weight=0.5)
    keep_shown(store, options(run=run), "tokens", ["note-2"])
    Runs(store).rate(["note-3"], "unhelpful", run)
    row = Runs(store).finish(run, ["note-3"])[0]
    assert counts(row) == {"shown": 4, "helpful": 3, "unhelpful": 1, "unrated": 0}
    assert in_step(store)


# --- the sums stay in step with the edges

ACTS = "helpful unhelpful finish unlink forget restore purge weight export".split()
STEPS = st.lists(
    st.tuples(st.sampled_from(ACTS), st.sampled_from(IDS[:4]), st.integers(0, 2)), max_size=12
)


@hypothesis_settings(max_examples=examples(15), deadline=None)
@given(STEPS)
def test_rating_sums_match_the_edges(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, int]]
) -> None:
    with make(tmp_path_factory.mktemp("steps")) as store:
        runs, records = Runs(store), Records(store, Settings(), None)
        three = [run_with(store, [*IDS[:3]]) for _ in range(3)]
        for step, id, number in steps:
            run = three[number]
            try:
                if step in ("helpful", "unhelpful"):
                    runs.rate([id], step, run)
                elif step == "finish":
                    runs.finish(run, [id])
                elif step == "unlink":
                    records.unlink(id, "used_in_run", run)
                elif step == "forget":
                    records.forget([id if number else run])
                elif step == "restore":
                    records.restore([id if number else run])
                elif step == "purge":
                    records.forget([id], purge=True)
                elif step == "weight":
                    records.link(id, "used_in_run", run, weight=number / 2)
                else:
                    import_lines(store, Settings(), None, map(str.encode, export_lines(store)))
            except LoreError:
                continue  # there is no such node, or the run is finished
            assert in_step(store)


def test_import_and_reindex_count_ratings(store: Store, tmp_path: Path) -> None:
    Runs(store).finish(run_with(store, [*IDS]), ["note-6"], ["note-0"])
    wanted = scores(store)
    assert (wanted["note-6"] > 0.5, wanted["note-0"] < 0.5) == (True, True)
    with new_store(str(tmp_path / "other")) as other:
        import_lines(other, Settings(), None, map(str.encode, export_lines(store)))
        assert scores(other) == wanted
        other.connection.execute("UPDATE ratings SET rated = 9")
        rebuild(other, "auto")
        assert scores(other) == wanted


# --- effect of ratings on results


def test_ratings_reorder_results(store: Store) -> None:
    first, second, *_ = plain = found(store)
    for day in range(5):
        Runs(store).finish(run_with(store, plain), [second], [first] if day else [])
    assert found(store)[0] == second
    assert found(store).index(first) > 0
    assert found(store, feedback_weight=0) == plain
    assert scores(store, feedback_weight=0)[first] == 0
    assert sorted(found(store)) == sorted(plain)


def test_helpful_records_of_a_run_are_related(store: Store) -> None:
    run = run_with(store, [*IDS[:4]])
    Runs(store).finish(run, ["note-0", "note-1"], ["note-2"])
    hits = related(store, options(graph_depth=2), ["note-0"])
    assert {hit.id: hit.hops for hit in hits} == {"note-1": 2}, "a run itself says nothing"
    assert hits[0].path == ["note-0", run, "note-1"]
    assert hits[0].feedback_score > 0.5
    assert list(related(store, options(graph_depth=2), ["note-2"])) == []


def test_unrated_ranks_above_unhelpful(store: Store) -> None:
    run = run_with(store, [*IDS[:3]])
    Runs(store).finish(run, ["note-0"], ["note-1"])
    assert [scores(store)[id] for id in IDS[:3]] == [0.666667, 0.333333, 0.0]
    assert [id for id in found(store) if id in IDS[:3]] == ["note-0", "note-2", "note-1"]
    Records(store, Settings(), None).undo()
    assert counts(Runs(store).get(run)) == {"shown": 3, "helpful": 0, "unhelpful": 0, "unrated": 3}


def test_audit_counts_and_hooks_finish_runs(store: Store) -> None:
    run = Runs(store).start(by="hook")
    for query in ("tokens", "sessions", "cookies"):
        assert keep_shown(store, options(run=run), query, IDS[:5]) == ""
    assert audit(store, options())["diversity"]["answers"] == 3
    store.connection.execute("UPDATE nodes SET created_at = '2026' WHERE type = 'run'")
    store.keep_to("ann")
    Runs(store).start(by="hook")
    store.keep_to("")
    assert {one.name for one in store.changes.commands()} == {"run start"}, "one transaction"
    counts = audit(store, options())
    assert counts["coverage"] == {"runs": 2, "finished": 1, "shown": 5, "rated": 0}
    assert counts["diversity"]["answers"] == 3
