"""The edges that resolving makes, each once, and the counts of what became of every name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .import_types import stronger
from .kept import FileAnswers, Reads

Ends = tuple[str, str, str]
"""From, to, and the relation: imports, calls, inherits or instantiates."""

Told = tuple[float, str]
"""The confidence of an edge, 0..1, and the reason for it, an import's with its kind."""


Counts = dict[str, dict[str, dict[str, int]]]
"""Language → imports, calls, inherits → outcome or reason → how many."""


class Resolution(NamedTuple):
    """What all files' names come to."""

    edges: dict[Ends, Told]
    counts: Counts
    answers: dict[str, FileAnswers]
    """What is kept of each file, so that next time it is resolved only if something changes."""
    posts: dict[str, set[int]]
    """Path → the marks by which a file is found."""
    reads: Reads
    manifests: dict[str, str]
    """Path → hash of what importers have read; "" for what was absent."""
    adopting: set[str]
    """Families with classes that have members from other files."""


class Draft:
    """Edges and counts in the making."""

    def __init__(self) -> None:
        self.edges: dict[Ends, Told] = {}
        self.counts: dict[str, dict[str, dict[str, int]]] = {}
        """Path → imports, calls, inherits → outcome or reason → how many."""

    def count(self, path: str, what: str, reason: str, number: int = 1) -> None:
        reasons = self.counts.setdefault(path, {}).setdefault(what, {})
        reasons[reason] = reasons.get(reason, 0) + number

    def add(self, from_id: str, to_id: str, relation: str, sure: float, reason: str) -> None:
        """An edge; of two with the same ends the surer one stays, of imports what counts more."""
        if from_id == to_id:
            return
        ends = (from_id, to_id, relation)
        known = self.edges.get(ends)
        if known is not None and relation == "imports":
            self.edges[ends] = stronger(known, (sure, reason))
        elif known is None or sure > known[0]:
            self.edges[ends] = (sure, reason)

    def join(self, other: Draft) -> None:
        for ends, told in other.edges.items():
            self.add(*ends, *told)
        for path, kinds in other.counts.items():
            for what, reasons in kinds.items():
                for reason, number in reasons.items():
                    self.count(path, what, reason, number)

    def by_language(self, languages: Mapping[str, str]) -> Counts:
        """The counts of all files, of which ``languages`` has the languages."""
        found: Counts = {}
        for path, kinds in self.counts.items():
            held = found.setdefault(languages[path], {})
            for what, reasons in kinds.items():
                sums = held.setdefault(what, {})
                for reason, number in reasons.items():
                    sums[reason] = sums.get(reason, 0) + number
        return found
