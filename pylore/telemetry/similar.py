"""Near-duplicates among candidates: one of them stays, with the signals of all."""

from __future__ import annotations

import re

from ..core.text import fold, words
from .candidates import Candidate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

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
    groups: list[_Said] = []
    having: dict[str, list[int]] = {}
    for one in sorted(found, key=lambda one: (-one.score, one.first, one.id)):
        said = _Said(one)
        near = _nearest(said, groups, having)
        if near is not None:
            take(groups[near].candidate, one)
            continue
        for word in said.words:
            having.setdefault(word, []).append(len(groups))
        groups.append(said)
    return [one.candidate for one in groups]


def _nearest(said: _Said, groups: list[_Said], having: dict[str, list[int]]) -> int | None:
    shared: dict[int, int] = {}
    for word in said.words:
        for number in having.get(word, ()):
            shared[number] = shared.get(number, 0) + 1
    best, nearest = 0.0, None
    for number, count in shared.items():
        other = groups[number]
        alike = count / (len(said.words) + len(other.words) - count)
        needed = SHARED_WITH_CODE if len(said.code & other.code) > 1 else SHARED
        if alike >= needed and alike > best:
            best, nearest = alike, number
    return nearest


def take(kept: Candidate, other: Candidate) -> None:
    """Adds what speaks for another. The same event, in a copy of its session, adds nothing."""
    have = {(one.name, one.t, one.quote) for one in kept.signals}
    kept.signals += [one for one in other.signals if (one.name, one.t, one.quote) not in have]
    kept.files = [*dict.fromkeys([*kept.files, *other.files])]
    kept.commits = [*dict.fromkeys([*kept.commits, *other.commits])]


class Told:
    """What was found before, by what it says."""

    def __init__(self, candidates: Iterable[Candidate]) -> None:
        self._groups = [_Said(one) for one in candidates]
        self._having: dict[str, list[int]] = {}
        for number, said in enumerate(self._groups):
            for word in said.words:
                self._having.setdefault(word, []).append(number)

    def like(self, one: Candidate) -> Candidate | None:
        """The one that says the same in nearly the same words."""
        near = _nearest(_Said(one), self._groups, self._having)
        return None if near is None else self._groups[near].candidate
