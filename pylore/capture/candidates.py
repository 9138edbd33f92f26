"""Proposals that say the same, and what is kept of each."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from ..core.ids import record_id
from ..core.text import fold, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any


SHARED = 0.55
"""Share of the words of the two that both have (Jaccard) from which they say the same."""

SHARED_WITH_CODE = 0.3
"""The same for two that name the same code: two names at least."""

_CODE = re.compile(r"`([^`\s]+)`")

_COMMON = frozenset(
    "a an and are as at be been but by can do does for from has have if in into is it its not of on"
    " only or so than that the their then there they this to was were when which will with".split()
)


class _Said:
    """What a candidate says, to be compared: its words, and the code it names."""

    __slots__ = ("words", "code", "candidate")

    def __init__(self, candidate: Candidate) -> None:
        self.words = frozenset(words(fold(candidate.body))) - _COMMON
        self.code = frozenset(name.rstrip("()") for name in _CODE.findall(candidate.body))
        self.candidate = candidate


def merged(found: Iterable[Candidate]) -> list[Candidate]:
    """Candidates, none of which says what another does. The best one's text is what stays."""
    told = Told()
    for one in sorted(found, key=lambda one: (-one.score, one.first, one.id)):
        first = told.put(one)
        if first is not one:
            take(first, one)
    return told.candidates


def take(kept: Candidate, other: Candidate) -> None:
    """Adds what speaks for another. The same event, in a copy of its session, adds nothing."""
    have = {(one.name, one.t, one.quote) for one in kept.signals}
    kept.signals += [one for one in other.signals if (one.name, one.t, one.quote) not in have]
    kept.files = [*dict.fromkeys([*kept.files, *other.files])]
    kept.commits = [*dict.fromkeys([*kept.commits, *other.commits])]


class Told:
    """Candidates by what they say."""

    def __init__(self, candidates: Iterable[Candidate] = ()) -> None:
        self._said: list[_Said] = []
        self._having: dict[str, list[int]] = {}
        for one in candidates:
            self._add(_Said(one))

    @property
    def candidates(self) -> list[Candidate]:
        """Return all of them."""
        return [said.candidate for said in self._said]

    def put(self, one: Candidate) -> Candidate:
        """Return the one that says the same; where there is none this one, which is kept."""
        said = _Said(one)
        near = self._nearest(said)
        if near is None:
            self._add(said)
        return near or one

    def like(self, one: Candidate) -> Candidate | None:
        """Return the one that says the same in nearly the same words."""
        return self._nearest(_Said(one))

    def _add(self, said: _Said) -> None:
        for word in said.words:
            self._having.setdefault(word, []).append(len(self._said))
        self._said.append(said)

    def _nearest(self, said: _Said) -> Candidate | None:
        shared = Counter(number for word in said.words for number in self._having.get(word, ()))
        best, nearest = 0.0, None
        for number, count in shared.items():
            other = self._said[number]
            alike = count / (len(said.words) + len(other.words) - count)
            needed = SHARED_WITH_CODE if len(said.code & other.code) > 1 else SHARED
            if alike >= needed and alike > best:
                best, nearest = alike, other.candidate
        return nearest


COMMITTED = "committed"
"""The signal of a commit's message."""

LONGEST_QUOTE = 200
"""Characters of a quote."""

LONGEST_TITLE = 100
"""Characters of a title."""


class Signal(NamedTuple):
    """Why something may be worth knowing: a quote of an event, and how much that says."""

    name: str
    weight: float
    quote: str
    session: str = ""
    t: str = ""
    ref: str = ""

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Signal:
        """Return the signal of a row: its fields by name, of which there may be more."""
        return cls(**{name: row[name] for name in cls._fields})


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
    def is_of_commits(self) -> bool:
        """True where messages of commits alone say it."""
        told = {(one.session, one.t, one.ref) for one in self.signals if one.name == COMMITTED}
        return all((one.session, one.t, one.ref) in told for one in self.signals)

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
            "files": self.files, "signals": [one._asdict() for one in self.signals],
            "score": round(self.score, 4), "sessions": self.sessions, "commits": self.commits,
            "first": self.first, "last": self.last,
        }  # fmt: skip

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Candidate:
        """Return the candidate that ``to_row`` wrote."""
        return cls(row["type"], row["title"], row["body"],
                   [Signal.from_row(one) for one in row["signals"]],
                   row["files"], row["commits"], row["id"])  # fmt: skip


def candidate_id(type: str, text: str) -> str:
    """``candidate-<8 hex>`` of a type and a text: case, signs and spaces do not count."""
    return record_id("candidate", f"{type}\n{' '.join(words(fold(text)))}")
