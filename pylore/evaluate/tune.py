"""Reports that compare settings, with controls, and the search for settings that suit queries."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import log1p
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import LoreError, UsageError, nearest
from ..core.scoring import best_first
from ..core.settings import BY_NAME
from ..core.text import parse_query
from ..core.vocabulary import CHANGES, file_id
from ..search.legs import embed_query
from ..search.pipeline import find_matches
from ..store import copy_store
from ..system.atomic_write import temporary_folder
from .run import Configuration, configured, interval, legs, milliseconds, score

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..core.settings import Settings
    from ..store import Store
    from .queries import Question
    from .run import Evaluation, Scores

    Changes = Mapping[str, str]
    """Config key to the value that is set on top of the base."""

    Numbers = npt.NDArray[np.intp]
    """Numbers of queries."""

    Row = tuple[Configuration, Scores, dict[str, Any]]
    """What was scored, its scores, and more fields of its row in the report."""

SHUFFLES = 3
"""Shuffled graphs whose scores are averaged."""

SWAPS_PER_EDGE = 10
"""Attempted swaps, as a multiple of the edges; Milo et al. (2003) found 10 enough."""

PRIOR_SHARES = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7)
"""Shares of the prior that are tried; the best one counts."""


def shuffled(
    edges: Sequence[tuple[str, str, str]], generator: random.Random
) -> list[tuple[str, str, str]]:
    """Return the same ``(from, to, relation)``, in the same order, with targets exchanged.

    Two edges of one relation swap their targets, unless that makes a self loop or an edge that
    is there. So every node keeps its in-degree and out-degree within each relation, and no edge
    is there twice if none was.
    """
    targets = [edge[1] for edge in edges]
    present = set(edges)
    by_relation: dict[str, list[int]] = defaultdict(list)
    for number, edge in enumerate(edges):
        by_relation[edge[2]].append(number)
    for relation, numbers in by_relation.items():
        for _ in range(SWAPS_PER_EDGE * len(numbers)):
            one, other = generator.choice(numbers), generator.choice(numbers)
            ends = (edges[one][0], targets[one]), (edges[other][0], targets[other])
            old = [(*end, relation) for end in ends]
            new = [(ends[0][0], ends[1][1], relation), (ends[1][0], ends[0][1], relation)]
            if any(edge[0] == edge[1] or edge in present for edge in new):
                continue
            present.difference_update(old)
            present.update(new)
            targets[one], targets[other] = targets[other], targets[one]
    return [(edge[0], to_id, edge[2]) for edge, to_id in zip(edges, targets, strict=True)]


def shuffled_stores(store: Store, count: int = SHUFFLES) -> Iterator[Store]:
    """Yield a copy of the store ``count`` times, its edges shuffled anew."""
    edges = [*store.edges.all(live_only=True)]
    keys = [edge.key for edge in edges]
    changed = [(id, path, CHANGES) for id, path in store.commits.files()]
    with temporary_folder() as folder, copy_store(store, folder) as copy:
        copy.cache_reads()
        for seed in range(count):
            generator = random.Random(seed)
            for edge, key in zip(edges, shuffled(keys, generator), strict=True):
                edge.from_id, edge.to_id, edge.relation = key
            dealt = shuffled(changed, generator)
            with copy.transaction():
                copy.edges.replace_all(edges)
                copy.commits.replace_files((id, path) for id, path, _ in dealt)
            yield copy


def in_degree_scores(asked: Evaluation, plain: Settings) -> tuple[float, Scores]:
    """Return the best share of the prior and its scores: the plain list, ranked anew.

    ``score = (1 − share) · fused + share · log(1 + in-degree) / its largest value``;
    edges that come from an excluded node do not count. The share is chosen by the
    first measure on these same queries, which favours the control.
    """
    targets: dict[str, list[str]] = defaultdict(list)
    for edge in asked.store.edges.all(live_only=True):
        targets[edge.from_id].append(edge.to_id)
    for id, path in asked.store.commits.files():
        targets[id].append(file_id(path))
    degrees = Counter(target for ends in targets.values() for target in ends)
    most = log1p(max(degrees.values(), default=0)) or 1.0
    rows: dict[float, list[list[float]]] = {share: [] for share in PRIOR_SHARES}
    for question in asked.questions:
        lost = Counter(target for id in question.exclude for target in targets.get(id, ()))
        fused = _fused(asked, plain, question)
        prior = {id: log1p(degrees[id] - lost[id]) / most for id in fused}
        for share, scores in rows.items():
            mixed = {id: (1 - share) * fused[id] + share * prior[id] for id in fused}
            scores.append(score([*best_first(mixed)], question.relevant, asked.at))
    best = max(rows, key=lambda share: float(np.mean(rows[share], axis=0)[0]))
    return best, np.array(rows[best])


def _fused(asked: Evaluation, plain: Settings, question: Question) -> dict[str, float]:
    query, store = parse_query(question.query), asked.store
    if not query:
        return {}
    vector = embed_query(query, store, plain, asked.embedder(plain), [])
    excluded = frozenset(question.exclude)
    return find_matches(store, plain, query, vector, asked.scope, excluded).fused


COMPARED = ("graph_depth=0", "graph_depth=1")
"""What is compared unless something else is asked for."""


def evaluate(
    asked: Evaluation,
    base: Settings,
    compared: Sequence[str],
    *,
    controls: bool = False,
    timed: int = 0,
) -> dict[str, Any]:
    """Return the report on every leg, every configuration and, if wanted, the controls.

    ``compared``: settings on top of ``base``, in config syntax; ``timed``: how many of
    the queries are timed. The reference, which all others are compared with, is what
    does without the graph and has the best recall at the first rank of ``asked.at``.
    """
    chosen = [*legs(base), *(configured(base, text) for text in compared or COMPARED)]
    times = asked.times(chosen, timed)
    asked.store.cache_reads()  # from here on: times are those of a search alone
    rows: list[Row] = [
        (one, asked.scores(one.settings, listen=one.kind == "configuration"),
         {"ms": milliseconds(took)})
        for one, took in zip(chosen, times, strict=True)
    ]  # fmt: skip
    reference = max((row for row in rows if row[0].plain),
                    key=lambda row: float(row[1][:, 0].mean()))  # fmt: skip
    if controls:
        rows += _controls(asked, [one for one in chosen if not one.plain], reference[0].settings)
    return {
        "queries": len(asked.questions),
        "reference": reference[0].id,
        "measures": asked.measures,
        "rows": [_row(row, None if row is reference else reference[1], asked) for row in rows],
    }


def _controls(asked: Evaluation, deep: list[Configuration], plain: Settings) -> list[Row]:
    rounds = [
        [other.scores(one.settings) for one in deep]
        for store in (shuffled_stores(asked.store) if deep else ())
        for other in [asked.on(store)]
    ]
    found: list[Row] = [
        (one._replace(id=f"shuffled edges, {one.id}", kind="control"), np.mean(scores, axis=0), {})
        for one, scores in zip(deep, zip(*rounds, strict=True), strict=True)
    ]
    share, scores = in_degree_scores(asked, plain)
    prior = Configuration("in-degree prior", "control", plain)
    return [*found, (prior, scores, {"share": share})]


def _row(row: Row, reference: Scores | None, asked: Evaluation) -> dict[str, Any]:
    one, scores, more = row
    means = [round(float(mean), 4) for mean in scores.mean(axis=0)]
    return {
        "id": one.id, "kind": one.kind, **dict(zip(asked.measures, means, strict=True)),
        "ms": None, **more,
        "difference": None if reference is None else difference(scores, reference, asked.measures),
    }  # fmt: skip


def difference(
    scores: Scores, reference: Scores, measures: Sequence[str]
) -> dict[str, dict[str, float | None]]:
    """Return each measure's mean difference, 95 % interval, and size relative to the reference."""
    each = scores - reference
    columns = zip(each.mean(axis=0), *interval(each), reference.mean(axis=0), strict=True)
    return {
        name: {
            "mean": round(float(mean), 4), "low": round(float(low), 4),
            "high": round(float(high), 4),
            "relative": round(float(mean / base), 4) if base else None,
        }
        for name, (mean, low, high, base) in zip(measures, columns, strict=True)
    }  # fmt: skip


