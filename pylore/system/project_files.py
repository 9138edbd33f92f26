"""List and read the files of a project, only listed files; paths and lines as a store has them.

Paths in a store, an export or a document may point anywhere, and a clone may hold links, pipes and
a git index of any kind.
"""

from __future__ import annotations

import os
from stat import S_ISREG

from ..core.errors import LoreError, UsageError
from ..core.text import split_location
from .files import STORE, is_of_store, leads_down, nearest_with, spelled
from .git_process import Process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


LONGEST_PATH = 900
"""Characters of a path: an id holds it, and the name of a symbol after it."""
LEFT_OUT = frozenset({"node_modules", "__pycache__", "site-packages"})
NOT_SOURCES = ("pyvenv.cfg", "CACHEDIR.TAG")  # files in folders that belong to a tool
MISSING = "is missing, or not a plain file"
"""The reason for not listing a file that may be read."""
_NOT_LISTED = "is ignored by git, or hidden"
OWN_FOLDERS = frozenset((".git", ".lore"))


def is_below(folder: str, path: str) -> bool:
    """Return True if a path is in a folder; both without links and dots."""
    return path.startswith(folder.rstrip(os.sep) + os.sep)


def _is_in(folder: str, path: str) -> bool:
    return path == folder or is_below(folder, path)


def place_within(root: str, path: str) -> str:
    """Return the real path of a path from the project's root; raise LoreError if it is outside."""
    try:
        base = os.path.realpath(root)
        full = os.path.realpath(os.path.join(base, path))
    except (OSError, ValueError):
        full = base = ""
    if not leads_down(path) or not _is_in(base, full):
        raise LoreError("leads out of the project")
    return full


def path_in_store(path: str, root: str) -> str:
    """Return a path with ``/``, relative to the project's root if inside, or if the working
    directory is inside."""
    full = os.path.realpath(spelled(path))
    base = os.path.realpath(root) if root else ""
    is_relative = is_below(base, os.getcwd()) and not os.path.isabs(path)
    if base and (is_relative or _is_in(base, full)):
        path = os.path.relpath(full, base)
    return os.path.normpath(path).replace(os.sep, "/")


def location_in_store(file: str, root: str) -> tuple[str | None, int | None, int | None]:
    """Return path, first and last line of ``PATH[:FIRST[-LAST]]``, the path as ``path_in_store``;
    None without them. Raise UsageError for line 0."""
    path, first, last = split_location(file)
    if first == 0:
        raise UsageError(f"{file}: invalid line 0: the first line is 1")
    return path_in_store(path, root) if file else None, first, last


def read_plain(path: str, most: int) -> bytes:
    """Return the content of a plain file; no link is followed. Raise OSError, or LoreError if it is
    not a plain file, longer than ``most`` bytes, or a store."""
    if is_of_store(path):
        raise LoreError("is a file of a store")
    # Non-blocking, or a pipe would hold us up.
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        if not S_ISREG(os.fstat(number).st_mode):
            raise LoreError("is not a plain file")
        with os.fdopen(number, "rb", closefd=False) as file:
            content = file.read(most + 1)
        if len(content) > most:
            raise LoreError(f"is longer than {most} bytes")
        return content
    finally:
        os.close(number)


class GitListing:
    """The files that git tracks or would track, in a folder or among ``paths``; git is started at
    once."""

    def __init__(self, folder: str, paths: Iterable[str] = ()) -> None:
        # Complete paths: git fails if the config has a different work tree.
        self._wanted = [os.path.abspath(os.path.join(folder, path)) for path in paths or [""]]
        self._folder = folder
        self._asked = self._ask("--cached", "--others", "--exclude-standard")

    def _ask(self, *options: str) -> Process:
        words = ("--literal-pathspecs", "ls-files", "-z", *options, "--", *self._wanted)
        return Process(self._folder, *words)

    def names(self) -> list[str] | None:
        """Return the files; None if the folder has to be walked: without git, or if a person wants
        a folder read that the repository around ignores completely."""
        out = self._asked.out()
        if out is None:  # a partial clone may lack a .gitignore, and nothing is fetched
            out = self._ask("--cached").out()
        ignored = ("check-ignore", "-q", ".")
        if out is None or (not out and Process(self._folder, *ignored).out() is not None):
            return None
        return [name for name in os.fsdecode(out).split("\0") if name]


