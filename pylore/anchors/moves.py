"""Find the successor of a symbol, by git's history and by likeness."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

from ..core.errors import LoreError
from .definitions import STRING, Defined
from .project import last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core.model import Anchor
    from .definitions import Definitions
    from .project import Project


LEAST = 0.65  # similarity of a successor (measured: docs/quality.md)
MARGIN = 0.05  # lead over the next candidate that makes a match unambiguous

MOST_SOUGHT = 200  # symbols of a project in a run, at half a second each in a large project
MOST_VERSIONS = 40  # commits of a file that may have lost a definition
MOST_FILES = 100  # files of a change, the definition's file and language first
MOST_CHANGES = 5  # changes in a row through which a definition is followed
_MOST_COMPARED = 30  # new definitions that are compared with all that were lost
_MOST_KEPT = 2_000  # versions of files in memory
_HASHES = (".py", ".pyi", ".rb", ".sh", ".bash")  # files with comments that begin with #
_TOKEN = rf"{STRING}|\w+|[^\w\s]"
_BY_HASH = re.compile(
    rf"(?P<left_out>\#.*|[rRuU]?\"\"\"(?s:.*?)\"\"\"|[rRuU]?'''(?s:.*?)''')|{_TOKEN}"
)
_BY_SLASH = re.compile(rf"(?P<left_out>//.*|/\*(?s:.*?)\*/)|{_TOKEN}")

Bag = frozenset[int]
"""Hashes of tokens and of pairs of neighbours, with a count for repeats."""


def bag_of(path: str, text: str, name: str) -> Bag:
    """Return the tokens of a definition without comments; ``name`` is replaced."""
    tokens = [
        "\0" if match[0] == last_name(name) else match[0]
        for match in (_BY_HASH if path.endswith(_HASHES) else _BY_SLASH).finditer(text)
        if match.lastgroup != "left_out"
    ]
    seen: Counter[object] = Counter()
    bag = set()
    for one in (*tokens, *zip(tokens, tokens[1:], strict=False)):
        seen[one] += 1
        bag.add(hash((one, seen[one])))
    return frozenset(bag)


def similarity(one: Bag, other: Bag) -> float:
    """Return the Dice similarity of two bags, 0 to 1; 1 for equal bags.

    >>> one, other = ("def f(x): return x", "f"), ("def g(x):  # it\\n  return x", "g")
    >>> similarity(bag_of("a.py", *one), bag_of("a.py", *other))
    1.0
    """
    both = len(one) + len(other)
    return 2 * len(one & other) / both if both else 1.0


Alike = tuple[float, Defined]
"""A similarity, 0 to 1, and the definition that has it."""


class Successors:
    """Look for successors of definitions; ``skipped`` counts symbols beyond ``MOST_SOUGHT``."""

    def __init__(self, project: Project, definitions: Definitions) -> None:
        self._project = project
        self._definitions = definitions
        self._sought = self.skipped = 0
        self._changes = cache(self._find_changes)

    def of(self, anchor: Anchor, path: str) -> list[Alike]:
        """Return the successor of an anchor's symbol, or several equally similar; [] if git never
        had the symbol. ``path`` is today's path of the file."""
        if len(self._definitions.known) > _MOST_KEPT:
            self._definitions.known.clear()
        self._sought += 1
        if self._sought > MOST_SOUGHT:
            self.skipped += 1
            return []
        found = self._from(path, anchor.detail, anchor.commit_id)
        if path != anchor.path and not found:  # it went before the file did, or with it
            found = self._from(anchor.path, anchor.detail, anchor.commit_id)
        return found

    def _from(self, path: str, name: str, since: str) -> list[Alike]:
        first: Defined | None = None
        for _ in range(MOST_CHANGES):
            commit, lost = self._loss(path, name, since)
            if lost is None:
                break
            first = first or lost
            found = equally_similar(self._candidates(commit, lost), lost.name)
            if len(found) != 1:
                return found
            there = found[0][1]
            path, name, since = there.path, there.qualified, commit
            place = path if self._project.has(path) else ""
            place = place or self._project.moved_to(path, commit, "", "") or path
            if today := self._definitions.find("", place, name):
                pair = (_likeness(first, today[0]), today[0])
                return [pair] if pair[0] >= LEAST else []
        return []

    def _loss(self, path: str, name: str, since: str) -> tuple[str, Defined | None]:
        """Return the newest change before which ``path`` defined a symbol, and the symbol then; ""
        is the uncommitted change."""
        if not self._project.head:
            return "", None
        if found := self._definitions.find("HEAD", path, name):
            return "", found[0]
        for commit in self._project.git.versions(path, since, MOST_VERSIONS, name.split(".")):
            if found := self._definitions.find(f"{commit}^", path, name):
                return commit, found[0]
        return "", None

    def _candidates(self, commit: str, lost: Defined) -> list[Alike]:
        """Return the new definitions of a change that are similar to ``lost``, best first, except
        successors of other lost definitions."""
        gone, new = self._gone_and_new(commit, lost.path)
        others = [
            one
            for one in gone
            if one.kind == lost.kind and (one.path, one.qualified) != (lost.path, lost.qualified)
        ]
        alike = [(_likeness(lost, one), one) for one in new if one.kind == lost.kind]
        alike = [pair for pair in alike if pair[0] >= LEAST]
        alike.sort(key=lambda pair: (-pair[0], pair[1].path, pair[1].qualified))
        return [
            (figure, one)
            for figure, one in alike[:_MOST_COMPARED]
            if not any(_fits_better(other, one, lost, figure) for other in others)
        ]

    def _gone_and_new(self, commit: str, path: str) -> tuple[list[Defined], list[Defined]]:
        """Return the definitions that a change has removed, and added."""
        pairs = sorted(self._changes(commit), key=lambda pair: _distance(pair, path))[:MOST_FILES]
        before, after = (f"{commit}^", commit) if commit else ("HEAD", "")
        self._definitions.read(before, [old for old, _ in pairs if old])
        self._definitions.read(after, [new for _, new in pairs if new])
        gone, came = [], []
        for old, new in pairs:
            was = self._definitions.read(before, [old]) if old else []
            has = self._definitions.read(after, [new]) if new else []
            names = {one.qualified for one in was}, {one.qualified for one in has}
            gone += [one for one in was if one.qualified not in names[1]]
            came += [one for one in has if one.qualified not in names[0]]
        return gone, came

    def _find_changes(self, commit: str) -> list[tuple[str, str]]:
        """Return (path before, path after) of the files of a change."""
        try:
            git = self._project.git
            return git.changes_of(commit) if commit else [(one, one) for one in git.changed()]
        except LoreError:
            return []


