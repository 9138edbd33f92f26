"""Measures against values worked out by hand, intervals, controls, and the whole report."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Iterator
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphs import links
from hypothesis import given
from hypothesis import strategies as st

import pylore
from pylore.core.errors import LoreError, UsageError
from pylore.core.settings import BY_NAME, Settings
from pylore.evaluate import tune as controls
from pylore.evaluate.queries import Question
from pylore.evaluate.run import (
    Evaluation,
    configured,
    interval,
    legs,
    measures,
    milliseconds,
    missing,
    report_text,
    score,
)
from pylore.evaluate.tune import VALUES, coordinates, evaluate, fragment, tune
from pylore.search.pipeline import Request, search
from pylore.store import Store, open_store
from pylore.store.filter import Scope

# --- measures


def scored(ranked: list[str], relevant: tuple[str, ...], at: tuple[int, ...] = (5,)) -> Any:
    return dict(zip(measures(at), score(ranked, relevant, at), strict=True))


def test_recall_is_the_share_of_the_relevant_among_the_first() -> None:
    found = scored(["a", "b", "c", "d"], ("b", "d", "x"), (2, 4))
    assert (found["recall@2"], found["recall@4"]) == pytest.approx((1 / 3, 2 / 3))
    assert set(scored([], ("b",)).values()) == {0}


def test_all_relevant_is_all_or_nothing() -> None:
    assert scored(["a", "x", "b"], ("a", "b"))["all_relevant@5"] == 1
    assert scored([*"axyzvb"], ("a", "b"))["all_relevant@5"] == 0


def test_ndcg_discounts_by_rank_and_divides_by_the_best_list() -> None:
    assert scored(["a", "x"], ("a",))["ndcg@10"] == 1
    assert scored(["x", "a"], ("a",))["ndcg@10"] == pytest.approx(1 / log2(3))
    found = scored(["a", "x", "b"], ("a", "b", "c"))["ndcg@10"]
    assert found == pytest.approx((1 + 1 / 2) / (1 + 1 / log2(3) + 1 / 2))
    assert scored([*"xxxxxxxxxxa"], ("a",))["ndcg@10"] == 0


def test_reciprocal_rank_is_of_the_first_relevant_one() -> None:
    assert scored(["x", "y", "a", "b"], ("a", "b"))["mrr"] == pytest.approx(1 / 3)


def test_times_have_the_nearest_rank() -> None:
    assert milliseconds([3.0, 1.0, 2.0]) == {"median": 2.0, "p95": 3.0}
    assert milliseconds(range(1, 101)) == {"median": 50.0, "p95": 95.0}
    assert milliseconds([]) is None


# --- intervals


def test_an_interval_is_that_of_the_mean() -> None:
    differences = np.random.default_rng(3).normal(0.1, 1.0, size=(400, 2))
    low, high = interval(differences)
    mean, error = differences.mean(axis=0), differences.std(axis=0) / 20
    assert low == pytest.approx(mean - 1.96 * error, abs=0.01)
    assert high == pytest.approx(mean + 1.96 * error, abs=0.01)


def test_an_interval_without_differences_is_nothing_and_repeats_are_the_same() -> None:
    assert interval(np.zeros((5, 1))).tolist() == [[0], [0]]
    some = np.array([[0.0], [1.0], [0.5], [0.0]])
    assert interval(some).tolist() == interval(some).tolist()
    assert interval(np.full((4, 1), 0.25)).tolist() == [[0.25], [0.25]]


# --- controls


@given(links(nodes=8, edges=30), st.integers(0, 1000))
def test_shuffling_keeps_degrees_and_makes_no_loop_and_no_duplicate(
    edges: list[tuple[str, str, str, float]], seed: int
) -> None:
    before = [edge[:3] for edge in edges]
    after = controls.shuffled(before, random.Random(seed))
    for side in (0, 1):
        degrees = [Counter((edge[side], edge[2]) for edge in some) for some in (before, after)]
        assert degrees[0] == degrees[1]
    assert all(edge[0] != edge[1] for edge in after)
    assert len(set(after)) == len(after)


def test_shuffling_changes_most_edges_where_it_can() -> None:
    edges = [(f"note-{n}", f"note-{n + 100}", "calls") for n in range(50)]
    after = controls.shuffled(edges, random.Random(1))
    assert len(set(edges) & set(after)) < 10
    assert after != controls.shuffled(edges, random.Random(2))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a store that each test gets a copy of."""
    folder = tmp_path_factory.mktemp("made") / ".lore"
    with pylore.open(folder, create=True, embedder="none") as lore:
        for number, word in enumerate(WORDS):
            lore.add("note", f"All about {word}", id=f"note-{word}")
            lore.add("decision", f"Rule {number}", id=f"decision-{word}")
        for word in WORDS:
            lore.link(f"note-{word}", "relates_to", f"decision-{word}")
    return folder


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Iterator[Store]:
    """Notes that share a word with the queries; what answers them is linked, not similar."""
    shutil.copytree(made, tmp_path / ".lore")
    with open_store(str(tmp_path / ".lore")) as opened:
        yield opened


