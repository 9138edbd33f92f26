"""Follow a claim through the history of its files: when it held, and what broke and mended it."""

from __future__ import annotations

from itertools import islice, pairwise
from math import sqrt

from ..anchors.claims import Claim, ClaimCount, unpacked
from ..core.model import Record
from ..core.vocabulary import COMMIT_IDS
from .claims import ClaimCounter, contents, summed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..anchors.claims import ClaimResult
    from ..anchors.project import Project
    from ..core.model import Node
    from ..store.anchors import Anchor
    from .claims import File

    Tree = dict[str, str]
    """Path to the hash of its content."""

MOST_COMMITS = 5_000
"""The newest commits that changed a file of the claim; what is older is left out."""
MOST_LOOKED = 400
"""States that are counted; of more, so many at equal distances, and where they change."""

LEAST_STATES = 20
"""States of the code from which on a claim's history is evidence."""

HELD, BEGAN, BROKE, MENDED = "held", "began", "broke", "mended"


class ClaimHistory(Record):
    """``commits`` changed files of a claim, ``looked`` of them were counted, from the commit
    ``first`` on. In ``held`` of the ``of`` states since it began to hold it did. ``events`` are
    (held: from the first; began, broke or mended; the commit; the state's result).
    """

    __slots__ = ("commits", "events", "first", "held", "looked", "of", "whole")

    def __init__(self, first: Node | None, commits: int, looked: int, *, whole: bool) -> None:
        self.first = first
        self.commits = commits
        self.looked = looked
        self.whole = whole
        self.held = self.of = 0
        self.events: list[tuple[str, Node, ClaimResult]] = []

    @property
    def confidence(self) -> float | None:
        """Return the lower bound of how often it holds, 0 to 1; None of too few states."""
        return wilson(self.held, self.of) if self.of >= LEAST_STATES else None

    def told(self) -> dict[str, Any]:
        """Return the history as a row has it."""
        return {
            "commits": self.commits, "looked": self.looked, "whole": self.whole,
            "since": self.first.created_at if self.first else None,
            "held": self.held, "of": self.of, "confidence": self.confidence,
            "events": [
                {"event": event, "commit": commit.id, "date": commit.created_at,
                 "title": commit.title,
                 "places": [f"{one.path}:{one.line}" for one in result.new]}
                for event, commit, result in self.events
            ],
        }  # fmt: skip


def wilson(held: int, of: int) -> float:
    """Return the lower bound of a share, 95 % of the time: Wilson, J. Am. Stat. Assoc. 22 (1927).

    >>> [round(wilson(*pair), 2) for pair in ((5, 5), (200, 200), (120, 200), (0, 9))]
    [0.57, 0.98, 0.53, 0.0]
    """
    share, z = held / of, 1.96
    middle = share + z * z / (2 * of)
    spread = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return max(0.0, (middle - spread) / (1 + z * z / of))


def follow(project: Project, anchor: Anchor, since: str = "") -> ClaimHistory:
    """Return what the commits after ``since``, or the newest, say of an anchor's claim.

    What was accepted when it was anchored counts as known in all of them. Every content of a file
    is parsed once. Around a change between two states that were counted, others are, by halving.

    Raises:
        Unreadable: the claim is none.
    """
    states = _States(project, anchor, since)
    picked = _spread(len(states.commits), MOST_LOOKED)
    found = dict(zip(picked, states.results(picked), strict=True))
    for before, after in pairwise(picked):
        while after - before > 1 and found[before].is_new != found[after].is_new:
            middle = (before + after) // 2
            found[middle] = states.results([middle])[0]
            is_same = found[middle].is_new == found[before].is_new
            before, after = (middle, after) if is_same else (before, middle)
    history = ClaimHistory(states.commits[0] if states.commits else None, len(states.commits),
                           len(found), whole=states.whole)  # fmt: skip
    held = False
    for at in sorted(found):
        holds = not found[at].is_new
        if holds != held:
            first = BEGAN if at else HELD
            event = BROKE if held else MENDED if history.events else first
            history.events.append((event, states.commits[at], found[at]))
            held = holds
        if history.events:
            history.of += 1
            history.held += holds
    return history


def _spread(number: int, most: int) -> list[int]:
    """Return so many places of a list at equal distances, the last one among them.

    >>> _spread(3, 5), _spread(9, 3)
    ([0, 1, 2], [0, 4, 8])
    """
    if number <= most:
        return [*range(number)]
    return sorted({round(at * (number - 1) / (most - 1)) for at in range(most)})


class _States:
    """The states of a claim's files after each of the ``commits`` that changed them, oldest first;
    ``whole``: there are no older ones. The first may be the commit that the history begins after.
    """

    def __init__(self, project: Project, anchor: Anchor, since: str) -> None:
        self._project = project
        self._claim = Claim.of_anchor(anchor)
        self._known = unpacked(anchor.hash)
        self._counts: dict[File, ClaimCount] = {}
        self._counter = ClaimCounter([self._claim], project.paths())
        if self._counter.faults:
            raise self._counter.faults[0]
        changes = ((commit, self._of_claim(tree)) for commit, tree in project.git.steps(since))
        steps = [*islice((step for step in changes if step[1]), MOST_COMMITS + 1)]
        self.whole = len(steps) <= MOST_COMMITS
        steps = steps[:MOST_COMMITS][::-1]
        before = f"{steps[0][0].id.removeprefix(COMMIT_IDS)}^" if steps else since
        self._base = self._of_claim(project.git.tree(before))
        if since and self._base and self._base == self._of_claim(project.git.tree(since)):
            steps.insert(0, (project.git.commit(since), {}))
        while steps and not self._base and not _there(steps[0][1]):
            steps.pop(0)
        self.commits = [commit for commit, _ in steps]
        self._changes = [changed for _, changed in steps]

    def _of_claim(self, tree: Tree) -> Tree:
        return {path: hash for path, hash in tree.items() if self._counter.about(path)}

    def results(self, wanted: Sequence[int]) -> list[ClaimResult]:
        """Return how far the claim held after each of these commits, by their places in order."""
        trees = []
        tree, done = {**self._base}, 0
        for at in wanted:
            for changed in self._changes[done : at + 1]:
                tree |= changed
            done = at + 1
            trees.append(_there(tree))
        new = sorted({file for tree in trees for file in tree.items()} - self._counts.keys())
        self._counts |= dict.fromkeys(new, ClaimCount())
        self._counts |= self._counter.count(contents(self._project, new))[0]
        counts = [summed(len(tree), map(self._counts.__getitem__, tree.items())) for tree in trees]
        return [self._claim.judge(count, self._known) for count in counts]


def _there(tree: Tree) -> Tree:
    return {path: hash for path, hash in tree.items() if hash.strip("0")}
