"""Kill writing processes at random moments."""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial

from pylore.store import create_store

from . import checks
from .children import Child, Tell
from .writing import EXPORT, IMPORTED, Writer, with_jumps

WRITERS = 3
LOOK_EVERY = 100  # kills between two full checks of the store


def kill(folder: str, seed: int, go_on: Callable[[int], bool]) -> dict[str, int]:
    """Kill writers, while ``go_on(kills)``; raise AssertionError if a writer failed."""
    chance = random.Random(seed)
    create_store(folder).close()
    promised: set[str] = set()
    numbers = iter(range(seed * 1_000_000, sys.maxsize))

    def writer() -> Child:
        return Child(partial(_write, folder, next(numbers)))

    children = [writer() for _ in range(WRITERS)]
    done = {"kills": 0, "acknowledged": 0, "lost": 0, "in part": 0, "broken": 0}
    try:
        while go_on(done["kills"]):
            time.sleep(chance.random() ** 2 * 0.2)
            place = chance.randrange(WRITERS)
            said = children.pop(place).kill()
            done["kills"] += 1
            done["lost"] += len(_lost(folder, said))
            promised.update(said)
            if done["kills"] % LOOK_EVERY == 0:
                for child in children:
                    promised.update(child.kill())
                    done["kills"] += 1
                children = []
                _look(folder, promised, done)
            while len(children) < WRITERS:
                children.append(writer())
    finally:
        for child in children:
            promised.update(child.kill())
            done["kills"] += 1
    _look(folder, promised, done)
    done["acknowledged"] = len(promised)
    return done


def _look(folder: str, promised: set[str], done: dict[str, int]) -> None:
    lost = _lost(folder, promised)
    parts = checks.in_part(folder, IMPORTED)
    broken = checks.broken(folder)
    broken += ["export"] if checks.cut_short(os.path.join(folder, EXPORT)) else []
    for what, found in (("lost", lost), ("in part", parts), ("broken", broken)):
        done[what] += len(found)
        for text in found[:5]:
            print(f"{what}: {text}", file=sys.stderr)


def _lost(folder: str, promised: Iterable[str]) -> list[str]:
    """Return the missing ids; with any, print the place of a copy of the store."""
    lost = checks.lost(folder, promised)
    if lost:
        place = shutil.copytree(folder, os.path.join(tempfile.mkdtemp(), "store"))
        print(f"lost: {' '.join(lost)}: see the store in {place}", file=sys.stderr)
    return lost


def _write(folder: str, seed: int, tell: Tell) -> None:
    chance = random.Random(seed)
    if seed % 4 == 0:
        with_jumps(chance)
    writer = Writer(folder, seed, tell)
    while True:
        writer.write()
