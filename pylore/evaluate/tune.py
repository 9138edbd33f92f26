"""Trying configurations, with controls; the report, and what it proposes."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import log1p
from typing import Any, NamedTuple

import numpy as np

from ..core.errors import LoreError, UsageError, nearest
from ..core.scoring import best_first
from ..core.settings import BY_NAME
from ..core.text import parse_query
from ..core.vocabulary import CHANGES, file_id
from ..search.legs import embed_query
from ..search.pipeline import find_matches
from ..store import copy_store
from ..system.atomic_write import TemporaryFolder
from .run import Configuration, configured, interval, legs, milliseconds, score

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy.typing as npt

    from ..core.model import Edge
    from ..core.settings import Settings
    from ..store import Store
    from .run import Evaluation, Scores

    Changes = Mapping[str, str]
    """Config key to the value that is set on top of the base."""


_WEIGHTS = ("0", "0.15", "0.3", "0.5", "0.7", "1")
_OF_THE_GRAPH = ("edge_weights", "expansion", "graph_limit", "graph_seeds", "hop_decay")

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
"""Setting to the values that are tried; a coordinate each, in this order."""


class Coordinate(NamedTuple):
    """One thing to change: its key as config files have it, and the values to try."""

    key: str
    values: tuple[str, ...]

    @property
    def of_the_graph(self) -> bool:
        """Whether it changes nothing at depth 0."""
        return self.key.partition("[")[0].lower() in _OF_THE_GRAPH


def coordinates(names: Sequence[str], relations: Sequence[str]) -> list[Coordinate]:
    """Return the coordinates of these settings, of all that can be tuned unless some are named.

    Raises:
        UsageError: a setting is not among them.
    """
    known = [name for name in VALUES if name in BY_NAME]
    for name in names:
        if name.lower() not in known:
            raise UsageError(f"'{name}' is not tuned{nearest(name, known)}: "
                             f"some of {', '.join(known)}")  # fmt: skip
    wanted = {name.lower() for name in names} or set(known)
    found = []
    for name in [name for name in known if name in wanted]:
        if name == "edge_weights":
            found += [Coordinate(f"EDGE_WEIGHTS[{one}]", _WEIGHTS) for one in relations]
        else:
            found.append(Coordinate(name, VALUES[name]))
    return found


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

    Two edges of one relation swap their targets unless a self loop or an edge that is
    there would come of it. So within each relation every node keeps its in-degree and
    its out-degree, and no edge is there twice if none was.
    """
    targets = [edge[1] for edge in edges]
    present = set(edges)
    by_relation: dict[str, list[int]] = defaultdict(list)
    for number, edge in enumerate(edges):
        by_relation[edge[2]].append(number)
    for relation, numbers in by_relation.items():
        for _ in range(SWAPS_PER_EDGE * len(numbers)):
            one, other = generator.choice(numbers), generator.choice(numbers)
            sources = edges[one][0], edges[other][0]
            old = [(sources[0], targets[one], relation), (sources[1], targets[other], relation)]
            new = [(sources[0], targets[other], relation), (sources[1], targets[one], relation)]
            if any(edge[0] == edge[1] or edge in present for edge in new):
                continue
            present.difference_update(old)
            present.update(new)
            targets[one], targets[other] = targets[other], targets[one]
    return [
        (from_id, to_id, relation)
        for (from_id, _, relation), to_id in zip(edges, targets, strict=True)
    ]


@contextmanager
def shuffled_stores(store: Store, count: int = SHUFFLES) -> Iterator[Iterator[Store]]:
    """``count`` times a copy of the store with its edges shuffled; the store stays as it is."""
    with TemporaryFolder() as folder:
        copy = copy_store(store, folder)
        try:
            yield _shuffles(copy, list(store.edges.all(live_only=True)), count)
        finally:
            copy.close()


