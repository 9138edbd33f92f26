"""Find where code has gone, by git's history and by likeness."""

from __future__ import annotations

from typing import NamedTuple

from ..core.errors import LoreError
from ..system.files import size_in
from .definitions import Bag, bag_of, renamed, similarity, words_in, words_of
from .fingerprint import lines_of, stretch_hash
from .project import Project, Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..core.model import Anchor
    from .definitions import Outline, Outlined


LEAST = 0.65
"""Similarity from which on a definition is a successor (measured: docs/quality.md)."""

MARGIN = 0.05
"""Lead in likeness over the next one that makes a match unambiguous."""

NAMED = 3
"""Candidates that are named where none is a successor."""

LEAST_NAMED = 0.3
"""Similarity of a candidate that is worth a name."""

_SHARED = 0.5
"""Of the words of a definition, as many as a file has to have to be looked into."""

_MOST_COMPARED = 30
"""New definitions that are held against all that were lost."""

_KINDS = {"function": "callable", "method": "callable", "class": "type", "interface": "type"}


class Defined:
    """One definition in one version of a file."""

    __slots__ = ("_bag", "_lines", "kind", "path", "qualified")

    def __init__(self, path: str, lines: list[bytes], found: Outlined) -> None:
        self.path = path
        self.qualified = found.qualified
        self.kind = _KINDS.get(found.kind, found.kind)
        self._lines = found.lines(lines)
        self._bag: Bag | None = None

    @property
    def name(self) -> str:
        """Return the last part of its name."""
        return self.qualified.rpartition(".")[2]

    @property
    def hash(self) -> str:
        """Return its fingerprint, as anchors keep it."""
        return stretch_hash(self._lines)

    @property
    def bag(self) -> Bag:
        """Return its tokens."""
        if self._bag is None:
            self._bag = bag_of(self.path, self._text, self.name)
        return self._bag

    @property
    def words(self) -> frozenset[str]:
        """Return its names and words."""
        return words_of(self.path, self._text, self.name)

    def hashes_as(self, name: str) -> list[str]:
        """Return its one or two fingerprints under another name."""
        texts = renamed(self.path, self._text, self.name, name)
        return [stretch_hash(text.encode(errors="surrogateescape").split(b"\n")) for text in texts]

    @property
    def _text(self) -> str:
        return b"\n".join(self._lines).decode("utf-8", "surrogateescape")


Alike = tuple[float, Defined]
"""A similarity, 0 to 1, and the definition that has it."""


