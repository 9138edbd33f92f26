"""Imports as written → files of the tree: what the languages share of it."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol

from ..core.errors import LoreError
from ..system.project_files import place_within, read_plain
from .facts import FileFacts, Import

RESOLVED = "resolved"
EXTERNAL = "external"
AMBIGUOUS = "ambiguous"
UNRESOLVED = "unresolved"
DECLARED = "declared"
"""No import of a file: a package's own name, a namespace, an export of the file's own."""

CERTAIN = 1.0
"""The language's own rule leads to the file."""
BY_CONVENTION = 0.9
"""A layout that the language's tools use by default leads to it: ``src/``, ``@/``."""
BY_SUFFIX = 0.8
"""The only file in the tree whose path ends like that."""
BY_NEARNESS = 0.6
"""Of several such files, the one that is nearest to the one that imports."""


class Bound(NamedTuple):
    """A name that an import gives to a file."""

    local: str  # the name here; ``*`` for every name of the module
    module: str  # a file, or a folder for what spans files (a Go package); "" for what is external
    name: str = ""  # the name there; empty for the module itself


class Found(NamedTuple):
    outcome: str
    files: tuple[str, ...] = ()  # targets of the edge ``imports``
    bound: tuple[Bound, ...] = ()
    confidence: float = CERTAIN


class Importer(Protocol):
    """One language's rule, made for one tree."""

    def find(self, facts: FileFacts, item: Import) -> Found: ...


def outside(*names: str) -> Found:
    """Return an import from outside the tree, which binds ``names``."""
    return Found(EXTERNAL, (), tuple(Bound(name, "") for name in names if name))


class Packages:
    """Packages of all languages; keys are unlike any file's path."""

    def __init__(self) -> None:
        self.files: dict[str, list[str]] = {}
        self.of: dict[str, str] = {}  # file → the key of its package

    def put(self, key: str, path: str, *, is_seen: bool = True) -> None:
        """Put a file into a package; others see its names there if ``is_seen``."""
        self.of[path] = key
        if is_seen:
            self.files.setdefault(key, []).append(path)


MANIFEST_LIMIT = 1_000_000
"""The largest manifest that is read, in bytes; larger ones count as absent."""


class SourceTree:
    """Paths relative to ``root``, with ``/`` between folders; "" is the root itself."""

    def __init__(self, paths: Iterable[str], root: str) -> None:
        self.root = root
        self.paths = frozenset(paths)
        self.folders: dict[str, list[str]] = {"": []}
        self._tails: dict[str, list[str]] = {}
        self._texts: dict[str, str | None] = {}
        for path in sorted(self.paths):
            folder, _, name = path.rpartition("/")
            self._tails.setdefault(name, []).append(path)
            while folder not in self.folders:
                self.folders[folder] = []
                folder = folder.rpartition("/")[0]
            self.folders[path.rpartition("/")[0]].append(path)

    def ending(self, tail: str) -> list[str]:
        """Return the files whose path is ``tail`` or ends in ``/tail``."""
        name = tail.rpartition("/")[2]
        found = self._tails.get(name, [])
        if name == tail:
            return found
        inner = "/" + tail
        return [path for path in found if path == tail or path.endswith(inner)]

    def read(self, path: str) -> str | None:
        """Return the text of a manifest; None where it is absent, no plain file, or too large."""
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    @property
    def read_paths(self) -> frozenset[str]:
        """Return all paths that were asked for, present or not."""
        return frozenset(self._texts)

    def _read(self, path: str) -> str | None:
        full = os.path.join(self.root, path)
        try:
            if not stat.S_ISREG(os.lstat(full).st_mode):
                return None
            content = read_plain(place_within(self.root, path), MANIFEST_LIMIT)
        except (OSError, ValueError, LoreError):
            return None
        if len(content) > MANIFEST_LIMIT:
            return None
        return content.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")

    def holding(self, name: str, folders: Iterable[str]) -> dict[str, str]:
        """Map folder to text of the manifest ``name`` in it, for ``folders`` and all above them.

        By folder, the outer ones first: of two that claim one name the first should win.
        """
        found: dict[str, str] = {}
        seen: set[str] = set()
        for start in folders:
            for folder in above(start):
                if folder in seen:
                    break
                seen.add(folder)
                text = self.read(join(folder, name))
                if text is not None:
                    found[folder] = text
        return dict(sorted(found.items()))


def folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder and name else folder or name


def above(folder: str) -> Iterator[str]:
    """Yield a folder, its parent, …, the root.

    >>> list(above("a/b"))
    ['a/b', 'a', '']
    """
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
    yield ""


def step(folder: str, relative: str) -> str | None:
    """Return where ``relative`` leads from ``folder``; None where that is outside the root.

    >>> step("a/b", "../c"), step("a", "../../c"), step("a", "..")
    ('a/c', None, '')
    """
    if "\0" in relative or relative.startswith("/"):
        return None
    path = posixpath.normpath(posixpath.join(folder, relative))
    if path == ".." or path.startswith("../"):
        return None
    return "" if path == "." else path


def nearest(paths: Iterable[str], to: str) -> str | None:
    """Return the one path that shares the most leading folders with ``to``; None where two do."""
    ranked = sorted(((_shared(path, to), path) for path in paths), reverse=True)
    if not ranked or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
        return None
    return ranked[0][1]


def _shared(path: str, other: str) -> int:
    count = 0
    for mine, theirs in zip(path.split("/")[:-1], other.split("/")[:-1], strict=False):
        if mine != theirs:
            break
        count += 1
    return count


__all__ = [
    "AMBIGUOUS", "DECLARED", "EXTERNAL", "RESOLVED", "UNRESOLVED",
    "Bound", "Found", "Importers", "MakeImporter", "Packages", "SourceTree",
]  # fmt: skip


MakeImporter = Callable[[SourceTree, Mapping[str, FileFacts], Packages], Importer]
"""Of the files of a tree, and of what each says. It notes the packages that span files."""


class Importers:
    """The importer of each family of languages, made when the first file asks for it."""

    def __init__(self, tree: SourceTree, files: Mapping[str, FileFacts]) -> None:
        self._tree = tree
        self._files = files
        self._made: dict[str, Importer] = {}
        self._packages = Packages()

    @property
    def tree(self) -> SourceTree:
        """Return the files, and what was read beside them."""
        return self._tree

    @property
    def packages(self) -> dict[str, list[str]]:
        """Map key to files, of the packages of all importers that were made."""
        return self._packages.files

    def package_of(self, path: str) -> str:
        """Return the key of the package whose names a file sees without an import; "" for none."""
        return self._packages.of.get(path, "")

    def of(self, family: str, make: MakeImporter) -> Importer:
        """Return what finds the files that a family's imports mean."""
        if family not in self._made:
            self._made[family] = make(self._tree, self._files, self._packages)
        return self._made[family]