def _shuffles(copy: Store, edges: list[Edge], count: int) -> Iterator[Store]:
    keys = [edge.key for edge in edges]
    changed = [(id, path, CHANGES) for id, path in copy.commits.files()]
    for seed in range(count):
        generator = random.Random(seed)
        for edge, key in zip(edges, shuffled(keys, generator), strict=True):
            edge.from_id, edge.to_id, edge.relation = key
        dealt = shuffled(changed, generator)
        with copy.transaction():
            copy.edges.replace_all(edges)
            copy.commits.replace_files((id, path) for id, path, _ in dealt)
        yield copy


def shuffled_scores(asked: Evaluation, settings: Sequence[Settings]) -> list[Scores]:
    """Return the scores under each of the settings with edges shuffled, the mean of several
    shuffles.
    """
    rounds: list[list[Scores]] = []
    with shuffled_stores(asked.real_store) as stores:
        for store in stores:
            other = asked.on(store)
            rounds.append([other.scores(one) for one in settings])
    return [np.mean(scores, axis=0) for scores in zip(*rounds, strict=True)]


def in_degree_scores(asked: Evaluation, plain: Settings) -> tuple[float, Scores]:
    """Return the best share of the prior and its scores: the plain list, ranked anew.

    ``score = (1 − share) · fused + share · log(1 + in-degree) / its largest value``;
    edges that come from an excluded node do not count. The share is chosen by the
    first measure on these same queries, which favours the control.
    """
    targets = _targets(asked.real_store)
    degrees = Counter(target for ends in targets.values() for target in ends)
    most = log1p(max(degrees.values(), default=0)) or 1.0
    rows: dict[float, list[list[float]]] = {share: [] for share in PRIOR_SHARES}
    for question in asked.questions:
        lost = Counter(target for id in question.exclude for target in targets.get(id, ()))
        fused = _plain_list(asked, plain, question.query, frozenset(question.exclude))
        prior = {id: log1p(degrees[id] - lost[id]) / most for id in fused}
        for share, scores in rows.items():
            mixed = {id: (1 - share) * fused[id] + share * prior[id] for id in fused}
            scores.append(score(list(best_first(mixed)), question.relevant, asked.at))
        asked.progress(1)
    best = max(rows, key=lambda share: float(np.mean(rows[share], axis=0)[0]))
    return best, np.array(rows[best])


def _targets(store: Store) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for edge in store.edges.all(live_only=True):
        found[edge.from_id].append(edge.to_id)
    for id, path in store.commits.files():
        found[id].append(file_id(path))
    return found


def _plain_list(
    asked: Evaluation, settings: Settings, text: str, excluded: frozenset[str]
) -> dict[str, float]:
    query = parse_query(text)
    if not query:
        return {}
    vector = embed_query(query, asked.store, settings, asked.embedder(settings), [])
    return find_matches(asked.store, settings, query, vector, asked.scope, excluded).fused


COMPARED = ("graph_depth=0", "graph_depth=1")
"""What is compared unless something else is asked for."""


class Result(NamedTuple):
    """The scores of one configuration, and what there is to say of it beside them."""

    configuration: Configuration
    scores: Scores
    extra: dict[str, Any]


def evaluate(
    asked: Evaluation,
    base: Settings,
    compared: Sequence[str],
    *,
    controls: bool = False,
    timed: int = 0,
) -> dict[str, Any]:
    """Every leg, every configuration and, if wanted, the controls, as one report.

    ``compared``: settings on top of ``base``, in config syntax; ``timed``: how many of
    the queries are timed. The reference, which all others are compared with, is what
    does without the graph and has the best recall at the first rank of ``asked.at``.
    """
    chosen = [*legs(base), *(configured(base, text) for text in compared or COMPARED)]
    results = [
        Result(one, asked.scores(one.settings, listen=one.kind == "configuration"), {})
        for one in chosen
    ]
    reference = max((one for one in results if one.configuration.plain), key=_first_measure)
    for one, times in zip(results, asked.times(chosen, timed), strict=True):
        one.extra["ms"] = milliseconds(times)
    if controls:
        results += _controls(asked, results, reference)
    return {
        "queries": len(asked.questions),
        "reference": reference.configuration.id,
        "measures": asked.measures,
        "rows": [_row(one, reference, asked.measures) for one in results],
    }


