"""List the files and folders of a project, and detect changes."""

from __future__ import annotations

import os

from .files import STORE, is_of_store, settled, stamp_of
from .project_files import LONGEST_PATH, GitListing, folder_kind, is_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    Seen = dict[str, tuple[str, str]]
    """Folder to its stamp (empty where it may change and keep it) and a hash of its names."""


class Listing:
    """Paths relative to the root, in order, and how many were left out, by reason."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.skipped: dict[str, int] = {}

    def skip(self, reason: str) -> None:
        """Count a file that was left out."""
        self.skipped[reason] = self.skipped.get(reason, 0) + 1


class FileTree:
    """The files under ``root``/``below``; git begins to list them at once, if it can."""

    def __init__(self, root: str, below: str = "") -> None:
        self._root = root
        self._below = below
        self._asked = GitListing(os.path.join(root, below) if below else root)

    def files(self) -> Listing:
        """Return all plain files that git tracks or would track; without git all but hidden
        ones and those of tools. A repository inside is asked itself.
        """
        listing = Listing()
        found: list[str] = []
        _list(self._root, self._below, listing, found, self._asked)
        every = "".join(found)
        odd = ".lore/" in every or STORE in every or not every.isprintable()
        if odd or max(map(len, found), default=0) > LONGEST_PATH:
            found = [path for path in found if _is_named(path, listing)]
        listing.paths = sorted(set(found))
        return listing


def _is_named(path: str, listing: Listing) -> bool:
    """Return True if an id can hold the path, and it is not in a store."""
    if path.startswith(".lore/") or "/.lore/" in path or is_of_store(path):
        return False
    if len(path) > LONGEST_PATH or not path.isprintable():
        listing.skip("name")
        return False
    return True


def _list(root: str, below: str, listing: Listing, found: list[str], asked: GitListing) -> None:
    names = asked.names()
    if names is None:
        _walk(root, below, listing, found)
        return
    prefix = f"{below}/" if below else ""
    folders = {name.rpartition("/")[0] for name in names}
    for folder in [*folders]:
        while folder := folder.rpartition("/")[0]:
            folders.add(folder)
    # The index may have folders that were replaced by links.
    links = (f"{one}/" for one in folders if os.path.islink(os.path.join(root, prefix + one)))
    behind = (*links,)
    for name in names:
        if name.endswith("/"):  # a repository of its own, not a submodule
            listing.skip("repository")
        elif name.startswith(behind):
            listing.skip("symlink")
        else:
            found.append(prefix + name)


def _walk(root: str, below: str, listing: Listing, found: list[str]) -> None:
    try:
        entries = sorted(os.scandir(os.path.join(root, below)), key=lambda entry: entry.name)
    except OSError:
        listing.skip("unreadable")
        return
    for entry in entries:
        path = f"{below}/{entry.name}" if below else entry.name
        if entry.is_symlink():
            listing.skip("symlink")
        elif not entry.is_dir(follow_symlinks=False):
            found.append(path)
        elif len(path) > LONGEST_PATH:
            listing.skip("name")
        elif (kind := folder_kind(entry.path)) == "repository":
            _list(root, path, listing, found, GitListing(entry.path))
        elif not kind:
            _walk(root, path, listing, found)


class FolderNames:
    """Kinds of paths, and the states of the folders on the way to them."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self._states: Seen = {}
        self._kinds: dict[str, str] = {}

    def kind(self, path: str) -> str:
        """Return ``file``, ``folder``, or empty for neither, at a normal path from the root. Links
        are followed within the root.
        """
        if path not in self._kinds:
            real = os.path.realpath(os.path.join(self.root, path))
            inside = is_below(f"{self.root}/", f"{real}/")
            for way in (path, os.path.relpath(real, self.root)) if inside else (path,):
                while way:
                    way = os.path.dirname(way)
                    self._states.setdefault(way, self._state(way))
            kind = "folder" if os.path.isdir(real) else "file" if os.path.isfile(real) else ""
            self._kinds[path] = kind if inside else ""
        return self._kinds[path]

    def seen(self, before: Mapping[str, tuple[str, str]]) -> Seen:
        """Return the state of the folders of ``before``, and of those asked about."""
        others = {folder: self._state(folder, before[folder])
                  for folder in before.keys() - self._states.keys()}  # fmt: skip
        return dict(sorted((self._states | others).items()))

    def _state(self, folder: str, before: tuple[str, str] = ("", "")) -> tuple[str, str]:
        """Return stamp and hash of the names in a folder; ``before`` if it has this stamp."""
        from hashlib import sha256

        path = os.path.join(self.root, folder)
        names = []
        try:
            stamp = stamp_of(path)
            stamp = settled(stamp) if "-" in stamp else ""
            if stamp and stamp == before[0]:
                return before
            with os.scandir(path) as entries:
                for entry in entries:
                    kind = os.readlink(entry.path) if entry.is_symlink() else str(entry.is_dir())
                    names.append(f"{entry.name}\0{kind}")
        except OSError:
            stamp = ""  # missing, or not ours to read
        text = "\0".join(sorted(names))
        return stamp, sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
