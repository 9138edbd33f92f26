"""Measures of ranked lists, reports that compare settings, controls, and tuning."""

from __future__ import annotations

import random
import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import compress
from math import log1p, log2
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from ..core.errors import LoreError, UsageError, nearest
from ..core.scoring import best_first
from ..core.settings import BY_NAME
from ..core.vocabulary import CHANGES, file_id
from ..embed import open_embedder
from ..search.pipeline import Request, search
from ..store import copy_store
from ..store.filter import Scope
from ..system.atomic_write import temporary_folder

if TYPE_CHECKING:
    from ..core.model import Hits
    from ..core.settings import Settings
    from ..embed import Embedder
    from ..store import Store
    from .queries import Question

Scores = npt.NDArray[np.float64]
"""(queries, measures)"""

RANKS = (5, 10)
MEASURES = (*(f"recall@{k}" for k in RANKS), "all_relevant@5", "ndcg@10", "mrr")

RESAMPLES = 10_000
SEED = 1993
_BLOCK = 500


def interval(differences: Scores) -> Scores:
    """Return low and high of the 95 % interval of each column's mean, by a paired bootstrap.

    ``differences``: (queries, measures). The seed is fixed: equal rows give equal intervals.
    """
    queries = len(differences)
    generator = np.random.default_rng(SEED)
    shares = np.full(queries, 1 / queries)
    means = [
        generator.multinomial(queries, shares, size=_BLOCK) @ differences / queries
        for _ in range(RESAMPLES // _BLOCK)
    ]
    bounds: Scores = np.percentile(np.concatenate(means), [2.5, 97.5], axis=0)
    return bounds


def difference(scores: Scores, reference: Scores) -> dict[str, dict[str, float]]:
    """Return mean difference and 95 % interval of each measure."""
    each = scores - reference
    columns = np.round([each.mean(axis=0), *interval(each)], 4).T.tolist()
    return {
        name: dict(zip(("mean", "low", "high"), column, strict=True))
        for name, column in zip(MEASURES, columns, strict=True)
    }


def score(ranked: Sequence[str], relevant: Collection[str]) -> list[float]:
    """Return the ``MEASURES`` of a list.

    nDCG (Järvelin and Kekäläinen, TOIS 2002): the gain of a relevant node at rank r is 1 / log2(r +
    1); the sum is divided by that of a list with the relevant nodes in front.
    """
    found = [id in relevant for id in ranked]
    gains = [1 / log2(rank + 2) for rank in range(10)]
    return [
        *(sum(found[:k]) / len(relevant) for k in RANKS),
        float({*relevant} <= {*ranked[:5]}),
        sum(compress(gains, found)) / sum(gains[: len(relevant)]),
        1 / (found.index(True) + 1) if True in found else 0.0,
    ]


def configured(base: Settings, text: str) -> Settings:
    """Return the base with ``key=value …``, in the syntax of config files; raise UsageError for an
    unknown setting or invalid value.
    """
    try:
        words = [word.partition("=") for word in shlex.split(text)]
    except ValueError as error:
        raise UsageError(f"'{text}': {error}: quote as a shell does") from None
    for key, equals, _ in words:
        if not equals:
            raise UsageError(f"'{key}' sets nothing: give key=value, as graph_depth=1")
    return base.changed([(key, value) for key, _, value in words], f"compare:{text}")


def legs(base: Settings) -> dict[str, Settings]:
    """Return the settings of each leg and, of several, of each fusion, without the graph."""
    texts = {name: f"retrievers={name}" for name in base.retrievers}
    if len(texts) > 1:
        texts |= {name: f"fusion={name}" for name in ("convex", "rrf")}
    return {name: configured(base, f"graph_depth=0 {text}") for name, text in texts.items()}


class Evaluation:
    """Queries to a store; ``progress`` is called after each search."""

    def __init__(
        self,
        store: Store,
        questions: Sequence[Question],
        scope: Scope,
        progress: Callable[[int], None] = lambda step: None,
    ) -> None:
        for question in questions:
            question.relevant = tuple(dict.fromkeys(map(store.resolve_id, question.relevant)))
            question.exclude = tuple(map(store.resolve_id, question.exclude))
        self.store = store
        self.questions = questions
        self.scope = scope
        self.progress = progress
        self.notes: Counter[str] = Counter()
        self._embedders: dict[str, Any] = {}

    def missing(self) -> set[str]:
        """Return the relevant ids without a live node in the store."""
        wanted = {id for question in self.questions for id in question.relevant}
        return wanted - self.store.nodes.match(Scope(), sorted(wanted))

    def embedder(self, settings: Settings) -> Embedder | None:
        """Return the embedder of these settings, which embeds each text once."""
        name = settings.embedder
        if name not in self._embedders:
            self._embedders[name] = found = open_embedder(name, self.store, settings)
            if found:
                one = cache(lambda text: found.embed([text])[0])
                self._embedders[name] = SimpleNamespace(
                    name=found.name,
                    dimension=found.dimension,
                    embed=lambda texts: [*map(one, texts)],
                )
        return cast("Embedder | None", self._embedders[name])

    def search(self, settings: Settings, question: Question, store: Store | None = None) -> Hits:
        """Return the results of a query, by default in this store."""
        store = store or self.store
        request = Request(question.query, self.scope, excluded=question.exclude)
        with store.snapshot():
            found = search(store, settings, request, self.embedder(settings))
        self.progress(1)
        self.notes.update(found.notes if found else ())
        return found

    def scores(self, settings: Settings, store: Store | None = None) -> Scores:
        """Return every measure of every query."""
        ranked = [(self.search(settings, one, store).ids, one.relevant) for one in self.questions]
        return np.array([score(*one) for one in ranked])


# --- controls: shuffled edges, in-degree

SHUFFLES = 3
"""Number of shuffled graphs in an average of scores."""
SWAPS_PER_EDGE = 10
"""Attempted swaps, as a multiple of the edges; Milo et al. (2003) found 10 enough."""
PRIOR_SHARES = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7)
"""Shares of the in-degree prior, of which the best counts."""
PRIOR_RESULTS = "50"


