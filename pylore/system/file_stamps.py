"""Stamps: what one ``stat`` says of a file, so that an unchanged one need not be read.

This module is on the path of every search: it imports nothing heavy.
"""

from __future__ import annotations

import os
from errno import ENOENT, ENOTDIR
from stat import S_ISDIR, S_ISLNK, S_ISREG
from time import time_ns

GONE = "gone"
"""The stamp of a path at which there is nothing."""

noted: dict[str, str] | None = None
"""Path to stamp of all that is examined, while somebody wants to know; empty: it cannot be."""

_RACY_NS = 500_000_000
"""A file that changed so little ago may change again and keep its time."""


def stamp_of(path: str) -> str:
    """Return size, time of the last change of the content, time of the last change of anything.

    The third one, in ns as the second, is not a program's to set: a file that was
    replaced by one of the same size and date has another.

    Raises:
        OSError: the path cannot be examined, as with a loop of links.
    """
    stamp = ""
    try:
        stamp = _stamp(os.stat(path))
    except OSError as error:
        if error.errno not in (ENOENT, ENOTDIR):
            raise
        stamp = GONE
    finally:
        if noted is not None:
            noted[path] = stamp
    return stamp


def note(path: str) -> None:
    """Note a file whose content is going to be read, while somebody wants to know."""
    if noted is not None:
        try:
            stamp_of(path)
        except OSError:
            return  # that is noted, too


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
