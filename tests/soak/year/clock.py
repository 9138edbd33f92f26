"""A clock that can be moved on, for processes and for the files that they have written."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_SOURCE = Path(__file__).with_name("clock.c")
_KEPT = "objects"
"""Of git's folder: nobody asks how old an object is."""


def missing() -> str:
    """Return why there can be no such clock here; empty where there can."""
    if os.uname().sysname != "Linux":
        return "a moved clock needs Linux"
    return "" if shutil.which("cc") else "a moved clock needs a C compiler, cc"


class Clock:
    """So many seconds away from the clock of this machine."""

    def __init__(self, folder: Path, offset: int) -> None:
        self._library = folder / "clock.so"
        self.offset = offset
        self._since = int(time.time())
        words = ["cc", "-shared", "-fPIC", "-O2", "-o", str(self._library), str(_SOURCE)]
        subprocess.run(words, check=True)

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables that a process needs to go by this clock."""
        return {"LD_PRELOAD": str(self._library), "MOVED_CLOCK": str(self.offset),
                "MOVED_SINCE": str(self._since)}  # fmt: skip

    @property
    def now(self) -> int:
        return int(time.time()) + self.offset

    def text(self, ago: int = 0) -> str:
        """This second, or one so many before it, as the store writes it."""
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.now - ago))

    def advance(self, seconds: int, root: Path) -> None:
        """Goes on: what was written below ``root`` is so much older then."""
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