def shuffled(
    edges: Sequence[tuple[str, str, str]], generator: random.Random
) -> list[tuple[str, str, str]]:
    """Return the ``(from, to, relation)`` in the same order, with targets exchanged.

    Two edges of one relation swap their targets, unless that makes a self loop or a duplicate:
    every node keeps its in-degree and out-degree in each relation.
    """
    targets = [edge[1] for edge in edges]
    present = set(edges)
    by_relation: dict[str, list[int]] = defaultdict(list)
    for number, edge in enumerate(edges):
        by_relation[edge[2]].append(number)
    for relation, numbers in by_relation.items():
        for _ in range(SWAPS_PER_EDGE * len(numbers)):
            one, other = generator.choice(numbers), generator.choice(numbers)
            old = [(edges[at][0], targets[at], relation) for at in (one, other)]
            new = [(old[0][0], old[1][1], relation), (old[1][0], old[0][1], relation)]
            if any(edge[0] == edge[1] or edge in present for edge in new):
                continue
            present.difference_update(old)
            present.update(new)
            targets[one], targets[other] = targets[other], targets[one]
    return [(edge[0], to_id, edge[2]) for edge, to_id in zip(edges, targets, strict=True)]


def shuffled_stores(store: Store, count: int = SHUFFLES) -> Iterator[Store]:
    """Yield ``count`` copies of the store with shuffled edges."""
    edges = [*store.edges.all(live_only=True)]
    keys = [edge.key for edge in edges]
    changed = [(id, path, CHANGES) for id, path in store.commits.files()]
    with temporary_folder() as folder, copy_store(store, folder) as copy:
        for seed in range(count):
            generator = random.Random(seed)
            for edge, key in zip(edges, shuffled(keys, generator), strict=True):
                edge.from_id, edge.to_id, edge.relation = key
            dealt = shuffled(changed, generator)
            with copy.transaction():
                copy.edges.replace_all(edges)
                copy.ratings.recount()
                copy.commits.replace_files((id, path) for id, path, _ in dealt)
            yield copy


