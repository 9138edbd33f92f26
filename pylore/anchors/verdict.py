"""Judge whether an anchor still holds: its verdict.

| kind | valid | relocated | drifted | invalid |
|---|---|---|---|---|
| file | it is there | renamed | – | gone |
| hash | same content | same content elsewhere | other content | gone |
| symbol | same body | same body elsewhere | other body, there or elsewhere | not defined anywhere |
| lines | same text | same text elsewhere in the file | text not found | file gone |
| glob | matches a file | – | – | matches none |

A relocated anchor has moved: it leads to the new place, where the next look finds it
valid. A symbol under another name keeps the fingerprints of the body that was anchored under
each of its names, and of no other body: an edit drifts, whatever way it is come to.
"""

from __future__ import annotations

from copy import copy

from ..core.times import now
from ..core.vocabulary import BROKEN
from ..system.files import GONE
from .definitions import find_definitions
from .fingerprint import (
    NO_MATCH,
    content_hash,
    find_stretch,
    line_numbers,
    lines_of,
    stretch_hash,
)
from .project import Project, Unreadable, digest
from .verdict_cache import similarity_said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..core.model import Anchor
    from .claims import CodeReader
    from .definitions import FindSymbol
    from .relocate import Successor, Successors

HOLDS = ("valid", "relocated")
_HELD = dict.fromkeys(HOLDS, "valid")

MOST_HASHES = 4
"""Fingerprints that an anchor keeps of its body: as it was anchored last, its last name first."""


MOST_PARSED = 2_000
"""Files in which a missing symbol is searched by grammar; beyond that by the looks of lines."""


class _SymbolMissing(Exception):
    """A symbol is not where it was, and the other files were not read yet."""


