"""Writers of one store stand in line, so that each has its turn.

SQLite's own waiting is a lottery: who asks at the right moment gets the lock, and with
many writers some never do. Here each draws a number and holds a lock on the byte of that
number in a file beside the store; it is its turn when no lower byte is held. The system
lets go of the bytes of a process that ends, however it ends.

Only the order is kept here, what keeps writers apart is SQLite's lock: without the file
(a folder that takes none, a system without such locks) all goes on, in SQLite's order.
"""

from __future__ import annotations

import fcntl
import os
import stat
import sys
from _thread import LockType, allocate_lock
from time import monotonic, sleep

SUFFIX = "-queue"
"""Of the file beside the store."""

NOTICE = 1.0
"""Seconds after which it is said for whom one waits."""

_NUMBER, _HOLDER = 0, 32
"""Where the file has the next number, and who has the turn: its number, process and command."""

_HOLDER_SIZE = 96
_FIRST = 1 << 32
"""The byte of number 0: locks may lie behind the end of a file."""

_DRAWING = _FIRST - 1
_NEXT_ONE, _FAR = 0.0005, 0.02
"""Seconds between two looks: of the next in line, and of those at its end."""

_doors: dict[str, LockType] = {}
"""Such locks are a process's, not a thread's: threads of one pass through a door before."""

os.register_at_fork(after_in_child=_doors.clear)


def tell(message: str) -> None:
    """Hear for whom a writer waits; what has a person to talk to puts its own in its place."""


class Turn:
    """A place in the line of one store, until ``leave``.

    >>> turn = Turn("/nowhere/search.db")
    >>> turn.wait(1.0)
    True
    >>> turn.leave()
    """

    def __init__(self, path: str) -> None:
        self._path = path + SUFFIX
        self._door = _doors.setdefault(self._path, allocate_lock())
        self._file = -1
        self._inside = False

    def wait(self, seconds: float) -> bool:
        """Wait in line, ``seconds`` at most; return whether it is this one's turn now."""
        end = monotonic() + seconds
        notice = Notice(self)
        while not self._inside:
            self._inside = self._door.acquire(timeout=min(NOTICE, max(0.0, end - monotonic())))
            if not self._inside and monotonic() >= end:
                return False
            notice.due()
        try:
            self._file = _open(self._path)
        except OSError:
            return True
        try:
            return self._stand(end, notice)
        except OSError:  # a file system without locks
            return True

    def _stand(self, end: float, notice: Notice) -> bool:
        own = self._draw(end)
        while not self._is_first(own):
            left = end - monotonic()
            if left <= 0:
                return False
            notice.due()
            ahead = own - self._holder()[0]
            sleep(min(left, _FAR, max(1, ahead) * _NEXT_ONE))
        text = f"{own} {os.getpid()} {_command()}".encode()[: _HOLDER_SIZE - 1]
        os.pwrite(self._file, text.ljust(_HOLDER_SIZE), _HOLDER)
        return True

    def leave(self) -> None:
        """Let the next one have its turn; a second call does nothing."""
        if self._file >= 0:
            os.close(self._file)  # with all locks of this process on it
            self._file = -1
        if self._inside:
            self._inside = False
            self._door.release()

    def whose(self) -> str:
        """Return who has the turn, as far as is known: ``lore import (process 123)``."""
        if not self._inside:
            return "another thread of this program"
        _, process, command = self._holder() if self._file >= 0 else (0, 0, "")
        return f"{command} (process {process})" if process else "another program"

    def _draw(self, end: float) -> int:
        """Return a number that nobody had, its byte locked."""
        while not self._locked(fcntl.LOCK_EX, 1, _DRAWING):
            if monotonic() >= end:
                raise TimeoutError("whoever draws a number does not go on")
            sleep(_NEXT_ONE)
        try:
            number = _number(os.pread(self._file, 20, _NUMBER))
            os.pwrite(self._file, b"%-20d" % (number + 1), _NUMBER)
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _FIRST + number)
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _DRAWING)
        return number

    def _is_first(self, own: int) -> bool:
        # Shared, so that it stands in nobody's way: those behind ask for the same.
        return not own or self._locked(fcntl.LOCK_SH, own, _FIRST)

    def _locked(self, kind: int, length: int, start: int) -> bool:
        """Lock these bytes; False where another process holds some of them."""
        try:
            fcntl.lockf(self._file, kind | fcntl.LOCK_NB, length, start)
        except (BlockingIOError, PermissionError):
            return False
        return True

    def _holder(self) -> tuple[int, int, str]:
        """Return number, process and command of whoever has the turn; zeros where that is not
        known."""
        words = os.pread(self._file, _HOLDER_SIZE, _HOLDER).decode("ascii", "replace").split()
        if len(words) < 3:
            return 0, 0, ""
        command = "".join(c for c in " ".join(words[2:]) if c.isprintable())
        return _number(words[0].encode()), _number(words[1].encode()), command


class Notice:
    """Says once for whom one waits, when that has taken long enough."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._at = monotonic() + NOTICE
        self._said = False

    def due(self) -> None:
        """Print the waiting notice once it is due."""
        if not self._said and monotonic() >= self._at:
            self._said = True
            tell(f"waiting for {self._turn.whose()}, which writes to the store")


def _open(path: str) -> int:
    """Return the file, made where it is not there; never what a link leads to."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    file = os.open(path, flags, 0o600)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(f"{path} is not a plain file")
    return file


def _number(text: bytes) -> int:
    """Return digits as a number from 0 on; what somebody else wrote there is 0."""
    digits = text.strip()
    return int(digits) if digits.isdigit() and len(digits) < 16 else 0


def _command() -> str:
    """Return what this process is, in the words that started it: ``lore import``."""
    words = [word for word in sys.argv[1:2] if word.isascii() and word.isalpha()]
    return " ".join(["lore", *words])
