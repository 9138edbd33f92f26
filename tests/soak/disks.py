"""File systems for apsw: disks that lose unsynced data, and full disks."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import apsw

from pylore.store import opening as sqlite


class Disk(apsw.VFS):
    """The system's disk with hooks before each change of a file.

    ``written(path, offset, data)``, ``synced(path)``, ``cut(path, size)`` and
    ``removed(path)`` are for subclasses; one that raises fails the change.
    """

    def __init__(self, name: str) -> None:
        self.vfs = name
        super().__init__(name, "")

    def xOpen(self, name: object, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        path = name.filename() if isinstance(name, apsw.URIFilename) else str(name or "")
        return _File(self, path, name, flags)

    def xDelete(self, name: str, sync: bool) -> None:  # noqa: N802
        super().xDelete(name, sync)
        self.removed(name)

    def written(self, path: str, offset: int, data: bytes) -> None: ...
    def synced(self, path: str) -> None: ...
    def cut(self, path: str, size: int) -> None: ...
    def removed(self, path: str) -> None: ...


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, path: str, name: object, flags: list[int]) -> None:
        self._disk = disk
        self._path = path
        super().__init__("", name, flags)  # type: ignore[arg-type]

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._disk.written(self._path, offset, bytes(data))
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:  # noqa: N802
        self._disk.cut(self._path, size)
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        self._disk.synced(self._path)


@contextmanager
def used(disk: Disk) -> Iterator[None]:
    """Open stores on this disk within the context."""
    connect = apsw.Connection

    def connection(name: str, flags: int = 0) -> apsw.Connection:
        return connect(name, flags=flags, vfs=disk.vfs) if flags else connect(name)

    stand_in = type("apsw", (), {"__getattr__": lambda self, name: getattr(apsw, name)})()
    stand_in.Connection = connection
    patched: Any = sqlite
    patched.apsw, kept = stand_in, patched.apsw
    try:
        yield
    finally:
        patched.apsw = kept


Change = tuple[str, int, bytes]
"""``write`` at an offset, or ``cut`` to a size."""


class LosingDisk(Disk):
    """Record the content of each file after a power cut at any moment."""

    def __init__(self, name: str, chance: random.Random, at: Callable[[], object]) -> None:
        self._chance = chance
        self._at = at
        self.ready = False
        self._safe: dict[str, bytearray] = {}
        self._unsafe: dict[str, list[Change]] = {}
        super().__init__(name)

    def written(self, path: str, offset: int, data: bytes) -> None:
        self._unsafe.setdefault(path, []).append(("write", offset, data))
        self._at()

    def cut(self, path: str, size: int) -> None:
        self._unsafe.setdefault(path, []).append(("cut", size, b""))
        self._at()

    def synced(self, path: str) -> None:
        for change in self._unsafe.pop(path, []):
            _apply(self._safe.setdefault(path, bytearray()), change)
        self._at()

    def removed(self, path: str) -> None:
        self._safe.pop(path, None)
        self._unsafe.pop(path, None)
        self._at()

    def left(self, folder: str) -> None:
        """Write the files after a power cut into ``folder``: synced data and random other data."""
        share = self._chance.choice((0.0, 0.5, 0.9, 1.0))
        for path in filter(None, self._safe.keys() | self._unsafe.keys()):
            content = bytearray(self._safe.get(path, b""))
            for change in self._unsafe.get(path, []):
                if self._chance.random() < share:
                    _apply(content, self._torn(change))
            with open(os.path.join(folder, os.path.basename(path)), "wb") as file:
                file.write(content)

    def _torn(self, change: Change) -> Change:
        """Return a change, at times cut to the first sectors."""
        kind, offset, data = change
        if len(data) > 512 and self._chance.random() < 0.2:
            data = data[: 512 * self._chance.randrange(1, len(data) // 512 + 1)]
        return kind, offset, data


def _apply(content: bytearray, change: Change) -> None:
    kind, offset, data = change
    if kind == "cut":
        del content[offset:]
        return
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data


class FullDisk(Disk):
    """Accept ``room`` writes, then fail."""

    def __init__(self, name: str) -> None:
        self.room = 1 << 60
        super().__init__(name)

    def written(self, path: str, offset: int, data: bytes) -> None:
        if self.room <= 0:
            raise apsw.FullError("no room")
        self.room -= 1
