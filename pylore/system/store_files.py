"""The files of a store, for who does not open it: their names, and whether it has changed.

No such file may be opened but by SQLite in a process that has the store open: to close it drops
all locks that the process has on it, whatever it was opened for. Another process may then take
itself for the last one, and delete the log into which this one goes on writing.

Here and not in ``store``, since who asks for this loads no driver. The names are those that
``store`` gives its files; a test holds them together.
"""

from __future__ import annotations

import os
from time import time_ns

from ..core.errors import LoreError
from .file_stamps import GONE

STORE = "search.db"
LOG, INDEX, JOURNAL, READS, READS_TAKEN = "-wal", "-shm", "-journal", "-reads", "-reads-taken"
"""Suffixes of the files beside a store."""

_HEADER_OF_LOG = 32
"""Bytes, with two numbers that are others whenever the log starts again."""

_RACY_NS, _RACY_OF_COARSE_NS = 500_000_000, 2_000_000_000
"""A file that changed so little ago may change again and keep its time; the second one where
a file system's times seem to have no parts of seconds."""


_open: list[str] = []
"""The stores that this process has open, each as often as it has."""


def note_open(path: str) -> None:
    """Know from now on that this process has a store open."""
    if path:
        _open.append(path)


def note_closed(path: str) -> None:
    """Forget it again."""
    if path in _open:
        _open.remove(path)


def is_of_a_store(path: str) -> bool:
    """Return whether a file is a store, or one that SQLite or lore keeps beside it, by its name."""
    name = path.rpartition("/")[2]
    return name == STORE or name.startswith(f"{STORE}-")


def is_open_store(path: str) -> bool:
    """Return whether a file is one of a store that this process has open, under any name."""
    if not _open:
        return False
    identity = identity_of(path)
    return identity is not None and any(
        identity_of(store + behind) == identity
        for store in {*_open}
        for behind in ("", INDEX, LOG, JOURNAL)
    )


def require_no_store(path: str) -> None:
    """Let a file pass that somebody has named for text to be read from, or written to.

    Raises:
        LoreError: it is a store, or a file beside one.
    """
    if is_of_a_store(os.path.realpath(path)) or is_of_a_store(path) or is_open_store(path):
        advice = "name another file ('lore backup' copies a store, 'lore export' writes its text)"
        raise LoreError(f"{path}: is a store, or belongs to one: {advice}")


def identity_of(path: str) -> tuple[int, int] | None:
    """Return what tells a file from every other one, device and inode; None: there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


class StoreState:
    """A text that stays equal as long as nobody writes to a store (``text``).

    It is empty where there is none, and where this process has it open, and may not look.

    What is committed goes into the log, which grows or starts again with another head, or into
    the file, so that the time of one of them is another. Of the file that is also the time that
    no program sets (``st_ctime``); the log has it from whoever opens it, where that is root.
    """

    __slots__ = ("_newest", "reads", "text")

    def __init__(self, folder: str) -> None:
        self._newest = 0
        path = os.path.realpath(os.path.join(folder, STORE))
        parts = [self._stamp(path), self._stamp(path + JOURNAL), self._stamp(path + LOG, log=True)]
        if parts[-1] != GONE:
            parts.append(GONE if path in _open else _beginning(path + LOG))
        self.text = "" if parts[0] == GONE or path in _open else " ".join((path, *parts))
        self.reads = [self._stamp(path + READS), self._stamp(path + READS_TAKEN)]

    @property
    def settled(self) -> bool:
        """Return whether the next change will leave another time on a file."""
        coarse = self._newest % 1_000_000_000 == 0
        racy = _RACY_OF_COARSE_NS if coarse else _RACY_NS
        return self.text != "" and time_ns() - self._newest > racy

    def _stamp(self, path: str, *, log: bool = False) -> str:
        try:
            found = os.stat(path)
        except OSError:
            return GONE
        if log and not found.st_size:
            return GONE  # one without anything in it comes and goes with who reads
        changed = found.st_mtime_ns if log else found.st_ctime_ns
        self._newest = max(self._newest, found.st_mtime_ns, changed)
        return f"{found.st_dev}:{found.st_ino}:{found.st_size}:{found.st_mtime_ns}:{changed}"


def read_since(folder: str, before: list[str], now: list[str]) -> bytes | None:
    """Return what readers have noted between two states of ``StoreState.reads``; None: more than
    that."""
    (first, taken), (second, taken_now) = before, now
    if taken != taken_now or second == GONE:
        return None
    start = 0
    if first != GONE:
        old, new = first.split(":"), second.split(":")
        if old[:2] != new[:2]:
            return None
        start = int(old[2])
    try:
        with open(os.path.realpath(os.path.join(folder, STORE)) + READS, "rb") as file:
            file.seek(start)
            return file.read()
    except OSError:
        return None


def _beginning(path: str) -> str:
    try:
        with open(path, "rb", buffering=0) as file:
            return (file.read(_HEADER_OF_LOG) or b"").hex()
    except OSError:
        return GONE
