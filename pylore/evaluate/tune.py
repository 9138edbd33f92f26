"""Reports that compare settings, with controls, and the search for settings that suit queries."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import log1p
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import LoreError, UsageError, nearest
from ..core.scoring import best_first
from ..core.settings import BY_NAME
from ..core.vocabulary import CHANGES, file_id
from ..store import copy_store
from ..system.atomic_write import temporary_folder
from .run import MEASURES, configured, difference, legs, points, score

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..core.settings import Settings
    from ..store import Store
    from .run import Evaluation, Scores

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
    for name in names:
        if name.lower() not in VALUES:
            raise UsageError(
                f"'{name}' is not tuned{nearest(name, [*VALUES])}: some of {', '.join(VALUES)}"
            )
    space = {name: VALUES[name] for name in map(str.lower, names or VALUES)}
    for relation in asked.store.statistics.count_by_relation() if "edge_weights" in space else ():
        space[f"EDGE_WEIGHTS[{relation}]"] = VALUES["edge_weights"]
    space.pop("edge_weights", None)
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
