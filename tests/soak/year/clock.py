"""A clock that moves, for processes and for the files that they write."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_SOURCE = Path(__file__).with_name("clock.c")
_KEPT = "objects"  # a folder of git's in which times do not matter


def missing() -> str:
    """Return why the clock cannot work here, or ""."""
    if os.uname().sysname != "Linux":
        return "a moved clock needs Linux"
    return "" if shutil.which("cc") else "a moved clock needs a C compiler, cc"


class Clock:
    """A clock that is ``offset`` seconds from the system's."""

    def __init__(self, folder: Path, offset: int) -> None:
        self._library = folder / "clock.so"
        self.offset = offset
        self._since = int(time.time())
        words = ["cc", "-shared", "-fPIC", "-O2", "-o", str(self._library), str(_SOURCE)]
        subprocess.run(words, check=True)

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables of a process with this clock."""
        return {
            "LD_PRELOAD": str(self._library),
            "MOVED_CLOCK": str(self.offset),
            "MOVED_SINCE": str(self._since),
        }

    @property
    def now(self) -> int:
        return int(time.time()) + self.offset

    def text(self, ago: int = 0) -> str:
        """Return the time ``ago`` seconds before now as the store writes it."""
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.now - ago))

    def advance(self, seconds: int, root: Path) -> None:
        """Move the clock forward, and make the files below ``root`` older."""
        for path in _files(root):
            with suppress(FileNotFoundError):
                found = os.lstat(path)
                times = (found.st_atime_ns - seconds * 10**9, found.st_mtime_ns - seconds * 10**9)
                os.utime(path, ns=times, follow_symlinks=False)
        self.offset += seconds


def _files(root: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(root):
        if folder.endswith(".git"):
            folders[:] = [name for name in folders if name != _KEPT]
        yield from (os.path.join(folder, name) for name in (*names, *folders))
