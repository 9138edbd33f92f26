"""List the files of a project to read."""

from __future__ import annotations

import os

from .files import STORE, is_of_a_store
from .git_process import Process
from .project_files import LEFT_OUT, LISTED, LONGEST_PATH, NOT_SOURCES, is_ignored


class Listing:
    """Paths relative to the root, in order, and how many were left out, by reason."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.skipped: dict[str, int] = {}

    def skip(self, reason: str, count: int = 1) -> None:
        """Count what was left out."""
        if count:
            self.skipped[reason] = self.skipped.get(reason, 0) + count


class FileTree:
    """The files under ``root``/``below``; git begins to list them at once, if it can."""

    def __init__(self, root: str, below: str = "") -> None:
        self._root = root
        self._below = below
        self._asked = GitListing(os.path.join(root, below) if below else root)

    def files(self) -> Listing:
        """Return all files that may be worth reading; symbolic links are not.

        In a git work tree those that git tracks or would track, elsewhere all but
        hidden ones and what tools put beside the sources. A repository inside is
        asked itself.
        """
        listing = Listing()
        found: list[str] = []
        _list(self._root, self._below, listing, found, self._asked)
        every = "".join(found)
        if (
            ".lore/" in every
            or STORE in every
            or not every.isprintable()
            or max(map(len, found), default=0) > LONGEST_PATH
        ):
            found = [path for path in found if _is_named(path, listing)]
        listing.paths = sorted(set(found))
        return listing


def _is_named(path: str, listing: Listing) -> bool:
    """Return whether an id can hold the path; the store's own files have none, and do not count."""
    if path.startswith(".lore/") or "/.lore/" in path or is_of_a_store(path):
        return False
    if len(path) > LONGEST_PATH or not path.isprintable():
        listing.skip("name")
        return False
    return True


class GitListing:
    """A question to git about a folder."""

    __slots__ = ("folder", "ignored", "known")

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.known = self.ask(*LISTED)
        self.ignored = self.ask("ls-files", "-z", "--others", "--ignored", "--exclude-standard",
                                "--directory")  # fmt: skip

    def ask(self, *words: str) -> Process:
        """Ask git about this folder alone; fails where its config has the work tree elsewhere."""
        whole = os.path.abspath(self.folder)
        return Process(self.folder, "--literal-pathspecs", *words, "--", whole)


def _list(root: str, below: str, listing: Listing, found: list[str], asked: GitListing) -> None:
    try:
        out = asked.known.out()
    except TimeoutError:
        asked.ignored.end()
        raise
    left_out = asked.ignored.out()
    if out is None:  # a partial clone may lack a .gitignore, and nothing is fetched
        out = asked.ask("ls-files", "-z", "--cached").out()
    if out is None or (not out and is_ignored(asked.folder)):
        # Somebody wants a folder read that the repository around it ignores as a whole.
        _walk(root, below, listing, found)
        return
    prefix = f"{below}/" if below else ""
    names = _names(out)
    behind = _behind_links(asked.folder, names)
    for name in names:
        if name.endswith("/"):  # a repository of its own, not a submodule
            listing.skip("repository")
        elif name.rpartition("/")[0] in behind:
            listing.skip("symlink")
        else:
            found.append(prefix + name)
    listing.skip("ignored", sum(not name.startswith(".lore") for name in _names(left_out or b"")))


def _behind_links(root: str, names: list[str]) -> set[str]:
    """Return those of the folders of some files that are links, or are reached by one.

    git lists what its index has, though a link may have taken the place of a folder since.
    """
    plain, links = {""}, set[str]()
    for folder in {name.rpartition("/")[0] for name in names}:
        way = []
        while folder not in plain and folder not in links:
            if os.path.islink(os.path.join(root, folder)):
                links.add(folder)
            else:
                way.append(folder)
                folder = folder.rpartition("/")[0]
        (links if folder in links else plain).update(way)
    return links


def _names(out: bytes) -> list[str]:
    """Return the paths of ``-z`` output."""
    return [name for name in os.fsdecode(out).split("\0") if name]


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
        elif entry.is_dir(follow_symlinks=False):
            if len(path) > LONGEST_PATH:
                listing.skip("name")
            elif entry.name[:1] == "." or entry.name in LEFT_OUT:
                listing.skip("ignored")
            elif os.path.exists(os.path.join(entry.path, ".git")):
                _list(root, path, listing, found, GitListing(entry.path))
            elif any(os.path.exists(os.path.join(entry.path, name)) for name in NOT_SOURCES):
                listing.skip("ignored")
            else:
                _walk(root, path, listing, found)
        else:
            found.append(path)
