"""``lore eval``: what is run, what it is compared with, and the rows that come of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .bootstrap import interval
from .configurations import Configuration, configured, legs
from .controls import in_degree_scores, shuffled_scores
from .run import milliseconds

if TYPE_CHECKING:
    from ..core.settings import Settings
    from .run import Evaluation, Scores

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
