"""Kept answers of a resolution, and the difference of a file from them."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ...core.text import composed
from ..imports import Bound
from . import scopes
from .scopes import Def, File

IMPORTS, BASES, ADOPTED, CALLS, AWAITS, MENTIONS = range(1, 7)
"""Lookups of a file itself, beside the marks of its definitions.

``AWAITS`` has the marks of the parameters that its calls depend on, through whatever answers.
"""

Written = tuple[str, str, str]
"""A value as every process can read it: its class, its path or key, its qualified name."""

Passes = dict[Written, dict[Written, int]]
"""Parameter (the function's path, its qualified name, the parameter's) → values → round."""

Reads = dict[str, dict[int, bytes]]
"""File, package or folder → the mark of what was looked for there, or what the file itself asks
→ the marks of what was examined for it, 32 bits each."""


class FileAnswers(NamedTuple):
    """Resolved names of one file."""

    bound: tuple[Bound, ...] = ()
    mates: str = ""
    bases: Mapping[str, list[tuple[str, str, float]]] = {}
    """Qualified name of a class → path, qualified name and confidence of each base."""
    open: tuple[str, ...] = ()
    """Classes with a base outside the tree."""
    adopted: Mapping[str, tuple[str, str]] = {}
    """Qualified name of what is defined apart from its class → path and name of the class."""
    passes: Mapping[Written, Mapping[Written, int]] = {}
    counts: Mapping[str, Mapping[str, int]] = {}


def put(reads: Reads, owner: str, mark: int, looked: Iterable[int]) -> None:
    """Add to what was examined for something."""
    held = reads.setdefault(owner, {})
    known = held.get(mark)
    found = set(looked)
    if known is not None:
        found.update(array("I", known))
    held[mark] = array("I", sorted(found)).tobytes()


def join(reads: Reads, more: Reads) -> None:
    """Add what another process has examined."""
    for owner, entries in more.items():
        held = reads.setdefault(owner, {})
        for mark, looked in entries.items():
            if held.setdefault(mark, looked) != looked:
                put(reads, owner, mark, array("I", looked))


def packed(entries: Mapping[int, bytes]) -> bytes:
    """Return all of one owner's: the mark, how many it examined, these; 32 bits each."""
    found = array("I")
    for mark, looked in entries.items():
        found.append(mark)
        found.append(len(looked) // 4)
        found.frombytes(looked)
    return found.tobytes()


def unpacked(row: array[int]) -> dict[int, bytes]:
    """Return what ``packed`` packed."""
    found: dict[int, bytes] = {}
    place, end = 0, len(row)
    while place < end:
        last = place + 2 + row[place + 1]
        found[row[place]] = row[place + 2 : last].tobytes()
        place = last
    return found


ADOPTS = "<adopts>"
"""The members that a class gets from other files."""

Seen = dict[str, object]
"""A name with its containers → all that can be told of it without another file."""


def names_of(file: File | None) -> Seen:
    """Return every name that a file defines, assigns or imports."""
    if file is None:
        return {}
    found: dict[str, list[object]] = {}
    for key, made in file.defs.items():
        kind = "class" if made.is_class else "function"
        found[key] = [made.kind, kind, made.params]
    for key, text in file.assigned.items():
        found.setdefault(key, []).append(text)
    for key, bound in file.bound.items():
        found.setdefault(key, []).append(tuple(bound))
    return {key: tuple(value) for key, value in found.items()}


class Difference:
    """From one state of a file to another; either may be none."""

    def __init__(self, old: File | None, new: File | None) -> None:
        self.old, self.new = old, new
        before, after = names_of(old), names_of(new)
        self.names = {
            key for key in before.keys() | after.keys() if before.get(key) != after.get(key)
        }
        self._all = before.keys() | after.keys()
        for file in self._files():
            for key in [*self.names]:
                self._add_inner(file, key)

    def _add_inner(self, file: File, key: str) -> None:
        """Add what is in a changed definition, and its parameters."""
        made = file.defs.get(key)
        if made is None:
            return
        self.names.update(f"{key}.{name}" for name in made.params)
        other = self.new if file is self.old else self.old
        twin = None if other is None else other.defs.get(key)
        if twin is None or twin.is_class != made.is_class or twin.kind != made.kind:
            self.names.update(one for one in self._all if one.startswith(f"{key}."))

    def _files(self) -> list[File]:
        return [file for file in (self.old, self.new) if file is not None]

    def members(self) -> Iterator[tuple[str, str, str]]:
        """Yield the path and qualified name of a class, and a member of it that is another one."""
        for file in self._files():
            for key in self.names:
                container, _, name = key.rpartition(".")
                made = file.defs.get(container) if container else None
                if made is not None and made.is_class:
                    yield file.path, container, name

    def packages(self) -> Iterator[tuple[str, str]]:
        """Yield the package that the file is part of, and a name that it has in it."""
        mates = {file.mates for file in self._files() if file.mates}
        moved = len({file.mates for file in self._files()}) > 1 or len(self._files()) < 2
        names = self._all if moved else self.names
        for key in mates:
            for name in names:
                if "." not in name:
                    yield key, name

    def marks(self) -> set[int]:
        """Return the marks of all that is another one, but for what other files have of it."""
        found: set[int] = set()
        for file in self._files():
            place = file.place
            found.update(scopes.mark(place, name) for name in self.names)
            found.update(self._scopes(file))
        found.update(scopes.top(key, name) for key, name in self.packages())
        found.update(self._wholes())
        found.update(self._named())
        return found

    def _scopes(self, file: File) -> Iterator[int]:
        """Yield the scopes that see a variable that is another one."""
        around = {name.rpartition(".")[0] for name in self.names} - {""}
        callers = {call.caller for call in file.facts.calls}
        for scope in {*file.defs} | callers | around:
            here = scope
            while here:
                if here in around:
                    yield scopes.scope(file.place, scope)
                    break
                here = here.rpartition(".")[0]

    def _wholes(self) -> Iterator[int]:
        file = self._files()[0]
        old, new = self.old, self.new
        if _stars(old) != _stars(new):
            yield scopes.mark(file.place, scopes.STARS)
        mates = {one.mates for one in self._files()}
        if _tops(old) != _tops(new) or len(mates) > 1:
            yield scopes.mark(file.place, scopes.WHOLE)
            for key in mates - {""}:
                yield scopes.top(key, scopes.WHOLE)
        for path, name in _classes(old) | _classes(new):
            if _params(old, name) != _params(new, name):
                yield scopes.mark(scopes.inner(scopes.place(path), name), scopes.PARAMETERS)

    def _named(self) -> Iterator[int]:
        old, new = _candidates(self.old), _candidates(self.new)
        for family, name in {(family, name) for family, name, _ in old ^ new}:
            yield scopes.named(family, name)
        for name in _mentionable(self.old) ^ _mentionable(self.new):
            yield scopes.mentioned(composed(name.rpartition(".")[2]))
        for file in self._files():
            for _, name in _outline(self.old) ^ _outline(self.new):
                yield scopes.imported(file.language.family, name)


def _stars(file: File | None) -> list[object]:
    return [] if file is None else list(file.stars)


def _tops(file: File | None) -> list[tuple[str, str]]:
    return [] if file is None else [(name, made.kind) for name, made in file.top.items()]


def _classes(file: File | None) -> set[tuple[str, str]]:
    if file is None:
        return set()
    return {(file.path, made.qualified) for made in file.defs.values() if made.is_class}


def _params(file: File | None, name: str) -> list[tuple[str, tuple[str, ...]]]:
    made = None if file is None else file.defs.get(name)
    if made is None:
        return []
    return [(one.qualified, one.params) for one in made.children.values()]


def _candidates(file: File | None) -> set[tuple[str, str, str]]:
    if file is None:
        return set()
    return {
        (file.language.family, made.name, made.id)
        for made in file.defs.values() if is_candidate(made)
    }  # fmt: skip


def _mentionable(file: File | None) -> set[str]:
    return set() if file is None else {symbol.qualified for symbol in file.facts.symbols}


def _outline(file: File | None) -> set[tuple[str, str]]:
    """Return what imports may name of a file, beside its path: what it defines in a package."""
    if file is None or not file.mates:
        return set()
    names = (symbol.name for symbol in file.facts.symbols if "." not in symbol.qualified)
    return {(file.mates, name) for name in names}


def is_candidate(made: Def) -> bool:
    """Return whether it may be reached by its name alone: not what is in a function."""
    if made.kind not in ("function", "method"):
        return False
    outer = made.outer
    while outer is not None:
        if not outer.is_class:
            return False
        outer = outer.outer
    return True


def posts(file: File, answers: FileAnswers) -> set[int]:
    """Return the marks by which a file is found: of what it defines, inherits, adopts and
    passes."""
    found: set[int] = set()
    for made in file.defs.values():
        if made.outer is not None and is_candidate(made):
            found.add(scopes.named(file.language.family, made.name))
    for symbol in file.facts.symbols:
        found.add(scopes.mentioned(composed(symbol.qualified.rpartition(".")[2])))
    for bases in answers.bases.values():
        for path, name, _ in bases:
            found.add(scopes.mark(scopes.inner(scopes.place(path), name), scopes.SUBCLASSES))
    for path, name in answers.adopted.values():
        found.add(scopes.mark(scopes.inner(scopes.place(path), name), ADOPTS))
    for path, name, parameter in answers.passes:
        found.add(scopes.mark(scopes.inner(scopes.place(path), name), parameter))
    return found
