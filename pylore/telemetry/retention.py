"""How long events are kept: whole files of the log go, the oldest first."""

from __future__ import annotations

import os
from calendar import timegm
from time import gmtime, strptime, time

from .event_log import event_file, lock, put_away, put_away_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_DAY = 86_400
_MEGABYTE = 1_000_000


class Swept:
    """A file of events that is dropped, or due to be."""

    __slots__ = ("file", "size", "why")

    def __init__(self, file: str, size: int, why: str) -> None:
        self.file = file
        self.size = size
        """Bytes."""
        self.why = why


def sweep_events(days: int, megabytes: int, *, dry_run: bool = False) -> list[Swept]:
    """Drops files whose last line was written more than ``days`` ago, then the oldest ones until
    all of them have at most so many ``megabytes``; 0: no such limit. What was dropped, or is due.

    The file that lines are appended to stays, unless nothing was appended to it for so long.

    Raises:
        OSError: a file cannot be deleted.
    """
    due = [*_due(days, megabytes)]
    if not dry_run:
        for one in due:
            _drop(one.file)
    return due


def _due(days: int, megabytes: int) -> Iterator[Swept]:
    oldest = (int(time()) // _DAY - days) * _DAY if days else None
    files = [(path, *_stand(path)) for path in [*put_away_files(), event_file()]]
    left = sum(size for _, size, _ in files)
    for path, size, written in files:
        if not size:
            continue
        why = ""
        if oldest is not None and written < oldest:
            why = "age"
        elif megabytes and left > megabytes * _MEGABYTE and path != event_file():
            why = "size"
        if why:
            left -= size
            yield Swept(path, size, why)


def _stand(path: str) -> tuple[int, int]:
    """A file's bytes, and when its last line was written: by its name, which a copy keeps."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return 0, 0
    try:
        day = timegm(strptime(os.path.basename(path)[:10], "%Y-%m-%d"))
    except ValueError:
        day = int(found.st_mtime)
    return found.st_size, day


def _drop(path: str) -> None:
    """Deletes a file, once nobody is appending to it; one that has grown since stays."""
    try:
        number = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        lock(number)
        found = os.fstat(number)
        if path == event_file():
            if gmtime(found.st_mtime)[:3] == gmtime()[:3] or not put_away(path, found):
                return
            for moved in reversed(put_away_files()):
                if os.stat(moved).st_ino == found.st_ino:
                    os.unlink(moved)
                    return
            return
        os.unlink(path)
    except FileNotFoundError:
        return  # another sweep was faster
    finally:
        os.close(number)
