"""Stamps: what one ``stat`` says of a file, so that an unchanged one need not be read.

This module is on the path of every search: it imports nothing heavy.
"""

from __future__ import annotations

import os
from errno import ENOENT, ENOTDIR

GONE = "gone"
"""The stamp of a path at which there is nothing."""


def stamp_of(path: str) -> str:
    """Size, time of the last change of the content, time of the last change of anything.

    The third one, in ns as the second, is not a program's to set: a file that was
    replaced by one of the same size and date has another.

    Raises:
        OSError: the path cannot be looked at, as with a loop of links.
    """
    try:
        found = os.stat(path)
    except OSError as error:
        if error.errno in (ENOENT, ENOTDIR):
            return GONE
        raise
    return f"{found.st_size}-{found.st_mtime_ns}-{found.st_ctime_ns}"


def size_in(stamp: str) -> int:
    """The size in bytes that a stamp has; -1 where it has none."""
    size = stamp.partition("-")[0]
    return int(size) if size.isdigit() else -1
