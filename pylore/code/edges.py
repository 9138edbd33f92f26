"""The edges that resolving makes, each once, and the counts of what became of every name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

MOST_LINES = 5
"""Lines of calls that ``metadata`` names."""


class CodeEdge(NamedTuple):
    from_id: str
    to_id: str
    relation: str
    """imports, calls, inherits or instantiates."""
    weight: float
    """Confidence, 0..1."""
    metadata: dict[str, object]
    """``reason``, ``lines`` (the first few), ``count`` where there are more."""


@dataclass
class Resolution:
    """What all files' names come to."""

    edges: list[CodeEdge]
    counts: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)
    """Language → imports, calls, inherits → outcome or reason → how many."""


class Draft:
    """Edges and counts in the making."""

    def __init__(self) -> None:
        self._edges: dict[tuple[str, str, str], tuple[float, str, list[int]]] = {}
        self.counts: dict[str, dict[str, dict[str, int]]] = {}

    def count(self, language: str, what: str, reason: str, number: int = 1) -> None:
        reasons = self.counts.setdefault(language, {}).setdefault(what, {})
        reasons[reason] = reasons.get(reason, 0) + number

    def add(
        self, from_id: str, to_id: str, relation: str, sure: float, reason: str, line: int
    ) -> None:
        """An edge; of two with the same ends the surer one stays, with the lines of both."""
        if from_id == to_id:
            return
        key = (from_id, to_id, relation)
        known = self._edges.get(key)
        if known is None:
            self._edges[key] = (sure, reason, [line])
            return
        known[2].append(line)
        if sure > known[0]:
            self._edges[key] = (sure, reason, known[2])

    def result(self) -> Resolution:
        """Edges by from, to and relation."""
        edges = []
        for key in sorted(self._edges):
            sure, reason, lines = self._edges[key]
            numbers = sorted({line for line in lines if line})
            metadata: dict[str, object] = {"reason": reason, "lines": numbers[:MOST_LINES]}
            if len(lines) > MOST_LINES:
                metadata["count"] = len(lines)
            edges.append(CodeEdge(*key, round(sure, 3), metadata))
        return Resolution(edges, self.counts)