def count_searches(
    compared: Sequence[str], base: Settings, queries: int, *, controls: bool, timed: int
) -> int:
    """About how many searches ``evaluate`` makes, for a bar."""
    chosen = [*legs(base), *(configured(base, text) for text in compared or COMPARED)]
    deep = sum(not one.plain for one in chosen)
    count = len(chosen) * (queries + min(timed, queries) + (timed > 0))
    return count + (queries * (1 + 3 * deep) if controls else 0)


def _first_measure(result: Result) -> float:
    return float(np.mean(result.scores[:, 0]))


def _controls(asked: Evaluation, results: Sequence[Result], reference: Result) -> list[Result]:
    deep = [one.configuration for one in results if not one.configuration.plain]
    shuffled = shuffled_scores(asked, [one.settings for one in deep]) if deep else []
    found = [
        Result(Configuration(f"shuffled edges, {one.id}", "control", one.settings), scores, {})
        for one, scores in zip(deep, shuffled, strict=True)
    ]
    share, scores = in_degree_scores(asked, reference.configuration.settings)
    prior = Configuration("in-degree prior", "control", reference.configuration.settings)
    return [*found, Result(prior, scores, {"share": share})]


def _row(result: Result, reference: Result, measures: Sequence[str]) -> dict[str, Any]:
    means = result.scores.mean(axis=0)
    row: dict[str, Any] = {"id": result.configuration.id, "kind": result.configuration.kind}
    row.update((name, round(float(mean), 4)) for name, mean in zip(measures, means, strict=True))
    row["ms"] = None
    row.update(result.extra)
    row["difference"] = None if result is reference else difference(
        result.scores, reference.scores, measures
    )  # fmt: skip
    return row


def difference(
    scores: Scores, reference: Scores, measures: Sequence[str]
) -> dict[str, dict[str, float | None]]:
    """Measure to its mean difference, 95 % interval, and size relative to the reference."""
    each = scores - reference
    means, base = each.mean(axis=0), reference.mean(axis=0)
    low, high = interval(each)
    return {
        name: {
            "mean": round(float(means[i]), 4),
            "low": round(float(low[i]), 4),
            "high": round(float(high[i]), 4),
            "relative": round(float(means[i] / base[i]), 4) if base[i] else None,
        }
        for i, name in enumerate(measures)
    }


ROUNDS = 2
"""How often each coordinate gets its turn."""

LEAST_GAIN = 0.001
"""A change that gains less on the queries it is chosen on is not made."""

SEED = 5


class Tuner:
    """Scores changes of the settings, each set of them once."""

    def __init__(
        self, asked: Evaluation, base: Settings, coordinates: Sequence[Coordinate], measure: str
    ) -> None:
        self._asked = asked
        self._base = base
        self._coordinates = coordinates
        self._column = asked.measures.index(measure)
        self._known: dict[str, Scores] = {}

    @property
    def evaluations(self) -> int:
        """How many sets of settings have been scored."""
        return len(self._known)

    def settings(self, changes: Changes) -> Settings:
        """Return the base with these changes."""
        return self._base.changed(changes.items(), "tune")

    def scores(self, changes: Changes) -> Scores:
        """Every measure of every query under these changes."""
        settings = self.settings(changes)
        key = repr([settings.as_text(name) for name in BY_NAME])
        if key not in self._known:
            self._known[key] = self._asked.scores(settings)
        return self._known[key]

    def descend(self, rows: npt.NDArray[np.intp]) -> dict[str, str]:
        """Return the changes that suit these queries (their numbers) best, one at a time."""
        changes: dict[str, str] = {}
        best = self._mean(changes, rows)
        for _ in range(ROUNDS):
            before = best
            for coordinate in self._coordinates:
                if coordinate.of_the_graph and not self.settings(changes).depth:
                    continue
                tried = [{**changes, coordinate.key: value} for value in coordinate.values]
                means = [self._mean(one, rows) for one in tried]
                top = max(means)
                if top > best + LEAST_GAIN:
                    best, changes = top, tried[means.index(top)]
            if best == before:
                break
        return changes

    def _mean(self, changes: Changes, rows: npt.NDArray[np.intp]) -> float:
        return float(self.scores(changes)[rows, self._column].mean())


