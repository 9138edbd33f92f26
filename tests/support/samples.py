"""Sample repetitive test cases; ``TEST_ALL=1`` runs all cases."""

from __future__ import annotations

import os
from collections.abc import Sequence
from random import Random
from typing import TypeVar
from zlib import crc32

T = TypeVar("T")

TRIES_ALL = bool(os.environ.get("TEST_ALL"))
SHARE = 16
"""Of the examples that hypothesis makes, 1 in 16 is tried, but at least ``LEAST``."""
LEAST = 5


def examples(count: int) -> int:
    """Return the number of examples for a property that ``count`` examples cover in full."""
    return count if TRIES_ALL else max(LEAST, count // SHARE)


def is_chosen(case: str, count: int) -> bool:
    """Return True if a case is in the sample of 1 in ``count`` cases."""
    return TRIES_ALL or crc32(case.encode()) % count == 0


def some(cases: Sequence[T], count: int) -> list[T]:
    """Return a sample of 1 in ``count`` cases, at least one, in order."""
    if TRIES_ALL:
        return [*cases]
    chosen = Random(0).sample(range(len(cases)), -(-len(cases) // count))
    return [cases[number] for number in sorted(chosen)]
