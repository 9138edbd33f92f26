"""Stamps: what one ``stat`` says of a file, so that an unchanged one need not be read.

This module is on the path of every search: it imports nothing heavy.
"""

from __future__ import annotations

import os
from errno import ENOENT, ENOTDIR
from stat import S_ISDIR, S_ISLNK, S_ISREG
from time import time_ns

from ..core.errors import LoreError

GONE = "gone"
"""The stamp of a path at which there is nothing."""

_RACY_NS = 500_000_000
"""A file that changed so little ago may change again and keep its time."""


def stamp_of(path: str) -> str:
    """Return size, time of the last change of the content, time of the last change of anything.

    The third one, in ns as the second, is not a program's to set: a file that was replaced by one
    of the same size and date has another. Raise OSError if the path cannot be examined, as with a
    loop of links.
    """
    try:
        return _stamp(os.stat(path))
    except OSError as error:
        if error.errno not in (ENOENT, ENOTDIR):
            raise
        return GONE


def lstamp_of(path: str) -> str:
    """Return ``stamp_of`` of the path itself: a link is not followed.

    What is not a plain file, or cannot be examined, has the reason for it, a word without
    a dash: gone, symlink, submodule (a folder), special.
    """
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
    """Return the stamp of a file, or nothing where it could be written again within the same
    time."""
    newest = max(map(int, stamp.split("-")[1:]))
    return stamp if time_ns() - newest > _RACY_NS else ""


def size_in(stamp: str) -> int:
    """Return the size in bytes that a stamp has; -1 where it has none."""
    size = stamp.partition("-")[0]
    return int(size) if size.isdigit() else -1


GUARD = "LORE_IN_PLUGIN"
"""Set for a plugin's process: what it calls runs no event plugins."""

_SECRET = 32
"""Bytes of what nobody else knows."""


def user_folder(variable: str, default: str) -> str:
    """Return lore's folder below the one that an XDG variable names, or the default in HOME.

    As the specification has it, a relative path does not count.
    """
    base = os.environ.get(variable, "")
    if not base.startswith("/"):
        base = os.path.join(os.path.expanduser("~"), default)
    return os.path.join(base, "lore")


def cache_of(path: str, kind: str) -> str:
    """Return where the user's cache keeps what is made of a file. Its name does not depend on the
    file's state: what is made of another one replaces it."""
    from ..core.ids import sha256

    name = f"{kind}-{sha256(os.path.abspath(path).encode(errors='replace')).hexdigest()[:16]}"
    return os.path.join(user_folder("XDG_CACHE_HOME", ".cache"), name)


def state_folder() -> str:
    """Return the user's own folder for what lore notes down."""
    return user_folder("XDG_STATE_HOME", ".local/state")


def own_folder(plugin_dir: str) -> str:
    """Return the user's own folder of commands and plugins: the setting ``plugin_dir``, or the
    usual."""
    return plugin_dir or os.path.join(user_folder("XDG_CONFIG_HOME", ".config"), "commands")


def has_event_plugins(plugin_dir: str) -> bool:
    """Return whether there may be event plugins: one look, after which most commands load nothing
    more."""
    folder = own_folder(plugin_dir)
    try:
        return any(name.startswith("lore-hook-") for name in os.listdir(folder))
    except OSError:
        return os.path.isdir(folder)


def make_private_folder(path: str) -> None:
    """Make a folder that nobody else may enter; one that is there stays as it is.

    Missing folders above it are made so too: the XDG specification asks for mode 0700 of the base
    folders that a program makes (https://specifications.freedesktop.org/basedir-spec/). Raise
    OSError if as ``os.makedirs``.
    """
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    if parent:
        make_private_folder(parent)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:  # another process was first, or it is not a folder
        if not os.path.isdir(path):
            raise
        return
    os.chmod(path, 0o700)


def make_private_file(path: str) -> None:
    """Make an empty file that nobody else may read, if nothing has this name; follow no link."""
    try:
        number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return
    os.fchmod(number, 0o600)
    os.close(number)


def open_private_log(path: str) -> int:
    """Return a file open for appending and reading, for this user alone; its folder is made. Raise
    OSError if it cannot be opened, or is a link.
    """
    make_private_folder(os.path.dirname(path))
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    number = os.open(path, flags, 0o600)
    os.fchmod(number, 0o600)
    return number


def append_line(path: str, line: bytes, most: int) -> None:
    """Append a line, or some, in one write to a log of this user's alone.

    A log of ``most`` bytes is renamed to ``path.1`` in place of the one before: nothing is copied.
    Raise OSError if it cannot be written.
    """
    number = open_private_log(path)
    try:
        os.write(number, line)
        if os.fstat(number).st_size >= most:
            os.rename(path, f"{path}.1")
    finally:
        os.close(number)


def user_secret() -> bytes:
    """Return 32 secret bytes: the same ones each time, if they can be kept."""
    path = os.path.join(user_folder("XDG_DATA_HOME", ".local/share"), "secret")
    secret = _read_secret(path)
    if secret:
        return secret
    fresh = os.urandom(_SECRET)
    beside = f"{path}.{os.getpid()}"
    try:
        make_private_folder(os.path.dirname(path))
        number = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.write(number, fresh)
            os.link(beside, path)  # which fails where another process was first
        finally:
            os.close(number)
            os.unlink(beside)
    except OSError:
        return _read_secret(path) or fresh
    return fresh


def _read_secret(path: str) -> bytes:
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        found = os.read(number, _SECRET)
    except OSError:
        return b""
    finally:
        os.close(number)
    return found if len(found) == _SECRET else b""


SHARED = ".lore"
"""The folder of a project that holds what its collaborators share."""

STORE = "search.db"
LOG, READS, READS_TAKEN = "-wal", "-reads", "-reads-taken"
"""Suffixes of the files beside a store."""


def is_of_store(path: str) -> bool:
    """Return True if a file is a store, or one that SQLite or lore keeps beside it, by its name.

    A process that reads it loses the locks that it has on it: they end when any handle is closed.
    """
    name = path.rpartition("/")[2]
    return name == STORE or name.startswith(f"{STORE}-")


def require_no_store(path: str) -> None:
    """Raise LoreError if a file to be written is a store, or one beside it."""
    if is_of_store(os.path.realpath(path)):
        advice = "name another file ('lore store backup' copies a store, 'lore export' its text)"
        raise LoreError(f"{path}: is a store, or belongs to one: {advice}")


def identity_of(path: str) -> tuple[int, int] | None:
    """Return what tells a file from every other one, device and inode; None: there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
