"""The stores of projects: each lies in the user's data folder, in a folder named by its project.

A project's place is its folder; of a git repository, that of the main checkout, for all worktrees.
``config`` finds the project of a working directory. No file of a project is a database, since
other people can write there through git.

This module is on the path of every search: it imports nothing heavy.
"""

from __future__ import annotations

import os

from ..core.errors import LoreError
from . import config
from .config import MARK, SHARED
from .files import STORE, make_private_folder, state_folder, user_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_IDENTITY, _TRUSTED = "project", "trusted"


def store_of(place: str) -> str:
    """Return the folder of the store of the project at ``place``, an absolute path."""
    return config.store_of(place, user_folder("XDG_DATA_HOME", ".local/share"))


def project_of(store: str) -> str:
    """Return the folder of a store's project: its place, or else what the store's folder is in."""
    return place_of(store) or os.path.dirname(store)


def place_of(store: str) -> str:
    """Return the place of the project whose store lies in this folder; empty if there is none."""
    below = os.path.abspath(store).removeprefix(_folder())
    return below.replace(MARK, "/") if below.startswith(MARK) else ""


def make_folder(store: str) -> None:
    """Make the folder of a store, and those above it in the data folder, for this user alone.

    Raises:
        OSError: as ``os.makedirs``.
    """
    if not os.path.isdir(store):
        if store != os.path.dirname(_folder()):
            make_folder(os.path.dirname(store))
        make_private_folder(store)


def remember(store: str) -> None:
    """Note which folder the project of a new store is, so that it is known after a move.

    Raises:
        OSError: the note cannot be written.
    """
    place = place_of(store)
    if place:
        _write(os.path.join(store, _IDENTITY), _identity(place))


def stores() -> Iterator[tuple[str, str]]:
    """Yield the place of each project that has a store, and the store's folder, in order."""
    for folder, below, names in os.walk(_folder()):
        below.sort()
        if STORE in names:
            yield place_of(folder), folder


def is_gone(place: str) -> bool:
    """Return True if there is no project at this place any more."""
    return not any(os.path.exists(os.path.join(place, name)) for name in (SHARED, ".git", "HEAD"))


def moved_to(place: str) -> str:
    """Return the former place of a project that was moved to ``place``; empty if there is none."""
    identity = _identity(place)
    for former, store in stores():
        if is_gone(former) and _read(os.path.join(store, _IDENTITY)) == identity:
            return former
    return ""


def adopt(former: str, place: str) -> str:
    """Make the store of the project that was at ``former`` that of ``place``; return its folder.

    Raises:
        LoreError: there is no such store, its project is still there, or ``place`` has a store.
        OSError: the store cannot be moved.
    """
    source, target = store_of(former), store_of(place)
    _require_store(former)
    if os.path.exists(os.path.join(target, STORE)):
        raise LoreError(f"{place}: has a store already: remove it with 'lore store remove {place}'")
    make_folder(target)
    for name in _files(source):
        os.rename(os.path.join(source, name), os.path.join(target, name))
    _remove_empty(source)
    remember(target)
    return target


def remove(place: str) -> None:
    """Delete the store of a project that is gone.

    Raises:
        LoreError: there is no such store, or its project is still there.
        OSError: a file cannot be deleted.
    """
    from shutil import rmtree

    _require_store(place)
    folder = store_of(place)
    for name in _files(folder):
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            rmtree(path)
        else:
            os.unlink(path)
    _remove_empty(folder)


def is_trusted(store: str) -> bool:
    """Return True if the user trusts the project of this store."""
    return os.path.exists(os.path.join(store, _TRUSTED))


def trust(store: str) -> bool:
    """Trust the project of a store; return True if that is new.

    Raises:
        OSError: it cannot be written down.
    """
    if is_trusted(store):
        return False
    _write(os.path.join(store, _TRUSTED), "")
    return True


def revoke(store: str) -> bool:
    """End the trust in the project of a store; return True if there was any.

    Raises:
        OSError: it cannot be written down.
    """
    if not is_trusted(store):
        return False
    os.unlink(os.path.join(store, _TRUSTED))
    return True


def _folder() -> str:
    return os.path.join(user_folder("XDG_DATA_HOME", ".local/share"), "projects")


def _require_store(place: str) -> None:
    if not os.path.exists(os.path.join(store_of(place), STORE)):
        raise LoreError(f"{place}: has no store: see 'lore store list'")
    if not is_gone(place):
        raise LoreError(f"{place}: the project is still there: move or delete it first")


def _files(folder: str) -> list[str]:
    """Return the files of a store, the database last; folders of nested projects are not of it."""
    names = [entry.name for entry in os.scandir(folder) if not entry.name.startswith(MARK[1:])]
    return sorted(names, key=lambda name: (name == STORE, name))


def _remove_empty(folder: str) -> None:
    try:
        os.removedirs(folder)
    except OSError:
        return  # another project's store is below


def _identity(place: str) -> str:
    """Return what stays the same when a folder is moved within its file system."""
    try:
        return str(os.stat(place).st_ino)
    except OSError:
        return ""


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:
            return file.read().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _write(path: str, text: str) -> None:
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(number, "w", encoding="ascii") as file:
        file.write(f"{text}\n")


def is_known(root: str) -> bool:
    """Return whether this user has anchored a record to the folder ``root``, a real path."""
    return root in _roots()


def trust_root(root: str) -> None:
    """Add a folder to the list, if it is not there. Where that cannot be written, it is not."""
    if not root or "\n" in root or root in _roots():
        return
    path = _file()
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except OSError:
        return
    with os.fdopen(number, "w", encoding="utf-8") as file:
        file.write(root + "\n")


def _roots() -> frozenset[str]:
    try:
        with open(_file(), encoding="utf-8") as file:
            return frozenset(file.read().split("\n")[:-1])
    except (OSError, UnicodeDecodeError):
        return frozenset()


def _file() -> str:
    return os.path.join(state_folder(), "roots")
