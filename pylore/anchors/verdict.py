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
from .fingerprint import (
    NO_MATCH,
    content_hash,
    definitions,
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
    from .definitions import FindSymbol
    from .relocate import Successor, Successors

    Where = dict[str, list[str]]
    """Word to the files that have it in their text."""

HOLDS = ("valid", "relocated")
_HELD = dict.fromkeys(HOLDS, "valid")

MOST_HASHES = 4
"""Fingerprints that an anchor keeps of its body: as it was anchored last, its last name first."""


class SymbolMissing(Exception):
    """A symbol is not where it was: the whole project has to be searched for ``word``."""

    def __init__(self, word: str) -> None:
        self.word = word


class Judge:
    """Give verdicts on the anchors of one project.

    ``places`` gives the ``(path, detail)`` that an anchor has led to before, the last first;
    ``successors`` looks for what is like a symbol that is defined nowhere.
    """

    def __init__(
        self,
        project: Project,
        find_symbol: FindSymbol,
        places: Callable[[Anchor], Sequence[tuple[str, str]]] = lambda anchor: (),
        successors: Successors | None = None,
    ) -> None:
        self._project = project
        self._find = find_symbol
        self._places = places
        self._successors = successors
        self._defined: dict[str, list[tuple[str, str, str]]] = {}
        """Name to (path, qualified name, fingerprint) of each definition in the project."""

    def judge(self, anchor: Anchor, where: Where | None = None) -> Anchor:
        """Return the anchor as it is now; the same one where nothing has changed.

        An anchor whose file has the stamp that it had is not looked into, but one that
        was invalid is looked for again. ``where`` is needed after ``SymbolMissing``.

        Raises:
            SymbolMissing: its symbol has to be looked for in the whole project.
            Unreadable: it cannot be judged; its verdict stays.
        """
        found = self._judged(anchor, where)
        return anchor if found.is_like(anchor) else found

    def _judged(self, anchor: Anchor, where: Where | None) -> Anchor:
        if anchor.kind == "glob":
            return self._glob(anchor)
        stamp = self._project.stamp(anchor.path)
        if stamp == anchor.stamp and anchor.verdict != "invalid":
            return _settled(anchor)
        if stamp == GONE:
            return self._gone(anchor, where)
        return self._look(anchor, anchor.path, where)

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

    def _gone(self, anchor: Anchor, where: Where | None) -> Anchor:
        back = self._back_from_likeness(anchor)
        if back is not None:
            return back
        content = anchor.hash if anchor.kind in ("file", "hash") else ""
        new = self._project.moved_to(anchor.path, anchor.commit_id, content, anchor.stamp)
        if new is not None:
            return self._look(anchor, new, where)
        for path, detail in self._places(anchor):
            if self._is_there(anchor.kind, path, detail):
                return self._back_at(anchor, path, detail, where)
        if anchor.kind == "symbol":
            return self._elsewhere(anchor, anchor.path, where)
        gone = self._changed(anchor, "invalid", "no such file")
        gone.stamp = anchor.stamp  # its size helps to find it elsewhere
        return gone

    def _is_there(self, kind: str, path: str, detail: str) -> bool:
        if self._project.stamp(path) == GONE:
            return False
        return kind != "symbol" or bool(self._bodies(path, detail))

    def _back_at(self, anchor: Anchor, path: str, detail: str, where: Where | None) -> Anchor:
        """Return the anchor at a place that it had left: a move that was not kept has taken it
        away."""
        before = copy(anchor)
        before.path, before.detail = path, detail
        found = self._look(before, path, where)
        return self._at(anchor, found.path, found.detail, _HELD.get(found.verdict, found.verdict),
                        found.reason if found.verdict in BROKEN else "", found.hash)  # fmt: skip

    def _look(self, anchor: Anchor, path: str, where: Where | None) -> Anchor:
        if anchor.kind == "symbol":
            return self._symbol(anchor, path, where)
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

    def _symbol(self, anchor: Anchor, path: str, where: Where | None) -> Anchor:
        found = definitions(self._project, path, anchor.detail, self._find)
        if not found:
            return self._elsewhere(anchor, path, where)
        lines = lines_of(self._project.read(path))
        hashes = {stretch_hash(one.lines(lines)) for one in found}
        if not hashes.isdisjoint(anchor.hash.split()):
            return self._at(anchor, path, anchor.detail, "valid", "")
        return self._at(anchor, path, anchor.detail, "drifted", "its body changed")

    def _elsewhere(self, anchor: Anchor, path: str, where: Where | None) -> Anchor:
        name = anchor.detail
        word = name.replace("::", ".").replace("#", ".").split(".")[-1]
        back = self._back_from_likeness(anchor)
        if back is not None:
            return back
        if where is None:
            raise SymbolMissing(word)
        if name not in self._defined:
            self._defined[name] = [
                (other, *body)
                for other in where.get(word, [])
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
        back = self._back_from_likeness(anchor, changed=True)
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

    def _back_from_likeness(self, anchor: Anchor, *, changed: bool = False) -> Anchor | None:
        """Return the anchor at a place that it left for one that was like it, where that is as it
        was.

        Args:
            changed: also where the body there is another one than it was.
        """
        known = anchor.hash.split()
        if len(known) < 2:  # it has left none for likeness
            return None
        for path, detail in self._places(anchor):
            bodies = self._bodies(path, detail) if self._project.stamp(path) != GONE else []
            before = copy(anchor)
            before.path, before.detail = path, detail
            if any(hash in known for _, hash in bodies):
                return self._at(before, path, detail, "valid", "")
            if bodies and changed:
                return self._at(before, path, detail, "drifted", "its body changed")
        return None

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
