"""What each signal of a candidate is worth: weights from what readers would keep.

``.venv/bin/python tests/bench/weights.py FOLDER --sheet SHEET --key KEY`` writes every candidate of
half 0 of the sessions for blind readers (see ``candidates.py``). ``--fit KEY VERDICTS…`` prints for
each signal how many candidates had it, what share of them readers would keep, the weight that
follows and the weight that is used; then precision on sessions that the weights were not fitted to.

The score of candidates is 1 − Π(1 − w), so the weights are those under which the verdicts are most
likely when each signal alone suffices with the probability w (a noisy-or, by expectation and
maximization). Each is drawn to ``USUAL``, which counts as ``DOUBT`` verdicts more, so a signal that
readers have rarely met gets no extreme weight.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterable
from pathlib import Path

from candidates import AT, Recorded, piece_of, verdicts_of, write_sheet

from pylore.capture.extraction import find_candidates
from pylore.capture.statements import WEIGHTS

USUAL, DOUBT = 0.3, 4
STEPS = 200
DRAWS = 25
"""Times that the sessions are halved at random."""

Row = tuple[str, list[str], float]
"""The first session of a candidate, the names of its signals, the share of readers who keep it."""


def score(names: Iterable[str], weights: dict[str, float]) -> float:
    """1 − Π(1 − w)."""
    left = 1.0
    for name in names:
        left *= 1.0 - weights[name]
    return 1.0 - left


def fitted(rows: list[Row]) -> dict[str, float]:
    """The weight of each signal."""
    weights = dict.fromkeys(WEIGHTS, USUAL)
    for _ in range(STEPS):
        times = dict.fromkeys(WEIGHTS, float(DOUBT))
        sufficed = dict.fromkeys(WEIGHTS, USUAL * DOUBT)
        for _, names, kept in rows:
            share = kept / score(names, weights)
            for name in names:
                times[name] += 1
                sufficed[name] += share * weights[name]
        weights = {name: sufficed[name] / times[name] for name in WEIGHTS}
    return weights


def precision(rows: list[Row], weights: dict[str, float]) -> float:
    """The share that readers keep of the ``AT`` best."""
    best = sorted(rows, key=lambda row: -score(row[1], weights))[:AT]
    return sum(kept for _, _, kept in best) / len(best)


def held_out(rows: list[Row]) -> dict[str, float]:
    """Precision on the half of the sessions that was not fitted to, on average."""
    sessions, chance = sorted({session for session, _, _ in rows}), random.Random(0)
    sums = {"fitted": 0.0, "used": 0.0, "any": 0.0}
    for _ in range(DRAWS):
        chance.shuffle(sessions)
        chance.shuffle(rows)
        inside = {*sessions[: len(sessions) // 2]}
        for side in (True, False):
            learned = [row for row in rows if (row[0] in inside) == side]
            tested = [row for row in rows if (row[0] in inside) != side]
            sums["fitted"] += precision(tested, fitted(learned))
            sums["used"] += precision(tested, WEIGHTS)
            sums["any"] += sum(kept for _, _, kept in tested) / len(tested)
    return {name: round(total / DRAWS / 2, 3) for name, total in sums.items()}


def judged(recorded: Recorded, key: Path, verdicts: list[Path]) -> list[Row]:
    """The candidates that readers have judged."""
    text_of: dict[str, str] = json.loads(key.read_text())
    readers = [verdicts_of(path, set(text_of)) for path in verdicts]
    kept = {text: sum(reader[number] for reader in readers) / len(readers)
            for number, text in text_of.items()}  # fmt: skip
    return [
        (one.sessions[0], sorted({signal.name for signal in one.signals}), kept[one.body])
        for one in find_candidates(recorded.half(0))
        if one.body in kept
    ]


def main() -> None:
    """A sheet for readers, or weights from their verdicts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sheet", type=Path)
    parser.add_argument("--key", type=Path)
    parser.add_argument("--fit", type=Path, nargs="+", metavar="FILE", help="KEY VERDICTS…")
    given = parser.parse_args()
    if not given.fit and not (given.sheet and given.key):
        parser.error("--sheet with --key, or --fit")
    recorded = Recorded(given.folder)
    if not given.fit:
        found = find_candidates(recorded.half(0))
        write_sheet({one.body: [piece_of(one)] for one in found}, given.sheet, given.key, 1)
        return
    rows = judged(recorded, given.fit[0], given.fit[1:])
    weights = fitted(rows)
    print(f"{len(rows)} judged")
    for name, weight in WEIGHTS.items():
        having = [kept for _, names, kept in rows if name in names]
        share = f"{sum(having) / len(having):.2f}" if having else "   -"
        print(f"{name:15} {len(having):3}  kept {share}  {weights[name]:.2f}  used {weight:.2f}")
    print(json.dumps({f"precision_at_{AT}": held_out(rows)}))


if __name__ == "__main__":
    main()