def in_degree_scores(asked: Evaluation, plain: Settings) -> Scores:
    """Return the scores of the first ``PRIOR_RESULTS`` ranked with an in-degree prior.

    ``score = (1 − share) · score + share · log(1 + in-degree) / its largest value``, without
    edges from excluded nodes. The share is chosen on the same queries, by the measures in their
    order, which favours the control.
    """
    targets: dict[str, list[str]] = defaultdict(list)
    for edge in asked.store.edges.all(live_only=True):
        targets[edge.from_id].append(edge.to_id)
    for id, path in asked.store.commits.files():
        targets[id].append(file_id(path))
    degrees = Counter(target for ends in targets.values() for target in ends)
    most = log1p(max(degrees.values(), default=0)) or 1.0
    rows: dict[float, list[list[float]]] = {share: [] for share in PRIOR_SHARES}
    wide = plain.changed([("limit", PRIOR_RESULTS)], "prior")
    for question in asked.questions:
        lost = Counter(target for id in question.exclude for target in targets.get(id, ()))
        found = {hit.id: hit.score for hit in asked.search(wide, question)}
        prior = {id: log1p(degrees[id] - lost[id]) / most for id in found}
        for share, scores in rows.items():
            mixed = {id: (1 - share) * found[id] + share * prior[id] for id in found}
            scores.append(score([*best_first(mixed)], question.relevant))
    return max(map(np.array, rows.values()), key=lambda scores: tuple(scores.mean(axis=0)))


def evaluate(
    asked: Evaluation, base: Settings, compared: Sequence[str], *, controls: bool = False
) -> dict[str, Any]:
    """Return the report on every leg, every configuration and, if wanted, the controls.

    ``compared``: settings on top of ``base``, in config syntax. The reference of all differences
    is the row without the graph that has the best recall at the first rank.
    """
    compared = compared or ("graph_depth=0", "graph_depth=1")
    settings = {**legs(base), **{text: configured(base, text) for text in compared}}
    rows = {name: asked.scores(one) for name, one in settings.items()}
    plain = [name for name, one in settings.items() if not one.depth]
    reference = max(plain, key=lambda name: float(rows[name][:, 0].mean()))
    if controls:
        deep = [name for name in settings if name not in plain]
        stores = shuffled_stores(asked.store) if deep else ()
        rounds = [[asked.scores(settings[name], store) for name in deep] for store in stores]
        for name, scores in zip(deep, zip(*rounds, strict=True), strict=True):
            rows[f"shuffled edges, {name}"] = np.mean(scores, axis=0)
        rows["in-degree prior"] = in_degree_scores(asked, settings[reference])
    return {
        "queries": len(asked.questions),
        "reference": reference,
        "measures": [*MEASURES],
        "rows": [
            {
                "id": name,
                **dict(zip(MEASURES, np.round(scores.mean(axis=0), 4).tolist(), strict=True)),
                "difference": None if name == reference else difference(scores, rows[reference]),
            }
            for name, scores in rows.items()
        ],
    }


VALUES: dict[str, tuple[str, ...]] = {
    "graph_depth": ("0", "1", "2"),
    "expansion": BY_NAME["expansion"].choices,
    "edge_weights": ("0", "0.15", "0.3", "0.5", "0.7", "1"),
    "hop_decay": ("0.3", "0.5", "0.7", "0.85", "1"),
    "graph_seeds": ("3", "5", "10", "20"),
    "graph_limit": ("5", "10", "20"),
    "fusion": BY_NAME["fusion"].choices,
    "fulltext_share": ("0.3", "0.5", "0.6", "0.7", "0.8", "0.9"),
    "vector_min": ("0", "0.15", "0.25", "0.35"),
}
"""Setting to the values to try, in this order."""

MEASURE = "recall@5"
"""The measure that tuning raises."""
FOLDS = 5
LEAST_GAIN = 0.001
"""The smallest gain, on the queries tuned on, that changes a setting."""