def tune(
    asked: Evaluation,
    base: Settings,
    coordinates: Sequence[Coordinate],
    *,
    measure: str,
    folds: int,
    heard: Callable[[str], None] = lambda stage: None,
) -> dict[str, Any]:
    """Return the best changes on all queries, and what such changes gain on queries not seen.

    ``{queries, folds, measure, evaluations, base, changes, seen, unseen, sure}``:
    ``changes`` is a list of ``{key, from, to}``, ``seen`` and ``unseen`` are
    differences to the base (see ``report.difference``), and ``sure`` is whether the
    interval of the unseen one lies above 0.

    Raises:
        LoreError: there are too few queries for so many folds.
    """
    count = len(asked.questions)
    if count < 2 * folds:
        raise LoreError(f"{count} queries are too few for {folds} folds: "
                        f"give at least {2 * folds}, or fewer folds")  # fmt: skip
    tuner = Tuner(asked, base, coordinates, measure)
    unseen = tuner.scores({}).copy()
    parts = _folds(count, folds)
    for number, part in enumerate(parts, start=1):
        heard(f"fold {number} of {folds}")
        changes = tuner.descend(np.setdiff1d(np.arange(count), part))
        unseen[part] = tuner.scores(changes)[part]
    heard("all queries")
    changes = tuner.descend(np.arange(count))
    plain = tuner.scores({})
    gain = difference(unseen, plain, asked.measures)[measure]
    return {
        "queries": count,
        "folds": folds,
        "measure": measure,
        "evaluations": tuner.evaluations,
        "base": round(float(plain[:, asked.measures.index(measure)].mean()), 4),
        "changes": _changes(base, tuner.settings(changes), changes),
        "seen": difference(tuner.scores(changes), plain, asked.measures)[measure],
        "unseen": gain,
        "sure": (gain["low"] or 0) > 0,
    }


def _folds(count: int, folds: int) -> list[npt.NDArray[np.intp]]:
    order = list(range(count))
    random.Random(SEED).shuffle(order)
    return [np.array(sorted(order[number::folds])) for number in range(folds)]


def _changes(base: Settings, tuned: Settings, changes: Changes) -> list[dict[str, str | None]]:
    found = []
    for key, value in changes.items():
        name, bracket, element = key.partition("[")
        old = getattr(base, name.lower())
        before = old.get(element[:-1]) if bracket else base.as_text(name.lower())
        if getattr(tuned, name.lower()) != old:
            found.append({"key": key, "from": None if before is None else str(before), "to": value})
    return found


def fragment(report: Mapping[str, Any]) -> str:
    """Return the changes as lines of a config file, what they gain on unseen queries before
    them."""
    if not report["changes"]:
        return ""
    gain = report["unseen"]
    mean, low, high = (100 * gain[name] for name in ("mean", "low", "high"))
    lines = [
        f"# lore tune: {report['measure']} {mean:+.1f} points [{low:+.1f}, {high:+.1f}]",
        f"# on queries that were not tuned on; {report['queries']} queries in all",
        *(f"{change['key']}={change['to']}" for change in report["changes"]),
    ]
    return "\n".join(lines) + "\n"
