"""Stamps that detect unchanged files; lore's private files and folders."""

from __future__ import annotations

import os
from errno import ENOENT, ENOTDIR
from stat import S_ISDIR, S_ISLNK, S_ISREG
from time import time_ns

from ..core.errors import LoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

GONE = "gone"
"""The stamp of a missing path."""

_RACY_NS = 500_000_000
"""A file changed within this time may change again and keep the same time."""


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
    return f"{found.st_size}-{found.st_mtime_ns}-{found.st_ctime_ns}"


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


def require_no_store(path: str) -> None:
    """Raise LoreError if a file to be written is a store, or a file of SQLite for it."""
    if is_of_store(os.path.realpath(path)):
        advice = "name another file ('lore store backup' copies a store, 'lore export' its text)"
        raise LoreError(f"{path}: is a file of a store: {advice}")


def identity_of(path: str) -> tuple[int, int] | None:
    """Return device and inode of a file; None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
