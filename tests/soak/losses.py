"""Power cuts at random moments, and a disk that is full at each write in turn."""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Callable

from pylore.core.errors import StoreError
from pylore.store import create_store, open_store

from . import checks
from .disks import FullDisk, LosingDisk, used
from .writing import IMPORTED, Writer

_CALLS = 40  # changes of files between two power cuts, on average


def cut_power(seed: int, go_on: Callable[[int], bool]) -> dict[str, int]:
    """Write, and check the files after each power cut, while ``go_on(cuts)``."""
    chance = random.Random(seed)
    done = {"cuts": 0, "acknowledged": 0, "lost": 0, "in part": 0, "broken": 0}
    promised: list[str] = []
    left: list[tuple[tempfile.TemporaryDirectory[str], list[str]]] = []

    def at() -> None:
        if disk.ready and not chance.randrange(_CALLS):
            left.append((tempfile.TemporaryDirectory(), [*promised]))
            disk.left(left[-1][0].name)

    disk = LosingDisk(f"losing {seed}", chance, at)
    with tempfile.TemporaryDirectory() as root, used(disk):
        folder = os.path.join(root, "store")
        create_store(folder).close()
        disk.ready = True
        # A second connection: without it each write would end in a checkpoint, and syncs.
        writer, other = Writer(folder, seed, promised.append), open_store(folder)
        while go_on(done["cuts"]):
            writer.write()
            while left:
                image, ids = left.pop()
                _look(image, ids, done)
        disk.ready = False
        writer.close()
        other.close()
    done["acknowledged"] = len(promised)
    return done


def _look(image: tempfile.TemporaryDirectory[str], ids: list[str], done: dict[str, int]) -> None:
    with image as folder, used(FullDisk("plain")):
        done["cuts"] += 1
        done["lost"] += len(checks.lost(folder, ids))
        done["in part"] += len(checks.in_part(folder, IMPORTED))
        done["broken"] += len(checks.broken(folder))


def fill(
    seed: int, names: tuple[str, ...] = tuple(Writer.WRITES), stride: int = 1
) -> dict[str, int]:
    """Try each kind of write on a disk for 0, ``stride``, … changes, until it succeeds."""
    done = {"full": 0, "writes": 0, "lost": 0, "in part": 0, "broken": 0}
    disk = FullDisk(f"full {seed}")
    with tempfile.TemporaryDirectory() as root:
        folder = os.path.join(root, "store")
        create_store(folder).close()
        promised: list[str] = []
        for number, name in enumerate(names):
            room, refused = 0, True
            while refused:
                refused = _refused(disk, folder, seed + number, name, room, promised)
                done["full"] += refused
                room += stride
                done["lost"] += len(checks.lost(folder, promised))
            done["writes"] += 1
            done["in part"] += len(checks.in_part(folder, IMPORTED))
            done["broken"] += len(checks.broken(folder))
    return done


def _refused(
    disk: FullDisk, folder: str, seed: int, name: str, room: int, promised: list[str]
) -> bool:
    """Return True if a write fails on the full disk, after two writes with room."""
    with used(disk):
        disk.room = 1 << 60
        writer = Writer(folder, seed, promised.append)
        try:
            writer.write("add")
            writer.write("add")
            disk.room = room
            writer.write(name)
        except StoreError as error:
            assert "disk is full" in str(error), error
            return True
        finally:
            disk.room = 1 << 60
            writer.close()
    return False