class Listed:
    """Filter files to the files that ``lore index`` lists, by a single call of git."""

    def __init__(self, root: str, paths: Iterable[str]) -> None:
        self._root = os.path.realpath(root)
        self._why = {path: self._refused(path) for path in paths}
        self._wanted = [path for path, why in self._why.items() if not why]
        self._asked = GitListing(self._root, self._wanted) if self._wanted else None

    def why_not(self, path: str) -> str:
        """Return why a file is not listed; empty if it is."""
        if self._asked is not None:
            try:
                names = self._asked.names()
            except TimeoutError:
                names = []
            for wanted in self._wanted:
                if not (_is_walked(self._root, wanted) if names is None else wanted in names):
                    self._why[wanted] = _NOT_LISTED
            self._asked = None
        return self._why.get(path, _NOT_LISTED)

    def _refused(self, path: str) -> str:
        if not path.isprintable() or len(path) > LONGEST_PATH:
            return "has a name that cannot be kept"
        if not OWN_FOLDERS.isdisjoint(path.lower().split("/")):
            return "is not a file of the project itself"
        full = os.path.join(self._root, path)
        if not leads_down(path) or os.path.realpath(full) != full:
            try:
                place_within(self._root, path)
            except LoreError as error:
                return str(error)
            return "is behind a link"
        return "" if os.path.isfile(full) else MISSING


def folder_kind(path: str) -> str:
    """Return how a walk treats a folder: ``ignored`` (hidden, or of a tool), ``repository``, or an
    empty text to walk it."""
    name = os.path.basename(path)
    if name[:1] == "." or name in LEFT_OUT:
        return "ignored"
    if os.path.lexists(os.path.join(path, ".git")):
        return "repository"
    of_tool = any(os.path.exists(os.path.join(path, mark)) for mark in NOT_SOURCES)
    return "ignored" if of_tool else ""


def _is_walked(root: str, path: str) -> bool:
    folder, rest = root, path
    while "/" in rest:
        name, _, rest = rest.partition("/")
        folder = os.path.join(folder, name)
        if kind := folder_kind(folder):
            return kind == "repository" and not Listed(folder, [rest]).why_not(rest)
    return True


def real_place(path: str) -> str:
    """Return ``path`` without links; raise LoreError for a link out of the project, see
    ``project_of``. Outside of a project the link of a folder may point anywhere, since no clone has
    brought it; the link of a file must point into the folder."""
    whole = os.path.join(os.getcwd(), path)
    ends = [at for at, letter in enumerate(whole) if at and letter == "/"]
    for end in (*ends, len(whole)):
        link = whole[:end]
        if os.path.islink(link) and not link.startswith(("/dev/fd", "/dev/std")):  # maybe pipes
            folder, target = os.path.realpath(os.path.dirname(link)), os.path.realpath(link)
            project = project_of(folder)
            if (project or link == whole) and not _is_in(project or folder, target):
                of = f"the project {project}" if project else folder
                hint = "name the target, or remove the link"
                raise LoreError(f"{path}: {link} is a link out of {of}, to {target}: {hint}")
    return os.path.realpath(whole)


def project_of(folder: str) -> str | None:
    """Return the project that a folder (a real path) lies in, if any. Without a ``.lore`` or a
    ``.git`` above, that is the working directory, unless it is home or above it."""
    if found := nearest_with(folder, OWN_FOLDERS):
        return found
    here, home = os.getcwd(), os.path.realpath(os.path.expanduser("~"))
    return here if _is_in(here, folder) and not _is_in(here, home) else None


# --- listing


class Listing:
    """Sorted paths from the root, skipped files by reason; ``is_walked`` if git did not list."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.is_walked = False
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
        and those of tools. A repository inside lists its files."""
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
        listing.is_walked = True
        _walk(root, below, listing, found)
        return
    prefix = f"{below}/" if below else ""
    folders = {name.rpartition("/")[0] for name in names}
    for folder in [*folders]:
        while folder := folder.rpartition("/")[0]:
            folders.add(folder)
    # The index may have folders that were replaced by links.
    behind = tuple(f"{one}/" for one in folders if os.path.islink(f"{root}/{prefix}{one}"))
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