_WEIGHTS = ("0", "0.15", "0.3", "0.5", "0.7", "1")
_OF_THE_GRAPH = ("edge_weights", "expansion", "graph_limit", "graph_seeds", "hop_decay")
"""Settings that change nothing at depth 0."""

VALUES: dict[str, tuple[str, ...]] = {
    "graph_depth": ("0", "1", "2"),
    "expansion": BY_NAME["expansion"].choices,
    "edge_weights": _WEIGHTS,
    "hop_decay": ("0.3", "0.5", "0.7", "0.85", "1"),
    "graph_seeds": ("3", "5", "10", "20"),
    "graph_limit": ("5", "10", "20"),
    "fusion": BY_NAME["fusion"].choices,
    "fulltext_share": ("0.3", "0.5", "0.6", "0.7", "0.8", "0.9"),
    "vector_min": ("0", "0.15", "0.25", "0.35"),
}
"""Setting to the values that are tried, in this order."""

ROUNDS = 2
"""How often each setting gets its turn."""

LEAST_GAIN = 0.001
"""A change that gains less on the queries it is chosen on is not made."""


def coordinates(names: Sequence[str], relations: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return config keys with the values to try: those of ``names``, or all that can be tuned.

    Raises:
        UsageError: a setting is not among them.
    """
    for name in names:
        if name.lower() not in VALUES:
            raise UsageError(f"'{name}' is not tuned{nearest(name, [*VALUES])}: "
                             f"some of {', '.join(VALUES)}")  # fmt: skip
    wanted = {name.lower() for name in names} or {*VALUES}
    weights = [f"EDGE_WEIGHTS[{relation}]" for relation in relations]
    return {
        key: values
        for name, values in VALUES.items() if name in wanted
        for key in (weights if name == "edge_weights" else [name])
    }  # fmt: skip


class Tuner:
    """Scores settings, each once; settings of the graph are the same at depth 0."""

    def __init__(
        self, asked: Evaluation, base: Settings, space: Mapping[str, Sequence[str]], column: int
    ) -> None:
        self._asked = asked
        self._base = base
        self._space = space
        self._column = column
        self.known: dict[str, Scores] = {}

    def scores(self, changes: Changes) -> Scores:
        """Return every measure of every query under these changes."""
        settings = self._base.changed(changes.items(), "tune")
        names = [name for name in BY_NAME if settings.depth or name not in _OF_THE_GRAPH]
        key = repr([settings.as_text(name) for name in names])
        if key not in self.known:
            self.known[key] = self._asked.scores(settings)
        return self.known[key]

    def descend(self, rows: Numbers) -> dict[str, str]:
        """Return the changes that suit these queries best, found by one setting at a time."""
        changes: dict[str, str] = {}
        best = self.mean(changes, rows)
        for _ in range(ROUNDS):
            for key, values in self._space.items():
                tried = [{**changes, key: value} for value in values]
                means = [self.mean(one, rows) for one in tried]
                if max(means) > best + LEAST_GAIN:
                    best = max(means)
                    changes = tried[means.index(best)]
        return changes

    def mean(self, changes: Changes, rows: Numbers) -> float:
        """Return the mean of the measure on these queries."""
        return float(self.scores(changes)[rows, self._column].mean())


def tune(
    asked: Evaluation,
    base: Settings,
    space: Mapping[str, Sequence[str]],
    *,
    measure: str,
    folds: int,
    heard: Callable[[str], None] = lambda stage: None,
) -> dict[str, Any]:
    """Return the best changes on all queries, and what such changes gain on queries not seen.

    ``{queries, folds, measure, evaluations, base, changes, seen, unseen, sure}``:
    ``changes`` is a list of ``{key, from, to}``, ``seen`` and ``unseen`` are
    differences to the base (see ``difference``), and ``sure`` is True if the
    interval of the unseen one lies above 0.

    Raises:
        LoreError: there are too few queries for so many folds.
    """
    count = len(asked.questions)
    if count < 2 * folds:
        raise LoreError(f"{count} queries are too few for {folds} folds: "
                        f"give at least {2 * folds}, or fewer folds")  # fmt: skip
    asked.store.cache_reads()
    every = np.arange(count)
    tuner = Tuner(asked, base, space, asked.measures.index(measure))
    plain = tuner.scores({})
    unseen = plain.copy()
    order = np.random.default_rng(5).permutation(count)
    for number in range(folds):
        heard(f"fold {number + 1} of {folds}")
        part = np.sort(order[number::folds])
        unseen[part] = tuner.scores(tuner.descend(np.setdiff1d(every, part)))[part]
    heard("all queries")
    changes = tuner.descend(every)
    gain = difference(unseen, plain, asked.measures)[measure]
    return {
        "queries": count,
        "folds": folds,
        "measure": measure,
        "evaluations": len(tuner.known),
        "base": round(tuner.mean({}, every), 4),
        "changes": _changes(base, changes),
        "seen": difference(tuner.scores(changes), plain, asked.measures)[measure],
        "unseen": gain,
        "sure": (gain["low"] or 0) > 0,
    }


def _changes(base: Settings, changes: Changes) -> list[dict[str, str | None]]:
    tuned = base.changed(changes.items(), "tune")
    found = []
    for key, value in changes.items():
        name, bracket, element = key.partition("[")
        old = getattr(base, name.lower())
        before = old.get(element[:-1]) if bracket else base.as_text(name.lower())
        if getattr(tuned, name.lower()) != old:
            found.append({"key": key, "from": None if before is None else str(before), "to": value})
    return found


def fragment(report: Mapping[str, Any]) -> str:
    """Return the changes as lines of a config file, below what they gain on unseen queries."""
    gain = report["unseen"]
    mean, low, high = (100 * gain[name] for name in ("mean", "low", "high"))
    lines = [
        f"# lore eval --tune: {report['measure']} {mean:+.1f} points [{low:+.1f}, {high:+.1f}]",
        f"# on queries that were not tuned on; {report['queries']} queries in all",
        *(f"{change['key']}={change['to']}" for change in report["changes"]),
    ]
    return "\n".join(lines) + "\n" if report["changes"] else ""