def _likeness(one: Defined, other: Defined) -> float:
    for each in (one, other):
        if not each.bag:
            text = b"\n".join(each.lines).decode("utf-8", "surrogateescape")
            each.bag = bag_of(each.path, text, each.name)
    return similarity(one.bag, other.bag)


def _fits_better(other: Defined, new: Defined, lost: Defined, figure: float) -> bool:
    """Return True if ``other`` is more similar to ``new`` than ``lost``, or similar and of the
    same name."""
    theirs = _likeness(other, new)
    named = (other.name == new.name) - (lost.name == new.name)
    return (theirs, named) > (figure, 0) or (named > 0 and theirs >= LEAST)


def equally_similar(candidates: Sequence[Alike], name: str) -> list[Alike]:
    """Return the best of sorted candidates, or several; of these, a name that differs from ``name``
    only in case and underscores decides."""
    found = [one for one in candidates if one[0] > candidates[0][0] - MARGIN]
    plain = name.replace("_", "").lower()
    named = [one for one in found if one[1].name.replace("_", "").lower() == plain]
    return named if len(named) == 1 else found


def _distance(pair: tuple[str, str], path: str) -> tuple[bool, bool, str]:
    """Return the distance of a changed file: the same file, the same language, any."""
    one = pair[1] or pair[0]
    return path not in pair, one.rpartition(".")[2] != path.rpartition(".")[2], one