class Judge:
    """Give verdicts on the anchors of one project.

    Symbols are found by the looks of lines, and after ``search_all`` by grammar in all files that
    name a missing one. ``places`` gives the ``(path, detail)`` that an anchor has left, the last
    first. Without a ``reader`` no grammar is read.
    """

    def __init__(
        self,
        project: Project,
        places: Callable[[Anchor], Sequence[tuple[str, str]]],
        reader: CodeReader | None = None,
    ) -> None:
        self._project = project
        self._places = places
        self._reader = reader
        self._find: FindSymbol = find_definitions
        self._words: set[str] = set()
        self._files: set[str] = set()
        """Last names of missing symbols, and files of all doubtful ones."""
        self._where: dict[str, list[str]] | None = None
        """Word to the files that have it, after ``search_all``."""
        self._successors: Successors | None = None
        self._defined: dict[str, list[tuple[str, str, str]]] = {}
        """Name to (path, qualified name, fingerprint) of each definition in the project."""

    def judge(self, anchor: Anchor) -> Anchor | None:
        """Return the anchor as it is now, the same object if nothing changed; None if it can be
        judged only after ``search_all``.

        A file with the stamp that it had is not read, unless the anchor was invalid.

        Raises:
            Unreadable: it cannot be judged; its verdict stays.
        """
        try:
            found = self._judged(anchor)
        except _SymbolMissing:
            self._files.add(anchor.path)
            return None
        if found.is_like(anchor):
            return anchor
        if self._where is None and self._reader and found.kind == "symbol" and found.is_broken:
            self._files.add(found.path)
            return None
        return found

    def search_all(self) -> None:
        """Read the files that may define a symbol that ``judge`` did not find."""
        self._where = self._project.with_words(self._words)
        if self._reader is None:
            return
        from .relocate import Successors

        others = sorted(set().union(*self._where.values()) - self._files)[:MOST_PARSED]
        parsed = self._reader.parse(self._project.root, [*sorted(self._files), *others])
        # An anchor may have been taken by either.
        self._find = lambda *one: [*parsed(*one), *find_definitions(*one)]
        self._successors = Successors(self._project, self._reader.outline)

    @property
    def skipped(self) -> int:
        """Return the number of symbols whose successors were not searched: too many are lost."""
        return self._successors.skipped if self._successors else 0

    def _judged(self, anchor: Anchor) -> Anchor:
        if anchor.kind == "glob":
            return self._glob(anchor)
        stamp = self._project.stamp(anchor.path)
        if stamp == anchor.stamp and anchor.verdict != "invalid":
            return _settled(anchor)
        if stamp == GONE:
            return self._gone(anchor)
        return self._look(anchor, anchor.path)

    # --- by what has become of the file

    def _glob(self, anchor: Anchor) -> Anchor:
        witness = anchor.stamp
        if witness not in ("", NO_MATCH) and self._project.stamp(witness) != GONE:
            return _settled(anchor)
        found = self._project.matching(anchor.path)
        if found:
            changed = self._changed(anchor, "valid", "")
            changed.stamp = found[0]
            return changed
        return self._changed(anchor, "invalid", "matches no file")

    def _gone(self, anchor: Anchor) -> Anchor:
        back = self._back(anchor)
        if back is not None:
            return back
        content = anchor.hash if anchor.kind in ("file", "hash") else ""
        new = self._project.moved_to(anchor.path, anchor.commit_id, content, anchor.stamp)
        if new is not None:
            return self._look(anchor, new)
        back = self._back(anchor, changed=True)
        if back is not None:
            return back
        if anchor.kind == "symbol":
            return self._elsewhere(anchor, anchor.path)
        gone = self._changed(anchor, "invalid", "no such file")
        gone.stamp = anchor.stamp  # its size helps to find it elsewhere
        return gone

    def _back(self, anchor: Anchor, *, changed: bool = False) -> Anchor | None:
        """Return the anchor at the last place that it left and that has its code again.

        Args:
            changed: accept other code there; else only the body of a symbol that has moved to a
                similar one.
        """
        known = anchor.hash.split()
        if len(known) < 2 and not changed:
            return None
        for path, detail in self._places(anchor):
            if self._project.stamp(path) == GONE:
                continue
            if anchor.kind == "symbol":
                bodies = [hash for _, hash in self._bodies(path, detail)]
                if not bodies or (not changed and not {*bodies} & {*known}):
                    continue
            before = copy(anchor)
            before.path, before.detail = path, detail
            found = self._look(before, path)
            reason = found.reason if found.verdict in BROKEN else ""
            verdict = _HELD.get(found.verdict, found.verdict)
            return self._at(anchor, found.path, found.detail, verdict, reason, found.hash)
        return None

    def _look(self, anchor: Anchor, path: str) -> Anchor:
        if anchor.kind == "symbol":
            return self._symbol(anchor, path)
        if anchor.kind == "lines":
            return self._lines(anchor, path)
        verdict, reason = "valid", ""
        hash = anchor.hash
        if anchor.kind == "file":
            hash = content_hash(self._project, path)
        elif digest(self._project.read(path)) != hash:
            verdict, reason = "drifted", "the content changed"
        return self._at(anchor, path, anchor.detail, verdict, reason, hash)

    # --- by what the file holds

    def _symbol(self, anchor: Anchor, path: str) -> Anchor:
        self._project.read(path)  # or Unreadable
        hashes = {hash for _, hash in self._bodies(path, anchor.detail)}
        if not hashes:
            return self._elsewhere(anchor, path)
        if not hashes.isdisjoint(anchor.hash.split()):
            return self._at(anchor, path, anchor.detail, "valid", "")
        return self._at(anchor, path, anchor.detail, "drifted", "its body changed")

    def _elsewhere(self, anchor: Anchor, path: str) -> Anchor:
        name = anchor.detail
        word = name.replace("::", ".").replace("#", ".").split(".")[-1]
        back = self._back(anchor)
        if back is not None:
            return back
        if self._where is None:
            self._words.add(word)
            raise _SymbolMissing
        if name not in self._defined:
            self._defined[name] = [
                (other, *body)
                for other in self._where.get(word, [])
                for body in self._bodies(other, name)
            ]
        defined = [found for found in self._defined[name] if found[0] != path]
        for other, qualified, hash in defined:
            if hash in anchor.hash.split():
                return self._at(anchor, other, qualified, "valid", "")
        reason = f"{name} is defined nowhere"
        if defined:
            reason = f"gone; another {name} is in {defined[0][0]}"
        return self._succeeded(anchor, path, reason)

    def _succeeded(self, anchor: Anchor, path: str, reason: str) -> Anchor:
        """Return the anchor at what its symbol has become; invalid where nothing, or nobody knows
        what."""
        if self._successors is not None:
            found = self._successors.of(anchor, path, self._places(anchor))
            if len(found.successors) == 1:
                return self._moved_to(anchor, found.successors[0])
            if found.successors:
                reason += f"; it may be {_named(found.successors, ' or ')}"
            elif found.nearest:
                reason += f"; nearest: {_named(found.nearest, ', ')}"
        back = self._back(anchor, changed=True)
        return back or self._at(anchor, anchor.path, anchor.detail, "invalid", reason)

    def _moved_to(self, anchor: Anchor, new: Successor) -> Anchor:
        """Return the anchor at its successor: it holds if that has the anchored body, else it
        drifted."""
        there = {new.hash, *(hash for _, hash in self._bodies(new.path, new.qualified))}
        same = [hash for hash in new.expected if hash in there]
        verdict, reason = ("valid", "") if same else ("drifted", "its body changed")
        hashes = _with_name(anchor.hash.split(), (same or new.expected)[0])
        moved = self._at(anchor, new.path, new.qualified, verdict, reason, " ".join(hashes))
        moved.reason += similarity_said(new.similarity)
        return moved

    def _bodies(self, path: str, name: str) -> list[tuple[str, str]]:
        """Return qualified name and fingerprint of what a file defines by this name."""
        try:
            content = self._project.read(path)
        except Unreadable:
            return []
        text = content.decode("utf-8", "replace")
        lines = lines_of(content)
        return [
            (one.qualified, stretch_hash(one.lines(lines))) for one in self._find(path, text, name)
        ]

    def _lines(self, anchor: Anchor, path: str) -> Anchor:
        lines = lines_of(self._project.read(path))
        first, last = line_numbers(anchor.detail)
        count = last - first + 1
        if stretch_hash(lines[first - 1 : last]) == anchor.hash and last <= len(lines):
            return self._at(anchor, path, anchor.detail, "valid", "")
        start = find_stretch(lines, anchor.hash, first, count)
        if start is None:
            return self._at(anchor, path, anchor.detail, "drifted", "the text changed")
        return self._at(anchor, path, f"{start}-{start + count - 1}", "valid", "")

    # --- the new state

    def _at(
        self, anchor: Anchor, path: str, detail: str, verdict: str, reason: str, hash: str = ""
    ) -> Anchor:
        """Return the anchor at a place; one that holds at another place is relocated."""
        if (path, detail) != (anchor.path, anchor.detail):
            before = f"was {anchor.path}{':' if anchor.detail else ''}{anchor.detail}"
            verdict = "relocated" if verdict == "valid" else verdict
            reason = f"{reason}; {before}" if reason else before
        changed = self._changed(anchor, verdict, reason)
        changed.path, changed.detail = path, detail
        changed.stamp = self._project.stamp(path)
        changed.hash = hash or anchor.hash
        return changed

    def _changed(self, anchor: Anchor, verdict: str, reason: str) -> Anchor:
        changed = copy(anchor)
        changed.verdict, changed.reason, changed.verified_at = verdict, reason, now()
        if verdict in HOLDS:
            changed.commit_id = self._project.head
        return changed


def _with_name(known: list[str], hash: str) -> list[str]:
    """Return the fingerprints of a body, with that under a new name; two or more, as likeness led
    there.

    The one that the person anchored stays the last, however many names there were.
    """
    if hash in known and len(known) > 1:
        return known
    return [hash, *known[:-1]][: MOST_HASHES - 1] + known[-1:]


def _named(candidates: Sequence[Successor], between: str) -> str:
    return between.join(
        f"{one.path}:{one.qualified} (similarity {one.similarity:.2f})" for one in candidates
    )


def _settled(anchor: Anchor) -> Anchor:
    """Return the anchor; one that had moved is valid at its place."""
    if anchor.verdict != "relocated":
        return anchor
    settled = copy(anchor)
    settled.verdict, settled.reason = "valid", ""
    return settled
