"""Paths, and stamps of unchanged files; private files of lore; the store of a project, and trust.

A store is in a folder of the user's data folder, named by a random token. It belongs to a
repository, or without git to a folder: never to a path. A clone at the path of a deleted project
has a different store. ``stores`` makes, adopts and removes stores.
"""

from __future__ import annotations

import os
from errno import ENOENT, ENOTDIR
from stat import S_ISDIR, S_ISLNK, S_ISREG
from time import time_ns

from ..core.errors import LoreError
from ..core.text import composed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

GONE = "gone"
"""The stamp of a missing path."""

_RACY_NS = 500_000_000
"""A file changed within this time may change again and keep the same time."""


def spelled(path: str) -> str:
    """Return a path with the accents of each name as on disk; composed if the name is missing."""
    if path.isascii():
        return path
    folder, name = os.path.split(path)
    folder = spelled(folder)
    try:
        names = os.listdir(folder or ".")
    except OSError:
        names = []
    if name not in names:
        name = next((one for one in names if composed(one) == composed(name)), composed(name))
    return os.path.join(folder, name)


def leads_down(path: str) -> bool:
    """Return True if a path from a project's root stays below it, apart from links."""
    return path != "" and path[0] != "/" and "\0" not in path and ".." not in path.split("/")


def stamp_of(path: str) -> str:
    """Return size, time of the last change of the content, and of anything, in ns, which no program
    can set. Raise OSError if the path cannot be examined, as with a loop of links."""
    try:
        return _stamp(os.stat(path))
    except OSError as error:
        if error.errno not in (ENOENT, ENOTDIR):
            raise
        return GONE


def lstamp_of(path: str) -> str:
    """Return ``stamp_of`` without following links; for other files ``gone``, ``symlink``,
    ``submodule`` (a folder) or ``special``."""
    try:
        found = os.lstat(path)
    except OSError:
        return GONE
    mode = found.st_mode
    if S_ISREG(mode):
        return _stamp(found)
    return "symlink" if S_ISLNK(mode) else "submodule" if S_ISDIR(mode) else "special"


def _stamp(found: os.stat_result) -> str:
    return f"{found.st_size}-{max(found.st_mtime_ns, 0)}-{found.st_ctime_ns}"  # may be before 1970


def settled(stamp: str) -> str:
    """Return the stamp of a file; empty if it could be written again within the same time."""
    newest = max(map(int, stamp.split("-")[1:]))
    return stamp if time_ns() - newest > _RACY_NS else ""


def size_in(stamp: str) -> int:
    """Return the size in bytes in a stamp, or -1."""
    size = stamp.partition("-")[0]
    return int(size) if size.isdigit() else -1


GUARD = "LORE_IN_PLUGIN"
"""Set in the environment of a plugin: commands of the plugin run no event plugins."""


def user_folder(variable: str, default: str, environ: Mapping[str, str] = os.environ) -> str:
    """Return lore's folder in that of an XDG variable (ignored if relative), or the default in the
    user's home. Raise LoreError without a home."""
    base = environ.get(variable, "")
    if not base.startswith("/"):
        base = os.path.join(environ.get("HOME") or os.path.expanduser("~"), default)
    if not base.startswith("/"):
        raise LoreError(f"no home folder: set HOME or {variable}")
    return os.path.join(base, "lore")


def state_folder() -> str:
    """Return the user's folder of logs."""
    return user_folder("XDG_STATE_HOME", ".local/state")


def own_folder(plugin_dir: str) -> str:
    """Return the user's folder of commands and plugins."""
    return plugin_dir or os.path.join(user_folder("XDG_CONFIG_HOME", ".config"), "commands")


def make_private_folder(path: str) -> None:
    """Create a folder, and missing parents, with mode 0700. The XDG specification requires that
    mode (https://specifications.freedesktop.org/basedir-spec/)."""
    if os.path.isdir(path):
        return
    make_private_folder(os.path.dirname(path) or ".")
    try:
        os.mkdir(path, 0o700)
        os.chmod(path, 0o700)
    except FileExistsError:  # a second process was first, or it is not a folder
        if not os.path.isdir(path):
            raise


def make_private_file(path: str) -> None:
    """Create an empty file with mode 0600 unless the path exists; follow no link."""
    try:
        number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return
    os.fchmod(number, 0o600)
    os.close(number)


def open_private_log(path: str) -> int:
    """Return a private file, open for appending and reading; create the folder."""
    make_private_folder(os.path.dirname(path))
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    number = os.open(path, flags, 0o600)
    os.fchmod(number, 0o600)
    return number