class DefinitionChange:
    """A change, and the definitions that it took away and brought, looked for where need be.

    ``before`` and ``after`` are the texts of the files that it changed, by their paths;
    ``paths`` pairs those of one file, empty where there was or is none.
    """

    def __init__(
        self, paths: Sequence[tuple[str, str]], before: Mapping[str, bytes],
        after: Mapping[str, bytes], outline: Outline,
    ) -> None:  # fmt: skip
        self._paths = paths
        self._before = {path: before.get(path, b"") for path, _ in paths}
        self._after = {path: after.get(path, b"") for _, path in paths}
        self._outline = outline
        self._turnover: dict[tuple[str, str], tuple[list[Defined], list[Defined]]] = {}
        """Paths before and after to what is lost there, and what is new."""
        self._words: dict[tuple[str, str], tuple[frozenset[str], frozenset[str]]] = {}

    def candidates(self, lost: Defined, wanted: Defined) -> list[Alike]:
        """Return what is new and of the kind of a lost definition, the most alike to ``wanted``
        first.

        What takes the place of another lost one is left out.
        """
        gone, new = self._lost_and_new(lost.path, wanted)
        others = [
            one for one in gone
            if one.kind == lost.kind and (one.path, one.qualified) != (lost.path, lost.qualified)
        ]  # fmt: skip
        alike = [(similarity(wanted.bag, one.bag), one) for one in new if one.kind == lost.kind]
        alike = [pair for pair in alike if pair[0] >= LEAST_NAMED]
        alike.sort(key=lambda pair: (-pair[0], pair[1].path, pair[1].qualified))
        found: list[Alike] = []
        for figure, one in alike[:_MOST_COMPARED]:
            if len(found) < NAMED and not _belongs_to(others, one, lost, figure):
                found.append((figure, one))
        return found

    def _lost_and_new(self, path: str, wanted: Defined) -> tuple[list[Defined], list[Defined]]:
        """Return definitions of ``path`` and of files with many of the wanted words."""
        wanted_words = wanted.words
        near = [
            (old, new) for old, new in self._paths
            if old == path or any(
                len(wanted_words & words) >= _SHARED * len(wanted_words)
                for words in self._words_of(old, new)
            )
        ]  # fmt: skip
        unread = [pair for pair in near if pair not in self._turnover]
        found = self._outline(
            {f"before/{old}": self._before[old] for old, _ in unread if old}
            | {f"after/{new}": self._after[new] for _, new in unread if new}
        )
        for old, new in unread:
            was = definitions_of(old, self._before[old], found.get(f"before/{old}", ()))
            has = definitions_of(new, self._after[new], found.get(f"after/{new}", ()))
            names = {one.qualified for one in was}, {one.qualified for one in has}
            self._turnover[old, new] = (
                [one for one in was if one.qualified not in names[1]],
                [one for one in has if one.qualified not in names[0]],
            )
        turnovers = [self._turnover[pair] for pair in near]
        return [one for gone, _ in turnovers for one in gone], [
            one for _, new in turnovers for one in new
        ]

    def _words_of(self, old: str, new: str) -> tuple[frozenset[str], frozenset[str]]:
        if (old, new) not in self._words:
            before, after = self._before[old], self._after[new]
            self._words[old, new] = (
                words_in(before.decode("utf-8", "replace")),
                words_in(after.decode("utf-8", "replace")),
            )
        return self._words[old, new]


def _belongs_to(others: Sequence[Defined], new: Defined, lost: Defined, figure: float) -> bool:
    """Return whether another lost definition is more like it than ``lost``, or like it and of its
    name."""
    for other in others:
        theirs = similarity(other.bag, new.bag)
        named = (other.name == new.name) - (lost.name == new.name)
        if (theirs, named) > (figure, 0) or (named > 0 and theirs >= LEAST):
            return True
    return False


def definitions_of(path: str, text: bytes, found: Sequence[Outlined]) -> list[Defined]:
    """Return what a text defines, by its outline."""
    lines = lines_of(text)
    return [Defined(path, lines, one) for one in found]


def equally_alike(candidates: Sequence[Alike], name: str) -> list[Alike]:
    """Return those of the candidates, the most alike first, that may be the successor: one is it.

    Among several that are as alike the one decides whose name differs from ``name`` in
    nothing but case and underscores.
    """
    if not candidates or candidates[0][0] < LEAST:
        return []
    found = [one for one in candidates if one[0] > candidates[0][0] - MARGIN]
    named = [one for one in found if _plain(one[1].name) == _plain(name)]
    return named if len(named) == 1 else found


def _plain(name: str) -> str:
    return name.rpartition(".")[2].replace("_", "").lower()


MOST_SOUGHT = 200
"""Symbols of one project that are looked for in one go, at half a second each in a large one."""

MOST_VERSIONS = 40
"""Commits of one file that are looked through for the one that lost a definition."""

MOST_FILES = 300
"""Files of one change that are looked into, those like the definition's own first."""

MOST_CHANGES = 5
"""Changes in a row that one definition is followed through."""

LARGEST = 1_000_000
"""Bytes of a file that is looked into."""

_AT_ONCE = 8
_MOST_KEPT = 4
_UNCOMMITTED = ""
"""In place of a commit: how the files differ from the one that is checked out."""


