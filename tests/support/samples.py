"""How much of what is tried many times is tried: all of it, or in ``make test`` a share.

``TEST_SAMPLE`` is a number that chooses the share; chance gives another one to each ``make test``.
Without it, and so in a pytest of one's own and in continuous integration, all is tried.
"""

from __future__ import annotations

import os
from zlib import crc32

SAMPLE = os.environ.get("TEST_SAMPLE", "")
SHARE = 4
"""Of examples that hypothesis makes, one in so many is tried."""
LEAST = 10


def examples(count: int) -> int:
    """How many examples a property is tried with, where ``count`` are the whole."""
    return max(LEAST, count // SHARE) if SAMPLE else count


def is_chosen(case: str, count: int) -> bool:
    """Whether a case is in the sample, which has one in ``count``."""
    return not SAMPLE or crc32(f"{SAMPLE} {case}".encode()) % count == 0
