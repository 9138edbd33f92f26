"""Random histories of three stores that tell each other what they know."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor

from histories import check

_CHUNK = 500


def merge(seed: int, histories: int) -> dict[str, float]:
    """So many histories; ``broken`` counts those whose stores did not end up the same, or whole.

    ``first`` is the seed of the first of them: ``check`` of ``histories`` does it again.
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
