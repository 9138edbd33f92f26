"""What ``meta`` keeps about an index, and the token by which a run knows its own debt."""

from __future__ import annotations

import os

from ..core.times import now

OWED = "code_owed"
RULES = "code_rules"
TOTALS = "code_totals"
INDEXED = "code_indexed_at"
"""Keys of ``meta``."""


def new_token() -> str:
    """What marks one run's debt, so that another run's is told apart."""
    return f"{now()} {os.urandom(4).hex()}"
