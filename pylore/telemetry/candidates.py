"""Candidates: what in the events of sessions may be worth knowing, each with its evidence."""

from __future__ import annotations

from ..core.ids import record_id
from ..core.text import fold, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

LONGEST_QUOTE = 200
"""Characters of a quote."""

LONGEST_TITLE = 100
"""Characters of a title."""


class Signal:
    """Why something may be worth knowing: a quote of an event, and how much that says."""

    __slots__ = ("name", "weight", "quote", "session", "t", "ref")

    def __init__(
        self, name: str, weight: float, quote: str, session: str = "", t: str = "", ref: str = ""
    ) -> None:
        self.name = name
        self.weight = weight
        self.quote = quote
        self.session = session
        self.t = t
        self.ref = ref

    def to_row(self) -> dict[str, Any]:
        """As plain values."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Signal:
        """The signal that ``to_row`` wrote."""
        return cls(**{name: row[name] for name in cls.__slots__})


class Candidate:
    """What may become a record, and what speaks for it."""

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
        """1 − Π(1 − wᵢ) over its signals, 0..1: a name counts once in a session."""
        left = 1.0
        for weight in self._weights():
            left *= 1.0 - weight
        return 1.0 - left

    def _weights(self) -> Iterable[float]:
        best: dict[tuple[str, str], float] = {}
        for one in self.signals:
            key = one.name, one.session
            best[key] = max(best.get(key, 0.0), one.weight)
        return best.values()

    @property
    def sessions(self) -> list[str]:
        """The sessions that its signals are from, the first one first."""
        inside = sorted(self.signals, key=lambda one: one.t)
        return [*dict.fromkeys(one.session for one in inside if one.session)]

    @property
    def first(self) -> str:
        """The time of its earliest signal."""
        return min((one.t for one in self.signals if one.t), default="")

    @property
    def last(self) -> str:
        """The time of its latest signal."""
        return max((one.t for one in self.signals if one.t), default="")

    def to_row(self) -> dict[str, Any]:
        """As plain values; what follows from the signals is there too."""
        return {
            "id": self.id, "type": self.type, "title": self.title, "body": self.body,
            "files": self.files, "signals": [one.to_row() for one in self.signals],
            "score": round(self.score, 4), "sessions": self.sessions, "commits": self.commits,
            "first": self.first, "last": self.last,
        }  # fmt: skip

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Candidate:
        """The candidate that ``to_row`` wrote."""
        return cls(row["type"], row["title"], row["body"],
                   [Signal.from_row(one) for one in row["signals"]],
                   row["files"], row["commits"], row["id"])  # fmt: skip


def candidate_id(type: str, text: str) -> str:
    """``candidate-<8 hex>`` of a type and a text: case, signs and spaces do not count."""
    return record_id("candidate", f"{type}\n{' '.join(words(fold(text)))}")
