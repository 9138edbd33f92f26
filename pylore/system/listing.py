"""List the files and folders of a project, and detect changes."""

from __future__ import annotations

import os

from .files import STORE, is_of_store, settled, stamp_of
from .git_process import Process
from .project_files import LEFT_OUT, LISTED, LONGEST_PATH, NOT_SOURCES, is_below, is_ignored

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

    def skip(self, reason: str, count: int = 1) -> None:
        """Count what was left out."""
        if count:
            self.skipped[reason] = self.skipped.get(reason, 0) + count


class FileTree:
    """The files under ``root``/``below``; git begins to list them at once, if it can."""

    def __init__(self, root: str, below: str = "") -> None:
        self._root = root
        self._below = below
        self._asked = _ask_git(os.path.join(root, below) if below else root)

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


def _ask_git(folder: str) -> tuple[Process, Process]:
    """Ask git for the files of a folder, and for the ignored ones."""
    ignored = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    return _ask(folder, *LISTED), _ask(folder, *ignored)


def _ask(folder: str, *words: str) -> Process:
    # The whole path: git fails if its config has the work tree elsewhere.
    return Process(folder, "--literal-pathspecs", *words, "--", os.path.abspath(folder))


def _list(
    root: str, below: str, listing: Listing, found: list[str], asked: tuple[Process, Process]
) -> None:
    folder, (known, ignored) = os.path.join(root, below) if below else root, asked
    try:
        out = known.out()
    except TimeoutError:
        ignored.end()
        raise
    left_out = ignored.out()
    if out is None:  # a partial clone may lack a .gitignore, and nothing is fetched
        out = _ask(folder, "ls-files", "-z", "--cached").out()
    if out is None or (not out and is_ignored(folder)):
        # A person wants a folder read that the repository around it ignores as a whole.
        _walk(root, below, listing, found)
        return
    prefix = f"{below}/" if below else ""
    names = _names(out)
    behind = _behind_links(folder, names)
    for name in names:
        if name.endswith("/"):  # a repository of its own, not a submodule
            listing.skip("repository")
        elif name.rpartition("/")[0] in behind:
            listing.skip("symlink")
        else:
            found.append(prefix + name)
    listing.skip("ignored", sum(not name.startswith(".lore") for name in _names(left_out or b"")))


def _behind_links(root: str, names: list[str]) -> set[str]:
    """Return the folders of files that are links, or are behind one: the index may have folders
    that were replaced by links.
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
                _list(root, path, listing, found, _ask_git(entry.path))
            elif any(os.path.exists(os.path.join(entry.path, name)) for name in NOT_SOURCES):
                listing.skip("ignored")
            else:
                _walk(root, path, listing, found)
        else:
            found.append(path)


_MOST_LINKS = 40


class FolderNames:
    """Kinds of paths, from one listing of each folder."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self._listed: dict[str, dict[str, str]] = {}
        self._stamps: dict[str, str] = {}
        self._kinds: dict[str, str] = {}

    def kind(self, path: str) -> str:
        """Return ``file``, ``folder``, or empty for neither, at a normal path from the root. Links
        are followed within the root.
        """
        found = self._kinds.get(path)
        if found is None:
            found = self._kinds[path] = self._kind(path, _MOST_LINKS)
        return found

    def _kind(self, path: str, links: int) -> str:
        if path in ("", "."):
            return "folder"
        folder, kind, parts = "", "folder", path.split("/")
        for number, name in enumerate(parts):
            if kind != "folder" or name == "..":
                return ""
            kind = self._names(folder).get(name, "")
            folder = f"{folder}/{name}" if folder else name
            if kind.startswith("link"):
                real = os.path.realpath(os.path.join(self.root, folder))
                if not links or not is_below(f"{self.root}/", f"{real}/"):
                    return ""
                there = os.path.relpath(real, self.root).replace(os.sep, "/")
                rest = parts[number + 1 :]
                return self._kind(os.path.normpath("/".join([there, *rest])), links - 1)
        return kind

    def _names(self, folder: str) -> dict[str, str]:
        if folder in self._listed:
            return self._listed[folder]
        self._stamps[folder] = self._stamp(folder)
        names = self._listed[folder] = dict[str, str]()
        try:
            with os.scandir(os.path.join(self.root, folder)) as entries:
                for entry in entries:
                    if entry.is_symlink():
                        names[entry.name] = "link " + os.readlink(entry.path)
                    else:
                        kind = "file" if entry.is_file() else "special"
                        names[entry.name] = "folder" if entry.is_dir() else kind
        except OSError:
            pass  # missing, or not ours to read
        return names

    def _stamp(self, folder: str) -> str:
        try:
            stamp = stamp_of(os.path.join(self.root, folder))
        except OSError:
            return ""
        return settled(stamp) if "-" in stamp else ""

    def seen(self, before: Mapping[str, tuple[str, str]]) -> Seen:
        """Return the state of the folders of ``before``, and of those asked about."""
        from hashlib import sha256

        found: Seen = {}
        for folder in sorted({*before, *self._listed}):
            was = before.get(folder, ("", ""))
            if folder not in self._listed and was[0] and was[0] == self._stamp(folder):
                found[folder] = was
                continue
            names = self._names(folder)
            text = "\0".join(f"{name}\0{kind}" for name, kind in sorted(names.items()))
            hash = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
            found[folder] = (self._stamps[folder], hash)
        return found