def append_line(path: str, line: bytes, most: int) -> None:
    """Append to a private log in a single write; at ``most`` bytes rename it to ``path.1``."""
    number = open_private_log(path)
    try:
        os.write(number, line)
        if os.fstat(number).st_size >= most:
            os.rename(path, f"{path}.1")
    finally:
        os.close(number)


def beginning_of(path: str, most: int) -> bytes:
    """Return the first bytes of a file; empty for a link, a pipe, or an unreadable file."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(number, most)
    except OSError:  # a folder, or a pipe with a writer
        return b""
    finally:
        os.close(number)


SHARED = ".lore"
"""The folder of a project with the files that collaborators share."""
STORE = "search.db"
LOG = "-wal"
"""Suffix of a store's log."""


def is_of_store(path: str) -> bool:
    """Return True for the name of a store, or of a file of SQLite for it. A process must not open
    these: closing any handle drops the locks."""
    name = path.rpartition("/")[2]
    return name == STORE or name.startswith(f"{STORE}-")


def identity_of(path: str) -> tuple[int, int] | None:
    """Return device and inode of a file; None if it is missing."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


# --- the store of a project

TOKENS = "lore"
"""The file in a git folder with a line for each project: a token, and the way to the project."""
_MOST_TOKENS = 16_384
"""Bytes of that file that are read."""
FOLDERS = ".folders"
"""The folder next to the stores with a symlink for each project without git."""
RECORD = "project"
"""The symlink in a store's folder; the text identifies the store's project."""
_TOKEN = 20
"""Hexadecimal digits of a token: 80 random bits."""
_LONGEST_LINE = 20_000
_TRUSTED = "trusted"
_MOST_ROOTS = 1 << 20
"""Bytes of the list of folders that are read."""


class ProjectFolder:
    """A project, and the way to its store.

    In a repository the token is in the file ``TOKENS`` of the git folder, which is neither cloned
    nor committed. Without git it is in a symlink in the user's data folder, under the inode of the
    project's ``.lore``. The store must confirm by its ``RECORD`` that it belongs here, so a token
    from an archive opens no store.

    Attributes:
        folder: the project's folder; in a worktree, the worktree's.
        git: the git folder that all worktrees share; empty without one of the user's own.
        below: way from the repository's top folder to the project, with a slash before it.
        data: the user's data folder, or empty.
        place: as ``folder``, but in a worktree of the main checkout.
        key: the folder that the store is bound to: ``git``, or the project's ``.lore``.
        inode: inode of ``key``; empty if that is missing or another user's.
        changed: time of the last change of ``key``.
        record: the text of the ``RECORD`` of its store.
    """

    def __init__(self, folder: str, git: str, below: str, data: str) -> None:
        self.folder, self.git, self.data = folder, git, data
        self.below = below if git else ""
        self.key = git or f"{folder}/{SHARED}"
        self.place = _place_of(self.key, self.below)
        self.inode = self.changed = ""
        try:
            found = os.stat(self.key)
        except OSError:
            found = None
        if found and found.st_uid == os.geteuid():
            self.inode, self.changed = str(found.st_ino), str(found.st_ctime_ns)
        self.record = f"{self.inode} {self.key}\n{self.below}"

    def bound(self) -> str:
        """Return the folder of the store that the key names and that confirms it, or empty."""
        token = self.inode and self.token()
        confirmed = token and link_text(self.path_of(token, RECORD)) == self.record
        return self.path_of(token) if confirmed else ""

    def token(self) -> str:
        """Return the token of the key; empty without any. Without git it is empty if the key was
        changed, since the inode may be of a different folder now."""
        if not self.git:
            token, _, rest = link_text(self.path_of(FOLDERS, self.inode)).partition(" ")
            return token if rest.endswith(f" {self.changed}") and is_token(token) else ""
        return next((line[:_TOKEN] for line in self.lines() if line[_TOKEN:] == self.below), "")

    def lines(self) -> list[str]:
        """Return the lines of ``TOKENS`` that begin with a token."""
        lines = os.fsdecode(beginning_of(f"{self.git}/{TOKENS}", _MOST_TOKENS)).split("\n")
        return [line for line in lines if is_token(line[:_TOKEN])]

    def path_of(self, *names: str) -> str:
        """Return a path below the folder of all stores."""
        return "/".join((self.data, "projects", *names))


def is_token(text: str) -> bool:
    """Return True if a text has the form of a token."""
    return len(text) == _TOKEN and not text.strip("0123456789abcdef")


def _place_of(key: str, below: str) -> str:
    return key.removesuffix("/.git").removesuffix(f"/{SHARED}") + below or "/"


def find_project(here: str, data: str) -> ProjectFolder | None:
    """Return the project that a folder lies in, None outside of one: the nearest folder with a
    ``.lore``, or a repository that has a store."""
    above, folder = here.rstrip("/"), ""
    while True:
        if not folder and os.path.isdir(f"{above}/{SHARED}"):
            folder = above or "/"
        git = git_folder(above)
        if git is not None and folder:
            below = folder.removeprefix(above)
            return ProjectFolder(folder, "" if "\n" in below else git, below, data)
        if git and data:
            found = ProjectFolder(above or "/", git, "", data)
            token = found.token()
            if token and os.path.isfile(found.path_of(token, STORE)):
                return found
        if not above:
            return ProjectFolder(folder, "", "", data) if folder else None
        above = above.rpartition("/")[0]


def nearest_with(folder: str, entries: Collection[str]) -> str:
    """Return the nearest folder, from ``folder`` up, that has one of ``entries``; "" if none."""
    while not any(os.path.lexists(os.path.join(folder, entry)) for entry in entries):
        if folder == "/":
            return ""
        folder = os.path.dirname(folder)
    return folder


def git_folder(folder: str) -> str | None:
    """Return the git folder that all worktrees of a checkout share, None without a ``.git``. It is
    empty if the ``.git`` is of a different user, or may point to a different repository: a link, or
    a file that the repository does not know."""
    path = f"{folder}/.git"
    try:
        found = os.lstat(path)
    except OSError:
        return None
    if found.st_uid != os.geteuid():
        return ""
    if S_ISDIR(found.st_mode):
        return path
    if not S_ISREG(found.st_mode):
        return ""
    entry = os.path.realpath(os.path.join(folder, first_line(path).removeprefix("gitdir: ")))
    if os.path.basename(os.path.dirname(entry)) != "worktrees":
        return ""
    # The repository must know the worktree: a .git file from an archive may name any folder.
    try:
        known = os.path.samefile(os.path.join(entry, first_line(f"{entry}/gitdir")), path)
    except OSError:
        return ""
    return os.path.dirname(os.path.dirname(entry)) if known else ""


def first_line(path: str) -> str:
    """Return the first line of a file; empty if it cannot be read."""
    return os.fsdecode(beginning_of(path, _LONGEST_LINE).partition(b"\n")[0])


def link_text(path: str) -> str:
    """Return the text of a symlink; empty if it is missing."""
    try:
        return os.readlink(path)
    except OSError:
        return ""


def project_of(store: str) -> str:
    """Return the folder of a store's project; without one the parent of the store's folder."""
    recorded = recorded_project(store)
    return recorded[0].place if recorded else os.path.dirname(store)


def recorded_project(store: str) -> tuple[ProjectFolder, str] | None:
    """Return the present project that a store names, and the recorded inode; None without a
    project."""
    inode, _, rest = link_text(os.path.join(store, RECORD)).partition(" ")
    key, _, below = rest.rpartition("\n")
    if not key:
        return None
    git = "" if key.endswith(f"/{SHARED}") else key
    data = os.path.dirname(os.path.dirname(store))
    return ProjectFolder(_place_of(key, below), git, below, data), inode


def is_trusted(store: str) -> bool:
    """Return True if the user trusts the project of this store."""
    return os.path.exists(os.path.join(store, _TRUSTED))


def trust(store: str, *, trusted: bool = True) -> bool:
    """Trust the project of a store, or end the trust; return True if that is a change."""
    if is_trusted(store) == trusted:
        return False
    path = os.path.join(store, _TRUSTED)
    make_private_file(path) if trusted else os.unlink(path)
    return True


# --- other folders that records are anchored to


def is_known(root: str) -> bool:
    """Return True if this user has anchored a record to the folder ``root``, a real path."""
    path = os.path.join(state_folder(), "roots")
    return root in os.fsdecode(beginning_of(path, _MOST_ROOTS)).split("\n")[:-1]


def trust_root(root: str) -> None:
    """Add a folder to the list, if that can be written."""
    if root and "\n" not in root and not is_known(root):
        try:
            path = os.path.join(state_folder(), "roots")
            append_line(path, os.fsencode(f"{root}\n"), 2 * _MOST_ROOTS)
        except OSError:
            return
