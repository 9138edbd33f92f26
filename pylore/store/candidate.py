"""A candidate as a store keeps it: what may be worth knowing, and what somebody decided."""

from __future__ import annotations

from ..core.model import Record

OPEN, SKIPPED, REFUSED, PROMOTED, KNOWN = "open", "skipped", "refused", "promoted", "known"
"""Its statuses; known: a record said it already."""

BY_RULE_AT = "by_rule_at"
"""The field of its data that has when a rule, and no person, has let it in; it outlives an undo."""


class KeptCandidate(Record):
    """One row of ``candidates``. ``data`` is JSON: files, sessions, commits, signals.

    ``promoted_as`` is the record that it became, or that says it already; ``command`` the
    number of the command that made it that, which an undo takes back.
    """

    __slots__ = (
        "id", "type", "title", "body", "score", "first_at", "last_at", "status", "promoted_as",
        "found_at", "decided_at", "command", "data",
    )  # fmt: skip

    def __init__(
        self,
        id: str,
        type: str,
        title: str,
        body: str,
        score: float = 0.0,
        first_at: str = "",
        last_at: str = "",
        status: str = OPEN,
        promoted_as: str | None = None,
        found_at: str = "",
        decided_at: str | None = None,
        command: int | None = None,
        data: str = "{}",
    ) -> None:
        self.id = id
        self.type = type
        self.title = title
        self.body = body
        self.score = score
        self.first_at = first_at
        self.last_at = last_at
        self.status = status
        self.promoted_as = promoted_as
        self.found_at = found_at
        self.decided_at = decided_at
        self.command = command
        self.data = data
