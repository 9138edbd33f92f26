"""Files that are written whole, and never through a link that leaves the project."""

from __future__ import annotations

import os

from ..core.errors import LoreError
from .interrupts import Tidying
from .links import real_place
from .temporary import abandoned, hold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_MARK = ".lore-"
"""Between the name of a file and the process that writes it, in the name it has until then."""

_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write_whole(path: str, lines: Iterable[str], *, private: bool = False) -> None:
    """Puts a file of these lines at ``path``: whoever reads it has the old one or the new one.

    What is there and is not a plain file (a pipe, a device) is written into; of a link within
    the project (see ``real_place``), what it leads to is replaced. ``private``: nobody
    else may read it.

    Raises:
        LoreError: it cannot be written, or a link on the way leads out of the project; what
            was there is as it was.
    """
    try:
        if _is_open_file(path):
            with open(path, "w", encoding="utf-8", newline="\n") as out:
                out.writelines(lines)
            return
        with Tidying():
            _write(real_place(path), lines, private)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise LoreError(f"{path}: {error.strerror}: nothing was written") from None


def _is_open_file(path: str) -> bool:
    """Whether this names a file that the process has open: a link by its nature."""
    folder, name = os.path.split(path)
    if path in ("/dev/stdout", "/dev/stderr"):
        return True
    of_process = folder.startswith("/proc/") and folder.endswith("/fd") and ".." not in folder
    return name.isdigit() and (folder == "/dev/fd" or of_process)


def _write(place: str, lines: Iterable[str], private: bool) -> None:
    """Into a path without links; one that has come meanwhile is not followed."""
    folder, name = os.path.split(place)
    parent = _open_folder(folder)
    try:
        if _is_plain(parent, name):
            _replace(parent, name, lines, private)
        else:
            number = os.open(name, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
            with open(number, "w", encoding="utf-8", newline="\n") as out:
                out.writelines(lines)
    finally:
        os.close(parent)


def _open_folder(folder: str) -> int:
    """A folder by its real path, held step by step, so that no link can get between."""
    number = os.open("/", _FOLDER)
    for part in filter(None, folder.split("/")):
        try:
            following = os.open(part, _FOLDER, dir_fd=number)
        finally:
            os.close(number)
        number = following
    return number


def _is_plain(parent: int, name: str) -> bool:
    """Whether a plain file has this name, or nothing."""
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode & 0o170000 == 0o100000
    except FileNotFoundError:
        return True


def _replace(parent: int, name: str, lines: Iterable[str], private: bool) -> None:
    _remove_abandoned(parent)
    beside = f".{name[:50]}{_MARK}{os.getpid()}"  # a letter may have four of 255 bytes
    number = os.open(beside, _NEW, 0o600 if private else 0o666, dir_fd=parent)
    try:
        with open(number, "w", encoding="utf-8", newline="\n") as out:
            hold(number)
            mode = 0o600 if private else _mode_of(parent, name)
            if mode is not None:
                os.fchmod(number, mode)
            out.writelines(lines)
            out.flush()
            os.fsync(number)
        os.replace(beside, name, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        _remove(parent, beside)
        raise


def _mode_of(parent: int, name: str) -> int | None:
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode & 0o7777
    except FileNotFoundError:
        return None


def _remove_abandoned(parent: int) -> None:
    """Takes away what processes that were killed here had begun to write."""
    try:
        number = os.open(".", os.O_RDONLY | os.O_CLOEXEC, dir_fd=parent)
    except OSError:  # it may be entered and not read
        return
    names = os.listdir(number)
    os.close(number)
    for name in names:
        before, mark, process = name.rpartition(_MARK)
        if mark and before.startswith(".") and abandoned(name, process, parent):
            _remove(parent, name)


def _remove(parent: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=parent)
    except OSError:
        return
