"""The log as it grows: what is appended, in whichever file it stands."""

from __future__ import annotations

import os
import select
import sys
from typing import TYPE_CHECKING

from .event_log import event_file
from .events import parse_event

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO, Any

_WAIT = 300
"""Milliseconds between two looks."""


class Follower:
    """What is appended from now on. Made before the log is read, it misses nothing of it."""

    def __init__(self) -> None:
        self._file = _opened()
        if self._file is not None:
            self._file.seek(0, os.SEEK_END)
        self._half = b""

    def events(self) -> Iterator[dict[str, Any] | None]:
        """Events as they come, and None whenever there is none at the moment.

        Ends when nobody reads stdout any more.
        """
        while True:
            for line in self._new_lines():
                event = parse_event(line)
                if event is not None:
                    yield event
            yield None
            if self._has_moved():
                continue
            if _nobody_reads(_WAIT):
                return

    def _new_lines(self) -> Iterator[bytes]:
        if self._file is None:
            return
        while line := self._file.readline():
            if not line.endswith(b"\n"):
                self._half += line
                return
            yield self._half + line
            self._half = b""

    def _has_moved(self) -> bool:
        """Whether lines go to another file now; the rest of the old one has been read then."""
        try:
            found = os.stat(event_file())
        except FileNotFoundError:
            return False
        if self._file is not None:
            here = os.fstat(self._file.fileno())
            if (here.st_ino, here.st_dev) == (found.st_ino, found.st_dev):
                return False
            if here.st_size > self._file.tell():
                return True
            self._file.close()
        self._file, self._half = _opened(), b""
        return self._file is not None


def _opened() -> IO[bytes] | None:
    try:
        return open(event_file(), "rb")
    except FileNotFoundError:
        return None


def _nobody_reads(milliseconds: int) -> bool:
    """Waits so long; whether the reader of stdout has gone meanwhile."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return any(what & (select.POLLERR | select.POLLNVAL) for _, what in poll.poll(milliseconds))
