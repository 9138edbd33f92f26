"""Run all parts of the soak; print a line of JSON for each; exit 1 for a loss."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable

import postgres

from .crowds import crowd
from .hubs import chaos
from .kills import kill
from .losses import cut_power, fill
from .merges import merge

LEAST_KILLS = 1000
HISTORIES = 250
"""Histories a minute."""
DESKS = 32

LOSSES = ("lost", "in part", "broken", "refused", "differ", "wrong at the hub")


def main(minutes: float, seed: int) -> int:
    failed = False
    parts: dict[str, Callable[[str], dict[str, float]]] = {
        "kills": lambda folder: {**kill(folder, seed, _until(minutes * 36, LEAST_KILLS))},
        "power cuts": lambda folder: {**cut_power(seed, _until(minutes * 12, 0))},
        "full disk": lambda folder: {**fill(seed)},
        "merges": lambda folder: merge(seed, round(HISTORIES * minutes)),
        "crowd": lambda folder: crowd(folder, 32, round(20 * minutes), round(2000 * minutes)),
    }
    if postgres.missing():
        print(postgres.missing(), file=sys.stderr)
    else:
        parts["hub, kills"] = lambda root: chaos(root, seed, DESKS, _until(minutes * 36, 0))
    for name, part in parts.items():
        with tempfile.TemporaryDirectory(prefix="lore-soak-") as root:
            found = part(os.path.join(root, "store"))
        print(json.dumps({"part": name, "seed": seed, **found}), flush=True)
        failed |= any(found.get(what) for what in LOSSES)
    return int(failed)


def _until(seconds: float, least: int) -> Callable[[int], bool]:
    end = time.monotonic() + seconds
    return lambda count: time.monotonic() < end or count < least


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), int(sys.argv[2]) if sys.argv[2:] else int(time.time())))
