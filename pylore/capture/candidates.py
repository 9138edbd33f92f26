"""Candidates for records, their signals, and their similarity."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..core.ids import record_id
from ..core.text import STOP_WORDS, fold, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

COMMITTED = "committed"
"""The signal of a commit's message."""
LONGEST_QUOTE, _MOST_SIGNALS = 200, 20
_ALIKE = 0.55
"""Minimum share of common words (Jaccard) of two similar candidates."""


class Signal(NamedTuple):
    """A reason to keep a candidate: a quote of an event, and the probability that it adds."""

    name: str
    weight: float
    quote: str
    session: str = ""
    t: str = ""
    ref: str = ""


class Candidate:
    """A proposal for a record, and the signals in favour."""

    __slots__ = ("id", "type", "title", "body", "files", "signals", "commits")

    def __init__(
        self,
        type: str,
        title: str,
        body: str,
        signals: Iterable[Signal],
        files: Iterable[str] = (),
        commits: Iterable[str] = (),
        id: str = "",
    ) -> None:
        self.id = id or candidate_id(type, body)
        self.type = type
        self.title = title
        self.body = body
        self.files = [*dict.fromkeys(files)]
        self.signals = [*signals]
        self.commits = [*dict.fromkeys(commits)]

    @property
    def score(self) -> float:
        """1 − Π(1 − wᵢ) over the signals, 0..1, each name once a session."""
        best: dict[tuple[str, str], float] = {}
        for one in self.signals:
            key = one.name, one.session
            best[key] = max(best.get(key, 0.0), one.weight)
        left = 1.0
        for weight in best.values():
            left *= 1.0 - weight
        return 1.0 - left

    @property
    def sessions(self) -> list[str]:
        """The sessions of the signals by time."""
        inside = sorted(self.signals, key=lambda one: one.t)
        return [*dict.fromkeys(one.session for one in inside if one.session)]

    @property
    def first(self) -> str:
        """The time of the earliest signal."""
        return min((one.t for one in self.signals if one.t), default="")

    def take(self, other: Candidate) -> None:
        """Add the files, commits and strongest signals of a similar candidate.

        A copy of an event in another session adds nothing.
        """
        have = {(one.name, one.t, one.quote) for one in self.signals}
        self.signals += [one for one in other.signals if (one.name, one.t, one.quote) not in have]
        self.signals = sorted(self.signals, key=lambda one: -one.weight)[:_MOST_SIGNALS]
        self.files = [*dict.fromkeys([*self.files, *other.files])]
        self.commits = [*dict.fromkeys([*self.commits, *other.commits])]

    def to_row(self) -> dict[str, Any]:
        """Return fields and derived values as JSON values."""
        return {
            "id": self.id,
            "type": self.type,
            "title": self.title,
            "body": self.body,
            "files": self.files,
            "signals": [one._asdict() for one in self.signals],
            "score": round(self.score, 4),
            "sessions": self.sessions,
            "commits": self.commits,
            "first": self.first,
            "last": max((one.t for one in self.signals), default=""),
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Candidate:
        """Return the candidate that ``to_row`` wrote."""
        return cls(
            row["type"],
            row["title"],
            row["body"],
            [Signal(**one) for one in row["signals"]],
            row["files"],
            row["commits"],
            row["id"],
        )


class Alike:
    """An index of candidates by words, to find similar candidates."""

    def __init__(self, candidates: Iterable[Candidate] = ()) -> None:
        self._said = [(_words(one), one) for one in candidates]

    def add(self, one: Candidate) -> None:
        """Add a candidate."""
        self._said.append((_words(one), one))

    def like(self, one: Candidate) -> Candidate | None:
        """Return the most similar candidate; None below the threshold."""
        said = _words(one)
        alike = ((len(said & other) / (len(said | other) or 1), kept) for other, kept in self._said)
        share, nearest = max(alike, key=lambda pair: pair[0], default=(0.0, None))
        return nearest if share >= _ALIKE else None


def merged(found: Iterable[Candidate]) -> list[Candidate]:
    """Merge similar candidates into the best."""
    told, kept = Alike(), []
    for one in sorted(found, key=lambda one: (-one.score, one.first, one.id)):
        if first := told.like(one):
            first.take(one)
        else:
            told.add(one)
            kept.append(one)
    return kept


def candidate_id(type: str, text: str) -> str:
    """Return ``candidate-<8 hex>``, the same for other case, signs and spaces."""
    return record_id("candidate", f"{type}\n{' '.join(words(fold(text)))}")


def _words(one: Candidate) -> frozenset[str]:
    return frozenset(words(fold(one.body))) - STOP_WORDS
