"""Random histories of three stores that merge."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor

from histories import check

_CHUNK = 25


def merge(seed: int, histories: int) -> dict[str, float]:
    """Check random histories; ``broken`` counts histories with different or broken stores.

    ``first`` is the seed of the first broken history for ``histories.check``.
    """
    seeds = range(seed, seed + histories)
    parts = [seeds[start : start + _CHUNK] for start in range(0, histories, _CHUNK)]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        broken = [seed for found in pool.map(_broken, parts) for seed in found]
    done: dict[str, float] = {"histories": histories, "broken": len(broken)}
    return {**done, "first": broken[0]} if broken else done


def _broken(seeds: range) -> list[int]:
    broken = []
    for seed in seeds:
        try:
            check(seed)
        except AssertionError:
            broken.append(seed)
    return broken
