"""What ``meta`` keeps about an index, and the token by which a run knows its own debt."""

from __future__ import annotations

import os

from ..core.times import now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OWED = "code_owed"
RULES = "code_rules"
TOTALS = "code_totals"
INDEXED = "code_indexed_at"
"""Keys of ``meta``."""


def new_token() -> str:
    """What marks one run's debt, so that another run's is told apart."""
    return f"{now()} {os.urandom(4).hex()}"


def packed_totals(totals: dict[str, Any]) -> str:
    """Counts within counts as lines: read without the json module, which takes milliseconds."""
    lines = []
    for name, value in totals.items():
        lines.append(f"{name}\t{value}" if isinstance(value, int) else name)
        if isinstance(value, dict):
            lines += [f"\t{key}\t{count}" for key, count in value.items()]
    return "\n".join(lines)


def unpacked_totals(text: str) -> dict[str, Any]:
    """The counts that ``packed_totals`` packed."""
    totals: dict[str, Any] = {}
    group: dict[str, int] = {}
    for line in text.split("\n"):
        name, _, value = line.rpartition("\t")
        if name.startswith("\t"):
            group[name[1:]] = int(value)
        elif name:
            totals[name] = int(value)
        else:
            group = totals[value] = {}
    return totals