WORDS = ("granite", "heron", "lagoon", "maple", "nettle", "orchid", "pebble", "quartz", "raven",
         "saffron", "tulip", "walnut")  # fmt: skip
QUESTIONS = [Question(word, word, (f"note-{word}", f"decision-{word}")) for word in WORDS]
BASE = Settings.load(environ={}, flags={"embedder": "none"})


def test_shuffled_stores_are_copies(store: Store) -> None:
    before = {edge.key for edge in store.edges.all()}
    seen = []
    for copy in controls.shuffled_stores(store, 2):
        folder = Path(copy.path).parent
        assert copy.path != store.path
        seen.append(frozenset(edge.key for edge in copy.edges.all()))
    assert {edge.key for edge in store.edges.all()} == before
    assert len({*seen, frozenset(before)}) == 3
    assert not folder.exists()


def test_the_graph_is_credited_and_shuffled_edges_are_not(store: Store) -> None:
    report = evaluate(
        Evaluation(store, QUESTIONS, Scope()),
        BASE,
        ["graph_depth=1", "graph_depth=0"],
        controls=True,
    )
    rows = {row["id"]: row for row in report["rows"]}
    assert report["reference"] == "fulltext"
    assert rows["fulltext"]["recall@5"] == rows["graph_depth=0"]["recall@5"] == 0.5
    assert rows["graph_depth=1"]["recall@5"] == rows["graph_depth=1"]["all_relevant@5"] == 1
    gain = rows["graph_depth=1"]["difference"]["recall@5"]
    assert gain == {"mean": 0.5, "low": 0.5, "high": 0.5, "relative": 1.0}
    assert rows["shuffled edges, graph_depth=1"]["recall@5"] < 0.7
    assert rows["in-degree prior"]["recall@5"] == 0.5
    assert rows["in-degree prior"]["share"] in controls.PRIOR_SHARES
    assert rows["fulltext"]["difference"] is None
    assert rows["graph_depth=0"]["difference"]["mrr"]["mean"] == 0
    assert [row["kind"] for row in report["rows"]] == [
        "leg", "leg", "fusion", "fusion", "configuration", "configuration", "control", "control",
    ]  # fmt: skip


def test_the_edges_of_an_excluded_node_are_no_popularity(store: Store) -> None:
    with pylore.open(Path(store.path).parent, embedder="none") as lore:
        lore.add("note", "A tulip of another kind, about which all is said", id="note-other")
        for word in WORDS[:6]:
            lore.link(f"note-{word}", "relates_to", "note-other")
    shared = ("note-other",)
    plain = Evaluation(store, [Question("q", "tulip", shared)], Scope(), (1,))
    citing = tuple(f"note-{word}" for word in WORDS[:6])
    alone = Evaluation(store, [Question("q", "tulip", shared, exclude=citing)], Scope(), (1,))
    _, scores = controls.in_degree_scores(plain, BASE)
    assert scores[0, -1] == 1
    _, scores = controls.in_degree_scores(alone, BASE)
    assert scores[0, -1] == search_rank(store, "tulip", "note-other")


