"""The edges that resolving makes, each once, and the counts of what became of every name."""

from __future__ import annotations

from typing import NamedTuple

Ends = tuple[str, str, str]
"""From, to, and the relation: imports, calls, inherits or instantiates."""

Told = tuple[float, str]
"""The confidence of an edge, 0..1, and the reason for it."""


class Resolution(NamedTuple):
    """What all files' names come to."""

    edges: dict[Ends, Told]
    counts: dict[str, dict[str, dict[str, int]]]
    """Language → imports, calls, inherits → outcome or reason → how many."""


class Draft:
    """Edges and counts in the making."""

    def __init__(self) -> None:
        self.edges: dict[Ends, Told] = {}
        self.counts: dict[str, dict[str, dict[str, int]]] = {}

    def count(self, language: str, what: str, reason: str, number: int = 1) -> None:
        reasons = self.counts.setdefault(language, {}).setdefault(what, {})
        reasons[reason] = reasons.get(reason, 0) + number

    def add(self, from_id: str, to_id: str, relation: str, sure: float, reason: str) -> None:
        """An edge; of two with the same ends the surer one stays."""
        if from_id == to_id:
            return
        ends = (from_id, to_id, relation)
        known = self.edges.get(ends)
        if known is None or sure > known[0]:
            self.edges[ends] = (sure, reason)

    def join(self, other: Draft) -> None:
        for ends, told in other.edges.items():
            self.add(*ends, *told)
        for language, kinds in other.counts.items():
            for what, reasons in kinds.items():
                for reason, number in reasons.items():
                    self.count(language, what, reason, number)

    def result(self) -> Resolution:
        """Edges by from, to and relation."""
        return Resolution(dict(sorted(self.edges.items())), self.counts)
