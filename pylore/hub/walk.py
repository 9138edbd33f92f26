"""Read the walk that a hub has made, as the pipeline has it of a store."""

from __future__ import annotations

from math import sqrt

from ..graph.relations import relation_weights
from ..graph.walk import Step, Walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..core.settings import Settings


def walked(store: Any, said: Mapping[str, Any], ids: Mapping[int, str], settings: Settings) -> Walk:
    """Return the walk that a hub has said, as ``graph.accumulate`` and ``best_path`` say it.

    Raises:
        UsageError: a relation that was asked for is not known.
    """
    relation_weights(store, settings)
    adds_up = bool(said["adds_up"])
    seeds = {int(key): score for key, score in (said["seeds"] or {}).items()}
    rows = {row[0]: row for row in said["reached"]}
    steps: dict[int, Step] = {key: Step(ids[key], score) for key, score in seeds.items()}
    walk = Walk()
    walk.hubs = {str(number) for number in range(said["hubs"])}
    walk.edges_seen = said["seen"]
    walk.left_out = said["left_out"] or 0
    for key, row in rows.items():
        step = _step(key, rows, steps, ids, adds_up=adds_up)
        score = sqrt(row[2]) if adds_up else row[2]
        if key in seeds:  # it is where a way begins: here, one that leads to it
            step = _way(row, rows, steps, ids, adds_up=adds_up)
        step.score = score
        walk.reached[ids[key]] = step
        if adds_up:
            walk.support[ids[key]] = score
            if row[1] and key not in seeds:
                walk.roots[ids[key]] = ids[row[1]]
    return walk


def _step(
    key: int,
    rows: Mapping[int, Any],
    steps: dict[int, Step],
    ids: Mapping[int, str],
    *,
    adds_up: bool,
) -> Step:
    """The step to a node, and those before it, each made once."""
    if key not in steps:
        steps[key] = _way(rows[key], rows, steps, ids, adds_up=adds_up)
    return steps[key]


def _way(
    row: Any, rows: Mapping[int, Any], steps: dict[int, Step], ids: Mapping[int, str], *,
    adds_up: bool,
) -> Step:  # fmt: skip
    key, _, square, start, bridge, name, weight, strength, relation, own, worth, out, _ = row
    before = _step(start, rows, steps, ids, adds_up=adds_up)
    if bridge is not None:
        through = Step(ids[bridge], before.score, before, name, weight, strength, True)
        through.hop = before.hop
        before = through
    return Step(ids[key], sqrt(square) if adds_up else square, before, relation, own, worth, out)