def search_rank(store: Store, query: str, id: str) -> float:
    ranked = [hit.id for hit in search(store, BASE, Request(query), None)]
    return 1 / (ranked.index(id) + 1)


# --- running


def test_scores_are_those_of_search_itself(store: Store) -> None:
    asked = Evaluation(store, QUESTIONS, Scope(), (1, 3))
    for text in ("graph_depth=0", "graph_depth=2", "limit=1 graph_depth=1", "fusion=rrf"):
        settings = configured(BASE, text).settings
        plain = [
            score([hit.id for hit in search(store, settings, Request(one.query), None)],
                  one.relevant, (1, 3))
            for one in QUESTIONS
        ]  # fmt: skip
        assert asked.scores(settings).tolist() == plain


def test_types_and_exclusions_hold(store: Store) -> None:
    settings = configured(BASE, "graph_depth=1").settings
    only = Evaluation(store, QUESTIONS[:1], Scope(types=("decision",)), (5,))
    assert only.scores(settings)[0, 0] == 0.5
    excluding = [Question("q", "heron", ("decision-heron",), ("note-heron",))]
    assert Evaluation(store, excluding, Scope(), (5,)).scores(settings)[0, 0] == 0


def test_times_are_taken_of_so_many_queries(store: Store) -> None:
    chosen = legs(BASE)
    heard: list[int] = []
    asked = Evaluation(store, QUESTIONS, Scope(), progress=heard.append)
    times = asked.times(chosen, 5)
    assert [len(row) for row in times] == [5] * len(chosen)
    assert all(ms > 0 for row in times for ms in row)
    assert asked.times(chosen, 0) == [[]] * len(chosen)
    report = evaluate(asked, BASE, [], timed=0)
    assert report["rows"][0]["ms"] is None


def test_what_every_search_says_is_said_once(store: Store) -> None:
    asked = Evaluation(store, QUESTIONS, Scope())
    evaluate(asked, BASE, ["graph_depth=1 graph_max_depth=0", "graph_depth=1"])
    assert asked.notes == ["graph_max_depth is 0: the graph is switched off"]


def test_missing_answers_are_found(store: Store) -> None:
    gone = [*QUESTIONS, Question("x", "x", ("note-gone", "note-heron"))]
    assert missing(store, gone) == {"note-gone"}


def test_the_table_has_a_line_a_row_and_marks_the_reference(store: Store) -> None:
    report = evaluate(Evaluation(store, QUESTIONS, Scope()), BASE, [], timed=2)
    text = report_text(report).splitlines()
    assert len(text) == len(report["rows"]) + 2
    assert text[1].startswith("fulltext") and text[1].endswith("the reference")
    assert "+50.0 [+50.0, +50.0]" in text[-2]


# --- configurations


def test_a_configuration_is_config_syntax_on_top_of_the_base() -> None:
    base = Settings.load(environ={}, flags={"edge_weights": "calls=0.1", "limit": "7"})
    found = configured(
        base, "graph_depth=2 EDGE_WEIGHTS[links_to]=0.5 'graph_edges=calls links_to'"
    )
    assert found.settings.graph_depth == 2
    assert found.settings.edge_weights == {"calls": (0.1, None), "links_to": (0.5, None)}
    assert found.settings.graph_edges == ("calls", "links_to")
    assert found.settings.limit == 7
    assert base.graph_depth == 0 and base.edge_weights == {"calls": (0.1, None)}
    assert configured(base, "").settings.as_text("limit") == "7"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("graph_dept=1", "did you mean 'graph_depth'"),
        ("graph_depth=9", "a whole number from 0 to 3"),
        ("graph_depth", "give key=value"),
        ("limit[a]=1", "unknown setting"),
        ("EDGE_WEIGHTS[calls]=2", "0 to 1"),
        ("a='b", "quote"),
    ],
)
def test_a_wrong_configuration_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said.replace("[", "\\[")):
        configured(BASE, text)


