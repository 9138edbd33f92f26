"""List the files of a project."""

from __future__ import annotations

import os

from .files import STORE, is_of_store
from .project_files import LONGEST_PATH, GitListing, folder_kind


class Listing:
    """Sorted paths relative to the root, and the number of skipped files by reason."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.skipped: dict[str, int] = {}

    def skip(self, reason: str) -> None:
        """Count a skipped file."""
        self.skipped[reason] = self.skipped.get(reason, 0) + 1


class FileTree:
    """The files in ``root``/``below``; git starts listing them at once, if possible."""

    def __init__(self, root: str, below: str = "") -> None:
        self._root = root
        self._below = below
        self._asked = GitListing(os.path.join(root, below) if below else root)

    def files(self) -> Listing:
        """Return all plain files that git tracks or would track; without git all but hidden ones
        and those of tools. A repository inside is asked itself."""
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
        if name.endswith("/"):  # a repository inside, not a submodule
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
