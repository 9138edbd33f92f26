"""``lore tune``: settings that suit one's own queries, judged on queries they did not see.

Coordinate descent: one setting at a time takes the value that is best with all
others as they are. What the best settings gain on the very queries they were chosen
on says little, so the queries are split into folds, and each fold is scored under
settings chosen on all the others.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import LoreError
from ..core.settings import BY_NAME
from .report import difference
from .space import Coordinate

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..core.settings import Settings
    from .run import Evaluation, Scores

    Changes = Mapping[str, str]
    """Config key to the value that is set on top of the base."""

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
        """The base with these changes."""
        return self._base.changed(changes.items(), "tune")

    def scores(self, changes: Changes) -> Scores:
        """Every measure of every query under these changes."""
        settings = self.settings(changes)
        key = repr([settings.as_text(name) for name in BY_NAME])
        if key not in self._known:
            self._known[key] = self._asked.scores(settings)
        return self._known[key]

    def descend(self, rows: npt.NDArray[np.intp]) -> dict[str, str]:
        """The changes that suit these queries (their numbers) best, one at a time."""
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
    """The best changes on all queries, and what such changes gain on queries not seen.

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
    """The changes as lines of a config file, what they gain on unseen queries before them."""
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
