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
from .run import Configuration, configured, difference, legs, milliseconds, score

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..core.settings import Settings
    from ..store import Store
    from .queries import Question
    from .run import Evaluation, Scores

SHUFFLES = 3
"""Shuffled graphs whose scores are averaged."""
SWAPS_PER_EDGE = 10
"""Attempted swaps, as a multiple of the edges; Milo et al. (2003) found 10 enough."""
PRIOR_SHARES = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7)
"""Shares of the in-degree prior; the report has the best."""


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
    """Yield a copy of the store ``count`` times, each time with its edges shuffled."""
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
                copy.commits.replace_files((id, path) for id, path, _ in dealt)
            yield copy


def in_degree_scores(asked: Evaluation, plain: Settings) -> tuple[float, Scores]:
    """Return the best share of an in-degree prior, and the scores of the list ranked with it.

    ``score = (1 − share) · fused + share · log(1 + in-degree) / its largest value``, without
    edges from excluded nodes. The share is chosen by the first measure on the same queries,
    which favours the control.
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
"""The default of ``--compare``."""


def evaluate(
    asked: Evaluation, base: Settings, compared: Sequence[str], *,
    controls: bool = False, timed: int = 0,
) -> dict[str, Any]:  # fmt: skip
    """Return the report on every leg, every configuration and, if wanted, the controls.

    ``compared``: settings on top of ``base``, in config syntax; ``timed``: number of timed
    queries. The reference of all differences is the row without the graph that has the best
    recall at the first rank of ``asked.at``.
    """
    chosen = [*legs(base), *(configured(base, text) for text in compared or COMPARED)]
    times = asked.times(chosen, timed)
    rows: list[tuple[Configuration, Scores, dict[str, Any]]] = [
        (one, asked.scores(one.settings, listen=one.kind == "configuration"),
         {"ms": milliseconds(took)})
        for one, took in zip(chosen, times, strict=True)
    ]  # fmt: skip
    plain = [row for row in rows if not row[0].settings.depth]
    reference = max(plain, key=lambda row: float(row[1][:, 0].mean()))
    if controls:
        deep = [one for one in chosen if one.settings.depth]
        stores = shuffled_stores(asked.store) if deep else ()
        rounds = [[asked.scores(one.settings, store=store) for one in deep] for store in stores]
        for one, scores in zip(deep, zip(*rounds, strict=True), strict=True):
            control = one._replace(id=f"shuffled edges, {one.id}", kind="control")
            rows.append((control, np.mean(scores, axis=0), {}))
        share, prior = in_degree_scores(asked, reference[0].settings)
        control = Configuration("in-degree prior", "control", reference[0].settings)
        rows.append((control, prior, {"share": share}))
    return {
        "queries": len(asked.questions), "reference": reference[0].id, "measures": asked.measures,
        "rows": [
            {
                "id": one.id, "kind": one.kind,
                **{name: round(float(mean), 4)
                   for name, mean in zip(asked.measures, scores.mean(axis=0), strict=True)},
                "ms": None, **more,
                "difference": None if one is reference[0]
                else difference(scores, reference[1], asked.measures),
            }
            for one, scores, more in rows
        ],
    }  # fmt: skip


_OF_THE_GRAPH = ("edge_weights", "expansion", "graph_limit", "graph_seeds", "hop_decay")
"""Settings without effect at depth 0."""

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

ROUNDS = 2
"""Turns of each setting."""

LEAST_GAIN = 0.001
"""The smallest gain, on the queries tuned on, that changes a setting."""


def coordinates(names: Sequence[str], relations: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return config keys with the values to try, of ``names`` or of all that can be tuned.

    Raises:
        UsageError: a setting cannot be tuned.
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


def tune(
    asked: Evaluation, base: Settings, space: Mapping[str, Sequence[str]], *,
    measure: str, folds: int, heard: Callable[[str], None] = lambda stage: None,
) -> dict[str, Any]:  # fmt: skip
    """Return the best changes on all queries, and their cross-validated gain.

    ``{queries, folds, measure, evaluations, base, changes, seen, unseen, sure}``: ``changes`` is
    a list of ``{key, from, to}``, ``seen`` and ``unseen`` are differences to the base on the
    queries tuned on and on others, ``sure`` is True if the interval of ``unseen`` is above 0.

    Raises:
        LoreError: fewer than two queries a fold.
    """
    count = len(asked.questions)
    if count < 2 * folds:
        raise LoreError(f"{count} queries are too few for {folds} folds: "
                        f"give at least {2 * folds}, or fewer folds")  # fmt: skip
    column = asked.measures.index(measure)
    known: dict[str, Scores] = {}

    def scores(changes: Mapping[str, str]) -> Scores:
        settings = base.changed(changes.items(), "tune")
        names = [name for name in BY_NAME if settings.depth or name not in _OF_THE_GRAPH]
        key = repr([settings.as_text(name) for name in names])
        if key not in known:
            known[key] = asked.scores(settings)
        return known[key]

    def descend(rows: npt.NDArray[np.intp]) -> dict[str, str]:
        """Return the best changes for these queries, by coordinate descent."""
        changes: dict[str, str] = {}
        best = scores(changes)[rows, column].mean()
        for key, values in [*space.items()] * ROUNDS:
            tried = [{**changes, key: value} for value in values]
            means = [scores(one)[rows, column].mean() for one in tried]
            if max(means) > best + LEAST_GAIN:
                best = max(means)
                changes = tried[means.index(best)]
        return changes

    every = np.arange(count)
    plain = scores({})
    unseen = plain.copy()
    order = np.random.default_rng(5).permutation(count)
    for number in range(folds):
        heard(f"fold {number + 1} of {folds}")
        part = np.sort(order[number::folds])
        unseen[part] = scores(descend(np.setdiff1d(every, part)))[part]
    heard("all queries")
    changes = descend(every)
    gain = difference(unseen, plain, asked.measures)[measure]
    return {
        "queries": count, "folds": folds, "measure": measure, "evaluations": len(known),
        "base": round(float(plain[:, column].mean()), 4),
        "changes": _changes(base, changes),
        "seen": difference(scores(changes), plain, asked.measures)[measure],
        "unseen": gain, "sure": (gain["low"] or 0) > 0,
    }  # fmt: skip


def _changes(base: Settings, changes: Mapping[str, str]) -> list[dict[str, str | None]]:
    """Return key, old and new value of each change that has an effect."""
    tuned = base.changed(changes.items(), "tune")
    found = []
    for key, value in changes.items():
        name, bracket, element = key.partition("[")
        name = name.lower()
        old = getattr(base, name)
        before = old.get(element[:-1]) if bracket else base.as_text(name)
        if getattr(tuned, name) != old:
            found.append({"key": key, "from": None if before is None else str(before), "to": value})
    return found


def fragment(report: Mapping[str, Any]) -> str:
    """Return the changes as lines of a config file, with their gain on unseen queries above."""
    gain = report["unseen"]
    mean, low, high = (100 * gain[name] for name in ("mean", "low", "high"))
    lines = [
        f"# lore eval --tune: {report['measure']} {mean:+.1f} points [{low:+.1f}, {high:+.1f}]",
        f"# on queries that were not tuned on; {report['queries']} queries in all",
        *(f"{change['key']}={change['to']}" for change in report["changes"]),
    ]
    return "\n".join(lines) + "\n" if report["changes"] else ""
