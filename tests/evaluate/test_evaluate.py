"""Measures against values worked out by hand, intervals, controls, and the whole report."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Iterator
from math import log2
from pathlib import Path

import numpy as np
import pytest
from graphs import links
from hypothesis import given
from hypothesis import strategies as st
from searching import options

import pylore
from pylore.core.errors import LoreError, UsageError
from pylore.evaluate import measure
from pylore.evaluate.measure import Evaluation, configured, evaluate, score, tune
from pylore.evaluate.queries import Question
from pylore.search.pipeline import Request, search
from pylore.store import Store, open_store
from pylore.store.filter import Scope

# --- measures


@pytest.mark.parametrize(
    ("ranked", "relevant", "name", "expected"),
    [
        ("abcdefgh", "bgx", "recall@5", 1 / 3),
        ("abcdefgh", "bgx", "recall@10", 2 / 3),
        ("", "b", "recall@5", 0),
        ("axb", "ab", "all_relevant@5", 1),
        ("axyzvb", "ab", "all_relevant@5", 0),
        ("ax", "a", "ndcg@10", 1),
        ("xa", "a", "ndcg@10", 1 / log2(3)),
        ("axb", "abc", "ndcg@10", (1 + 1 / 2) / (1 + 1 / log2(3) + 1 / 2)),
        ("xxxxxxxxxxa", "a", "ndcg@10", 0),
        ("xyab", "ab", "mrr", 1 / 3),
    ],
)
def test_measures_of_a_list(ranked: str, relevant: str, name: str, expected: float) -> None:
    assert score([*ranked], [*relevant])[measure.MEASURES.index(name)] == pytest.approx(expected)


# --- intervals


def test_an_interval_is_that_of_the_mean() -> None:
    differences = np.random.default_rng(3).normal(0.1, 1.0, size=(400, 2))
    low, high = measure.interval(differences)
    mean, error = differences.mean(axis=0), differences.std(axis=0) / 20
    assert low == pytest.approx(mean - 1.96 * error, abs=0.01)
    assert high == pytest.approx(mean + 1.96 * error, abs=0.01)


# --- controls


@given(links(nodes=8, edges=30), st.integers(0, 1000))
def test_shuffling_preserves_degrees_without_loops_or_duplicates(
    edges: list[tuple[str, str, str, float]], seed: int
) -> None:
    before = [edge[:3] for edge in edges]
    after = measure.shuffled(before, random.Random(seed))
    for side in (0, 1):
        degrees = [Counter((edge[side], edge[2]) for edge in some) for some in (before, after)]
        assert degrees[0] == degrees[1]
    assert all(edge[0] != edge[1] for edge in after)
    assert len(set(after)) == len(after)


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
    """Notes that share a word with the queries; the relevant decisions are linked to them."""
    shutil.copytree(made, tmp_path / ".lore")
    with open_store(str(tmp_path / ".lore")) as opened:
        yield opened


WORDS = (
    "granite heron lagoon maple nettle orchid pebble quartz raven saffron tulip walnut"
).split()
QUESTIONS = [Question(word, word, (f"note-{word}", f"decision-{word}")) for word in WORDS]
BASE = options(embedder="none")


def test_shuffled_stores_are_copies(store: Store) -> None:
    before = {edge.key for edge in store.edges.all()}
    seen = []
    for copy in measure.shuffled_stores(store, 2):
        folder = Path(copy.path).parent
        assert copy.path != store.path
        seen.append(frozenset(edge.key for edge in copy.edges.all()))
    assert {edge.key for edge in store.edges.all()} == before
    assert len({*seen, frozenset(before)}) == 3
    assert not folder.exists()


def test_graph_gains_more_than_shuffled_edges(store: Store) -> None:
    asked = Evaluation(store, QUESTIONS, Scope())
    report = evaluate(asked, BASE, ["graph_depth=1", "graph_depth=0"], controls=True)
    rows = {row["id"]: row for row in report["rows"]}
    assert report["reference"] == "fulltext"
    assert rows["fulltext"]["recall@5"] == rows["graph_depth=0"]["recall@5"] == 0.5
    assert rows["graph_depth=1"]["recall@5"] == rows["graph_depth=1"]["all_relevant@5"] == 1
    gain = rows["graph_depth=1"]["difference"]["recall@5"]
    assert gain == {"mean": 0.5, "low": 0.5, "high": 0.5}
    assert rows["shuffled edges, graph_depth=1"]["recall@5"] < 0.7
    assert rows["in-degree prior"]["recall@5"] == 0.5
    assert rows["fulltext"]["difference"] is None
    assert rows["graph_depth=0"]["difference"]["mrr"]["mean"] == 0


def test_edges_of_excluded_nodes_are_not_popularity(store: Store) -> None:
    with pylore.open(Path(store.path).parent, embedder="none") as lore:
        lore.add("note", "A tulip of another kind, about which all is said", id="note-other")
        for word in WORDS[:6]:
            lore.link(f"note-{word}", "relates_to", "note-other")
    shared = ("note-other",)
    plain = Evaluation(store, [Question("q", "tulip", shared)], Scope())
    citing = tuple(f"note-{word}" for word in WORDS[:6])
    alone = Evaluation(store, [Question("q", "tulip", shared, exclude=citing)], Scope())
    assert measure.in_degree_scores(plain, BASE)[0, -1] == 1
    rank = 1 + [hit.id for hit in search(store, BASE, Request("tulip"), None)].index("note-other")
    assert measure.in_degree_scores(alone, BASE)[0, -1] == 1 / rank


# --- running


def test_scores_are_those_of_search_itself(store: Store) -> None:
    texts = ("graph_depth=0", "graph_depth=2", "limit=1 graph_depth=1", "fusion=rrf")
    asked = Evaluation(store, QUESTIONS, Scope())
    for settings in (configured(BASE, text) for text in texts):
        found = [search(store, settings, Request(one.query), None).ids for one in QUESTIONS]
        plain = [score(ids, one.relevant) for ids, one in zip(found, QUESTIONS, strict=True)]
        assert asked.scores(settings).tolist() == plain


def test_notes_are_counted_and_missing_nodes_found(store: Store) -> None:
    gone = [*QUESTIONS, Question("x", "x", ("note-gone", "note-heron"))]
    asked = Evaluation(store, gone, Scope())
    evaluate(asked, BASE, ["graph_depth=1 graph_max_depth=0", "graph_depth=1"])
    assert asked.notes["graph_max_depth is 0: the graph is switched off"] == len(QUESTIONS)
    assert asked.missing() == {"note-gone"}


def test_table_marks_the_reference(store: Store) -> None:
    report = evaluate(Evaluation(store, QUESTIONS, Scope()), BASE, [])
    text = measure.report_text(report).splitlines()
    assert len(text) == len(report["rows"]) + 2
    assert text[1].startswith("fulltext") and text[1].endswith("the reference")
    assert "+50.0 [+50.0, +50.0]" in text[-2]


# --- configurations


def test_configuration_extends_the_base() -> None:
    base = options(edge_weights="calls=0.1", limit=7)
    text = "graph_depth=2 EDGE_WEIGHTS[links_to]=0.5 'graph_edges=calls links_to'"
    found = configured(base, text)
    assert found.graph_depth == 2
    assert found.edge_weights == {"calls": (0.1, None), "links_to": (0.5, None)}
    assert found.graph_edges == ("calls", "links_to")
    assert found.limit == 7
    assert base.graph_depth == 0 and base.edge_weights == {"calls": (0.1, None)}
    assert configured(base, "").as_text("limit") == "7"


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


# --- tuning


def test_tuning_finds_a_better_value(store: Store) -> None:
    asked = Evaluation(store, QUESTIONS, Scope())
    report = tune(asked, BASE, ["graph_depth", "graph_limit", "fulltext_share"])
    assert report["changes"] == {"graph_depth": "1"}
    assert report["unseen"]["mean"] == 0.5 and report["sure"]
    assert report["fragment"].splitlines()[-1] == "graph_depth=1"
    assert "+50.0 [+50.0, +50.0] points" in report["fragment"]


def test_tuning_leaves_the_best_values(store: Store) -> None:
    best = configured(BASE, "graph_depth=1")
    report = tune(Evaluation(store, QUESTIONS, Scope()), best, ["hop_decay", "EDGE_WEIGHTS"])
    assert (report["changes"], report["sure"], report["fragment"]) == ({}, False, "")


def test_tuning_refuses_few_queries_and_unknown_settings(store: Store) -> None:
    with pytest.raises(LoreError, match="9 queries are too few for 5 folds"):
        tune(Evaluation(store, QUESTIONS[:9], Scope()), BASE)
    with pytest.raises(UsageError, match="did you mean 'hop_decay'"):
        tune(Evaluation(store, QUESTIONS, Scope()), BASE, ["hop_deca"])


def test_chance_is_not_taken_for_a_gain(store: Store) -> None:
    coin = random.Random(7)
    asked = [Question(w, w, (f"{coin.choice(('note', 'decision'))}-{w}",)) for w in WORDS]
    base = configured(BASE, "graph_depth=1")
    names = ["graph_depth", "graph_limit", "hop_decay"]
    assert not tune(Evaluation(store, asked, Scope()), base, names)["sure"]
