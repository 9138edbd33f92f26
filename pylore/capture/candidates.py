"""Candidates for records, their signals, and their similarity."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from ..core.ids import record_id
from ..core.json import dumps, loads
from ..core.text import STOP_WORDS, fold, words
from ..store.curation import KeptCandidate

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

Item = TypeVar("Item")

COMMITTED = "committed"
"""The signal of a commit's message."""
LONGEST_QUOTE, _MOST_SIGNALS = 200, 20
ALIKE = 0.55
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
        self.type, self.title, self.body = type, title, body
        self.signals = [*signals]
        self.files, self.commits = [*dict.fromkeys(files)], [*dict.fromkeys(commits)]

    @property
    def score(self) -> float:
        """1 − Π(1 − wᵢ) over the signals, 0..1, each name once a session."""
        best: dict[tuple[str, str], float] = {}
        for one in self.signals:
            key = one.name, one.session
            best[key] = max(best.get(key, 0.0), one.weight)
        return 1.0 - prod(1.0 - weight for weight in best.values())

    @property
    def sessions(self) -> list[str]:
        """The sessions of the signals by time."""
        inside = sorted(self.signals, key=lambda one: one.t)
        return [*dict.fromkeys(one.session for one in inside if one.session)]

    @property
    def first(self) -> str:
        """The time of the earliest signal."""
        return min((one.t for one in self.signals if one.t), default="")

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the body, without stop words."""
        return frozenset(words(fold(self.body))) - STOP_WORDS

    def take(self, other: Candidate) -> None:
        """Add the files, commits and strongest signals of a similar candidate.

        A copy of an event in another session adds nothing.
        """
        have = {(one.name, one.t, one.quote) for one in self.signals}
        self.signals += [one for one in other.signals if (one.name, one.t, one.quote) not in have]
        self.signals = sorted(self.signals, key=lambda one: -one.weight)[:_MOST_SIGNALS]
        self.files = [*dict.fromkeys([*self.files, *other.files])]
        self.commits = [*dict.fromkeys([*self.commits, *other.commits])]

    def evidence(self) -> dict[str, Any]:
        """Return files, sessions, commits and signals as JSON values."""
        signals = [one._asdict() for one in self.signals]
        names = ("files", "sessions", "commits")
        return {**{name: getattr(self, name) for name in names}, "signals": signals}

    def to_row(self) -> KeptCandidate:
        """Return an open candidate of the store."""
        times = self.first, max((one.t for one in self.signals), default="")
        text = self.id, self.type, self.title, self.body
        return KeptCandidate(*text, round(self.score, 4), *times, data=dumps(self.evidence()))

    @classmethod
    def from_row(cls, row: KeptCandidate) -> Candidate:
        """Return the candidate of a row; without evidence if the row's data are malformed."""
        text = row.type, row.title, row.body
        try:
            data = loads(row.data)
            signals = [Signal(**one) for one in data["signals"]]
            return cls(*text, signals, data["files"], data["commits"], row.id)
        except (TypeError, ValueError, LookupError):
            return cls(*text, (), id=row.id)


class Alike(Generic[Item]):
    """``items`` by their words; two are alike with this ``share`` of common words (Jaccard)."""

    def __init__(self, share: float) -> None:
        self.items: list[Item] = []
        self._share = share
        self._words: list[frozenset[str]] = []
        self._holders: defaultdict[str, list[int]] = defaultdict(list)

    def add(self, words: frozenset[str], item: Item) -> None:
        """Add an item with its words."""
        for word in words:
            self._holders[word].append(len(self.items))
        self.items.append(item)
        self._words.append(words)

    def nearest(self, words: frozenset[str]) -> Item | None:
        """Return the most similar item, the first of equals; None if none is alike."""
        # An item without all of the rarest words lacks too many.
        rarest = sorted(words, key=lambda word: len(self._holders[word]))
        rarest = rarest[: int(len(words) * (1 - self._share)) + 2]
        share, best = self._share, None
        for number in sorted({number for word in rarest for number in self._holders[word]}):
            both = len(words & self._words[number]) / len(words | self._words[number])
            if both > share or (both == share and best is None):
                share, best = both, self.items[number]
        return best


def merged(found: Iterable[Candidate]) -> list[Candidate]:
    """Merge similar candidates into the best."""
    kept: Alike[Candidate] = Alike(ALIKE)
    for one in sorted(found, key=lambda one: (-one.score, one.first, one.id)):
        if best := kept.nearest(one.words):
            best.take(one)
        else:
            kept.add(one.words, one)
    return kept.items


def candidate_id(type: str, text: str) -> str:
    """Return ``candidate-<8 hex>``, the same for other case, signs and spaces."""
    return record_id("candidate", f"{type}\n{' '.join(words(fold(text)))}")