class Successor(NamedTuple):
    """A definition of today, its fingerprint, and how like the anchored one it is, 0 to 1.

    ``expected``: the fingerprints that the anchored body would have under this name.
    """

    path: str
    qualified: str
    hash: str
    similarity: float
    expected: Sequence[str]


class Succession(NamedTuple):
    """``successors``: the only one, or several equally similar; else the ``nearest``."""

    successors: Sequence[Successor] = ()
    nearest: Sequence[Successor] = ()


class Successors:
    """Look for what became of the definitions of one project, at each change once."""

    def __init__(self, project: Project, outline: Outline) -> None:
        self._project = project
        self._git = project.git
        self._outline = outline
        self._sought = 0
        self._changes: dict[tuple[str, str], DefinitionChange] = {}
        self._versions: dict[tuple[str, str], list[str]] = {}
        self._defined: dict[tuple[str, str], list[Defined]] = {}
        """(revision, path) to what is defined there; revision ``now`` is the work tree."""

    @property
    def skipped(self) -> int:
        """Return the number of symbols beyond ``MOST_SOUGHT``."""
        return max(0, self._sought - MOST_SOUGHT)

    def of(self, anchor: Anchor, path: str, places: Sequence[tuple[str, str]] = ()) -> Succession:
        """Return what became of an anchor's symbol, which its file, now at ``path``, does not
        define.

        ``places`` are the ``(path, name)`` that it has left. Nothing is known without git,
        and where git never had the text that was anchored.
        """
        self._sought += 1
        if self.skipped:
            return Succession()
        left = [*dict.fromkeys([(anchor.path, anchor.detail), *places])][:MOST_CHANGES]
        found = self._from(anchor, path, left)
        if path != anchor.path and not (found.successors or found.nearest):
            found = self._from(anchor, anchor.path, left)  # it went before the file did, or with it
        return found

    def _from(self, anchor: Anchor, path: str, left: Sequence[tuple[str, str]]) -> Succession:
        name, since = anchor.detail, anchor.commit_id
        wanted: Defined | None = None
        for _ in range(MOST_CHANGES):
            commit, lost = self._loss(path, name, since)
            if lost is None:
                break
            wanted = wanted or self._anchored(anchor, lost, commit, left)
            if wanted is None:
                break
            candidates = self._change(commit, lost.path).candidates(lost, wanted)
            successors = equally_alike(candidates, lost.name)
            if len(successors) != 1:
                return Succession(_told(successors, wanted), _told(candidates, wanted))
            there = successors[0][1]
            today = self._today(there, commit)
            if today is not None:
                found = _told([(similarity(wanted.bag, today.bag), today)], wanted)
                return Succession(found if found[0].similarity >= LEAST else (), found)
            path, name, since = there.path, there.qualified, commit
        return Succession()

    # --- the change that lost it

    def _loss(self, path: str, name: str, since: str) -> tuple[str, Defined | None]:
        """Return the newest change before which ``path`` defined a symbol, and the symbol then."""
        if not self._project.head:
            return "", None
        found = self._find("HEAD", path, name)
        if found is not None:
            return _UNCOMMITTED, found
        if (path, since) not in self._versions:
            self._versions[path, since] = self._git.versions(path, since, MOST_VERSIONS)
        commits = self._versions[path, since]
        for start in range(0, len(commits), _AT_ONCE):
            some = commits[start : start + _AT_ONCE]
            self._read([f"{commit}^" for commit in some], path)
            for commit in some:
                found = self._find(f"{commit}^", path, name)
                if found is not None:
                    return commit, found
        return "", None

    def _find(self, revision: str, path: str, name: str) -> Defined | None:
        self._read([revision], path)
        wanted = name.replace("::", ".").replace("#", ".")
        defined = self._defined[revision, path]
        exact = [one for one in defined if one.qualified == wanted]
        return next(iter(exact or [one for one in defined if one.name == wanted]), None)

    def _read(self, revisions: Sequence[str], path: str) -> None:
        """Read what these versions of a file define, all in one run of the parser."""
        texts = {
            revision: text for revision in revisions if (revision, path) not in self._defined
            for text in self._contents(revision, [path]).values()
        }  # fmt: skip
        found = self._outline({f"{revision}/{path}": text for revision, text in texts.items()})
        for revision in revisions:
            if (revision, path) not in self._defined:
                self._defined[revision, path] = definitions_of(
                    path, texts.get(revision, b""), found.get(f"{revision}/{path}", ())
                )

    def _change(self, commit: str, path: str) -> DefinitionChange:
        paths = self._changed(commit)
        folder = ""
        if len(paths) > MOST_FILES:  # another folder's definitions get a look of their own
            folder = path.rpartition("/")[0]
            paths = sorted(paths, key=lambda pair: _distance(pair, path))[:MOST_FILES]
        if (commit, folder) not in self._changes:
            before, after = [old for old, _ in paths if old], [new for _, new in paths if new]
            if commit == _UNCOMMITTED:
                was, has = self._contents("HEAD", before), self._texts(after)
            else:
                was = self._contents(f"{commit}^", before)
                has = self._contents(commit, after)
            if len(self._changes) >= _MOST_KEPT:  # anchors to one file come one after the other
                self._changes.clear()
            self._changes[commit, folder] = DefinitionChange(paths, was, has, self._outline)
        return self._changes[commit, folder]

    def _changed(self, commit: str) -> list[tuple[str, str]]:
        if commit != _UNCOMMITTED:
            return self._git.changes_of(commit)
        try:
            return [(path, path) for path in self._git.changed()]
        except LoreError:
            return []

    def _contents(self, revision: str, paths: Sequence[str]) -> dict[str, bytes]:
        return self._git.contents(revision, paths, LARGEST)

    def _texts(self, paths: Sequence[str]) -> dict[str, bytes]:
        found = {}
        for path in paths:
            try:
                if size_in(self._project.stamp(path)) <= LARGEST:
                    found[path] = self._project.read(path)
            except Unreadable:
                continue
        return found

    # --- what was anchored, and what is there today

    def _anchored(
        self, anchor: Anchor, lost: Defined, commit: str, left: Sequence[tuple[str, str]]
    ) -> Defined | None:
        """Return the text whose fingerprint the anchor has kept."""
        hashes = set(anchor.hash.split())
        if lost.hash in hashes:
            return lost
        before = f"{commit}^" if commit else "HEAD"
        held = [(anchor.commit_id, *place) for place in left]
        for revision, path, name in ((before, lost.path, anchor.detail), *held):
            found = self._find(revision, path, name)
            if found is not None and found.hash in hashes:
                return found
        return None

    def _today(self, there: Defined, commit: str) -> Defined | None:
        """Return a definition that a change has brought, as it is now; None where it is gone
        again."""
        if commit == _UNCOMMITTED:
            return there
        path = there.path
        text = self._texts([path]).get(path)
        if text is None:
            path = self._project.moved_to(path, commit, "", "") or path
            text = self._texts([path]).get(path, b"")
        if ("now", path) not in self._defined:
            found = self._outline({path: text})[path]
            self._defined["now", path] = definitions_of(path, text, found)
        return self._find("now", path, there.qualified)


def _told(alike: Sequence[Alike], wanted: Defined) -> list[Successor]:
    return [
        Successor(one.path, one.qualified, one.hash, figure, wanted.hashes_as(one.name))
        for figure, one in alike
    ]


def _distance(pair: tuple[str, str], path: str) -> tuple[bool, bool, bool, str]:
    """Return how far a changed file is from one: itself, the same language's, the same folder's."""
    one = pair[1] or pair[0]
    return (
        path not in pair,
        one.rpartition(".")[2] != path.rpartition(".")[2],
        one.rpartition("/")[0] != path.rpartition("/")[0],
        one,
    )
