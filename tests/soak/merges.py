"""Random histories of three stores that tell each other what they know."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from random import Random

import laws
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


def lawful(seed: int, count: int) -> dict[str, float]:
    """So many short histories, of four steps each; ``broken`` counts those that break a law of
    merging. ``tests/support/laws.py N`` tries all of N steps."""
    some, broken = Random(seed), 0
    for world in laws.histories(4, seconds=(0, 0, 1), skews=(0, 2, -2), some=some, count=count):
        try:
            laws.check(world)
        except AssertionError:
            broken += 1
    return {"histories": count, "broken": broken}


def _broken(seeds: range) -> list[int]:
    broken = []
    for seed in seeds:
        try:
            check(seed)
        except AssertionError:
            broken.append(seed)
    return broken
