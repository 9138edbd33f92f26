"""How much of what is tried many times is tried: all of it, or in ``make test`` a share.

``TEST_SAMPLE`` is a number that chooses the share; chance gives another one to each ``make test``.
Without it, and so in a pytest of one's own and in continuous integration, all is tried.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from random import Random
from typing import TypeVar
from zlib import crc32

T = TypeVar("T")

SAMPLE = os.environ.get("TEST_SAMPLE", "")
SHARE = 16
"""Of examples that hypothesis makes, one in so many is tried."""
LEAST = 5


def examples(count: int) -> int:
    """How many examples a property is tried with, where ``count`` are the whole."""
    return max(LEAST, count // SHARE) if SAMPLE else count


def is_chosen(case: str, count: int) -> bool:
    """Whether a case is in the sample, which has one in ``count``."""
    return not SAMPLE or crc32(f"{SAMPLE} {case}".encode()) % count == 0


def some(cases: Sequence[T], count: int) -> list[T]:
    """One in ``count`` of what one test tries, at least one, in the order it is in."""
    if not SAMPLE:
        return [*cases]
    chosen = Random(SAMPLE).sample(range(len(cases)), -(-len(cases) // count))
    return [cases[number] for number in sorted(chosen)]