def tune(asked: Evaluation, base: Settings, names: Sequence[str] = ()) -> dict[str, Any]:
    """Return the best changes on all queries, and their cross-validated gain.

    ``names``: the settings that may change; all ``VALUES`` if empty.
    ``{queries, measure, evaluations, base, changes, unseen, sure, fragment}``: ``changes`` maps
    keys to values, ``unseen`` is the difference to the base on queries not tuned on, ``sure`` is
    True if its interval is above 0, and ``fragment`` is text for a config file.

    Raises:
        UsageError: a setting cannot be tuned.
        LoreError: fewer than two queries a fold.
    """
    space = _space(asked.store, names or [*VALUES])
    count = len(asked.questions)
    if count < 2 * FOLDS:
        raise LoreError(f"{count} queries are too few for {FOLDS} folds: give {2 * FOLDS} or more")
    column = MEASURES.index(MEASURE)
    known: dict[str, Scores] = {}

    def scores(changes: Mapping[str, str]) -> Scores:
        settings = base.changed(changes.items(), "tune")
        key = repr([settings.as_text(name) for name in VALUES])
        if key not in known:
            known[key] = asked.scores(settings)
        return known[key]

    def descend(rows: npt.NDArray[np.bool_]) -> dict[str, str]:
        """Return the best changes for these queries, by coordinate descent."""
        changes: dict[str, str] = {}
        best = scores(changes)[rows, column].mean()
        for key, values in [*space.items()] * 2:
            tried = [{**changes, key: value} for value in values]
            means = [scores(one)[rows, column].mean() for one in tried]
            if max(means) > best + LEAST_GAIN:
                best = max(means)
                changes = tried[means.index(best)]
        return changes

    plain = scores({})
    unseen = plain.copy()
    fold = np.random.default_rng(5).permutation(count) % FOLDS
    for number in range(FOLDS):
        part = fold == number
        unseen[part] = scores(descend(~part))[part]
    changes = descend(fold >= 0)
    gain = difference(unseen, plain)[MEASURE]
    lines = [
        f"# lore eval --tune: {MEASURE} {points(gain)} points",
        f"# on queries that were not tuned on; {count} queries in all",
        *(f"{key}={value}" for key, value in changes.items()),
    ]
    return {
        "queries": count,
        "measure": MEASURE,
        "evaluations": len(known),
        "base": round(float(plain[:, column].mean()), 4),
        "changes": changes,
        "unseen": gain,
        "sure": gain["low"] > 0,
        "fragment": "\n".join(lines) + "\n" if changes else "",
    }


def _space(store: Store, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the values to try, by key of a config file; raise UsageError for other settings."""
    for name in names:
        if name.lower() not in VALUES:
            hint = nearest(name, [*VALUES])
            raise UsageError(f"'{name}' is not tuned{hint}: some of {', '.join(VALUES)}")
    space = {name: VALUES[name] for name in map(str.lower, names)}
    weights = space.pop("edge_weights", None)
    for relation in store.statistics.count_by_relation() if weights else ():
        space[f"EDGE_WEIGHTS[{relation}]"] = VALUES["edge_weights"]
    return space


# --- reports as text


def report_text(report: Mapping[str, Any]) -> str:
    """Return the rows of a report under their headings."""
    rows = table(report)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:-1], widths[1:-1]), row[-1]])
        for row in rows
    ]
    return "\n".join([*lines, f"{report['queries']} queries; differences with 95 % intervals\n"])


def table(report: Mapping[str, Any]) -> list[list[str]]:
    """Return the headings and rows of a report: name, every measure, the first's difference."""
    rows = [["", *MEASURES, f"{MEASURES[0]} against {report['reference']}"]]
    for row in report["rows"]:
        against = points(row["difference"][MEASURES[0]]) if row["difference"] else "the reference"
        rows.append([row["id"], *(f"{100 * row[measure]:.1f}" for measure in MEASURES), against])
    return rows


def tuning_text(report: Mapping[str, Any]) -> str:
    """Return the result of tuning and the lines for a config file."""
    return (
        f"{report['measure']} {100 * report['base']:.1f} with the settings as they are, "
        f"{report['queries']} queries, {report['evaluations']} settings tried\n"
        f"on queries not tuned on: {points(report['unseen'])}\n"
        + (f"\n{report['fragment']}" if report["fragment"] else "")
    )


def points(difference: Mapping[str, float]) -> str:
    """Return a difference in points with an interval: ``+8.3 [+5.1, +11.6]``."""
    mean, low, high = (100 * difference[name] for name in ("mean", "low", "high"))
    return f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]"
