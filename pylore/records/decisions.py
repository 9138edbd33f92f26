"""Decide on a candidate, and undo that."""

from __future__ import annotations

from ..core.json_plain import dumps, loads
from ..core.times import now
from ..store.candidate import BY_RULE_AT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..store.candidate import KeptCandidate

BEFORE = "before"
"""The field of a candidate's data that has what it was before the last decision."""

_DECISION = ("status", "promoted_as", "decided_at")


def decided(
    row: KeptCandidate, status: str, *, promoted_as: str | None = None,
    command: int | None = None, by_rule: bool = False,
) -> KeptCandidate:  # fmt: skip
    """Return a candidate with another status; ``command`` is the one that an undo takes back."""
    data = loads(row.data)
    data[BEFORE] = {name: getattr(row, name) for name in _DECISION}
    row.status, row.promoted_as, row.decided_at = status, promoted_as, now()
    if by_rule:
        data[BY_RULE_AT] = row.decided_at
    row.command, row.data = command, dumps(data)
    return row


def was_by_rule(row: KeptCandidate) -> bool:
    """Return whether a rule has let it in at any time, whatever became of that."""
    return bool(loads(row.data).get(BY_RULE_AT))


def taken_back(row: KeptCandidate, command: int | None) -> KeptCandidate:
    """Return a candidate as it was before; taken back once more, it is as it is now."""
    data = loads(row.data)
    before = data.get(BEFORE) or {"status": "open", "promoted_as": None, "decided_at": None}
    data[BEFORE] = {name: getattr(row, name) for name in _DECISION}
    for name in _DECISION:
        setattr(row, name, before[name])
    row.command, row.data = command, dumps(data)
    return row