def test_a_leg_alone_is_a_leg_and_one_leg_has_no_fusion() -> None:
    assert [one.id for one in legs(BASE)] == ["fulltext", "vector", "convex", "rrf"]
    one = Settings.load(environ={}, flags={"retrievers": "fulltext", "graph_depth": "2"})
    assert [(leg.id, leg.settings.depth) for leg in legs(one)] == [("fulltext", 0)]


def test_a_text_is_embedded_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    embedded: list[str] = []

    class Embedder:
        name, dimension = "mine", 4

        def embed(self, texts: list[str]) -> list[bytes]:
            embedded.extend(texts)
            return [bytes(16) for _ in texts]

    monkeypatch.setattr("pylore.evaluate.run.open_embedder", lambda *_: Embedder())
    found = Evaluation(store, [], Scope()).embedder(BASE)
    assert found is not None
    for _ in range(2):
        assert found.embed(["a", "b"]) == [bytes(16)] * 2
    assert embedded == ["a", "b"]


# --- tuning


def test_tuning_finds_what_helps_and_says_what_it_gains_on_unseen_queries(store: Store) -> None:
    asked = Evaluation(store, QUESTIONS, Scope(), (5,))
    space = coordinates(["graph_depth", "graph_limit", "fulltext_share"], [])
    report = tune(asked, BASE, space, measure="recall@5", folds=3)
    assert report["changes"] == [{"key": "graph_depth", "from": "0", "to": "1"}]
    assert report["unseen"]["mean"] == report["seen"]["mean"] == 0.5
    assert report["sure"]
    text = fragment(report)
    assert text.splitlines()[-1] == "graph_depth=1"
    assert "+50.0 points [+50.0, +50.0]" in text


def test_tuning_keeps_what_nothing_betters(store: Store) -> None:
    best = configured(BASE, "graph_depth=1").settings
    asked = Evaluation(store, QUESTIONS, Scope(), (5,))
    report = tune(asked, best, coordinates([], ["relates_to"]), measure="recall@5", folds=2)
    assert report["changes"] == [] and not report["sure"] and fragment(report) == ""


def test_tuning_needs_queries(store: Store) -> None:
    with pytest.raises(LoreError, match="12 queries are too few for 7 folds"):
        tune(Evaluation(store, QUESTIONS, Scope()), BASE, {}, measure="recall@5", folds=7)


def test_chance_is_not_taken_for_a_gain(store: Store) -> None:
    coin = random.Random(7)
    asked = [Question(w, w, (f"{coin.choice(('note', 'decision'))}-{w}",)) for w in WORDS]
    space = coordinates(["graph_depth", "graph_limit", "hop_decay"], [])
    base = configured(BASE, "graph_depth=1").settings
    report = tune(Evaluation(store, asked, Scope()), base, space, measure="mrr", folds=3)
    assert not report["sure"]


def test_every_value_of_the_space_is_one_of_its_setting() -> None:
    for key, values in coordinates([], ["calls"]).items():
        for value in values:
            assert Settings().changed([(key, value)], "test")
    keys = [*coordinates(["EDGE_WEIGHTS"], ["calls", "links_to"])]
    assert keys == ["EDGE_WEIGHTS[calls]", "EDGE_WEIGHTS[links_to]"]
    with pytest.raises(UsageError, match="did you mean 'hop_decay'"):
        coordinates(["hop_deca"], [])
    assert {"graph_depth", "fulltext_share"} <= VALUES.keys() & BY_NAME.keys()
