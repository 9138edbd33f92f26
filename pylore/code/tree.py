"""The files of a tree, by paths from the root with ``/`` between folders, and importers."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from ..core.errors import LoreError
from ..system.project_files import place_within, read_plain
from .facts import FileFacts, Found, Import

MANIFEST_LIMIT = 1_000_000  # maximum bytes of a manifest; larger files count as absent


class SourceTree:
    """Paths relative to ``root``, with ``/`` between folders; "" is the root itself."""

    def __init__(self, paths: Iterable[str], root: str) -> None:
        self.root = root
        self.paths = frozenset(paths)
        self.packages: dict[str, list[str]] = {}  # a key that is no path → the files of a package
        self.mates: dict[str, str] = {}  # file → the package of names that it sees unimported
        self.folders: dict[str, list[str]] = {"": []}
        self._tails: dict[str, list[str]] = {}
        self.texts: dict[str, str | None] = {}  # of manifests that were read, present or not
        for path in sorted(self.paths):
            folder, _, name = path.rpartition("/")
            self._tails.setdefault(name, []).append(path)
            while folder not in self.folders:
                self.folders[folder] = []
                folder = folder.rpartition("/")[0]
            self.folders[path.rpartition("/")[0]].append(path)

    def put(self, package: str, path: str) -> None:
        """Put a file into a package; the file sees the names of the last one unimported."""
        self.mates[path] = package
        self.packages.setdefault(package, []).append(path)

    def ending(self, tail: str) -> list[str]:
        """Return the files with the path ``tail`` or a path that ends in ``/tail``."""
        found = self._tails.get(tail.rpartition("/")[2], ())
        return [path for path in found if f"/{path}".endswith(f"/{tail}")]

    def read(self, path: str) -> str | None:
        """Return the text of a manifest; None if absent, no plain file, or over the limit."""
        if path not in self.texts:
            self.texts[path] = None
            with suppress(OSError, ValueError, LoreError):
                content = read_plain(place_within(self.root, path), MANIFEST_LIMIT)
                self.texts[path] = content.decode("utf-8-sig", "replace").replace("\r\n", "\n")
        return self.texts[path]

    def holding(self, name: str, folders: Iterable[str]) -> dict[str, str]:
        """Return the texts of ``name`` in ``folders`` and all above, the outer folders first."""
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
    """Yield a folder, its parent, …, the root."""
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
    yield ""


def step(folder: str, relative: str) -> str | None:
    """Return the place of ``relative`` from ``folder``; None outside the root.

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
    """Return the path that shares the most leading folders with ``to``; None for a tie."""
    both = ((path, [path.split("/")[:-1], to.split("/")[:-1]]) for path in paths)
    ranked = sorted(((len(posixpath.commonprefix(two)), path) for path, two in both), reverse=True)
    if not ranked or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
        return None
    return ranked[0][1]


class Importer:
    """The rule of a language for a tree."""

    def __init__(self, tree: SourceTree, files: Mapping[str, FileFacts]) -> None:
        """Take a tree and the facts of the files; note packages that span files in the tree."""
        self.tree = tree

    def find(self, facts: FileFacts, item: Import) -> Found:
        """Return the target of an import of a file."""
        raise NotImplementedError
