"""Folders and files that are this user's alone, whatever the umask says.

This module is on the path of every search: it imports nothing heavy.
"""

from __future__ import annotations

import os

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

    Raises:
        OSError: as ``os.makedirs``.
    """
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    if parent:
        os.makedirs(parent, exist_ok=True)
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
    """Return a file open for appending and reading, for this user alone; its folder is made.

    Raises:
        OSError: it cannot be opened, or is a link.
    """
    make_private_folder(os.path.dirname(path))
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    number = os.open(path, flags, 0o600)
    os.fchmod(number, 0o600)
    return number


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
