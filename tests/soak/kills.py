"""Processes that write are killed at random moments, while others go on."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable

from pylore.store import create_store

from . import checks
from .writing import EXPORT, IMPORTED, Writer, with_jumps

WRITERS = 3
LOOK_EVERY = 100
"""Kills between two looks at the whole store."""


class Child:
    """A forked process that writes until it is killed; what it promised comes by a pipe.

    ``printed`` has all that it has printed when it is dead.
    """

    printed = ""

    def __init__(self, folder: str, seed: int) -> None:
        self.seed = seed
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - as long as the child lives
        self._reader, writer = os.pipe()
        self.process = os.fork()
        if not self.process:
            for number in (1, 2):
                os.dup2(self._log.fileno(), number)
            _write(folder, seed, writer)
        os.close(writer)

    def kill(self) -> list[str]:
        """Ends it; the ids that it has given out."""
        os.kill(self.process, signal.SIGKILL)
        _, status = os.waitpid(self.process, 0)
        with os.fdopen(self._reader, "rb") as file:
            said = file.read().decode().split("\n")
        with self._log:
            self._log.seek(0)
            self.printed = self._log.read()
        if os.WIFEXITED(status):
            raise AssertionError(f"a writer ended by itself: {said[-1]}\n{self.printed}")
        return said[:-1]  # the last one may have been cut short


def kill(folder: str, seed: int, go_on: Callable[[int], bool]) -> dict[str, int]:
    """Kills one of a few writers after another, while ``go_on(kills)``.

    Raises:
        AssertionError: a writer failed.
    """
    chance = random.Random(seed)
    create_store(folder).close()
    promised = set(_first(folder, seed))
    numbers = iter(range(seed * 1_000_000, sys.maxsize))
    children = [Child(folder, next(numbers)) for _ in range(WRITERS)]
    done = {"kills": 0, "acknowledged": 0, "lost": 0, "in part": 0, "broken": 0}
    try:
        while go_on(done["kills"]):
            time.sleep(chance.random() ** 2 * 0.2)
            place = chance.randrange(WRITERS)
            child = children.pop(place)
            said = child.kill()
            done["kills"] += 1
            done["lost"] += len(_lost(folder, said, child))
            promised.update(said)
            if done["kills"] % LOOK_EVERY == 0:
                for child in children:
                    promised.update(child.kill())
                    done["kills"] += 1
                children = []
                _look(folder, promised, done)
            while len(children) < WRITERS:
                children.append(Child(folder, next(numbers)))
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


def _lost(folder: str, promised: Iterable[str], child: Child | None = None) -> list[str]:
    """Those of the ids that are not there; the store as it is then is kept, and said where."""
    promised = [*promised]
    lost = checks.lost(folder, promised)
    if lost:
        place = tempfile.mkdtemp(prefix="lore-lost-")
        shutil.copytree(folder, os.path.join(place, "store"))
        with open(os.path.join(place, "promised"), "w", encoding="utf-8") as file:
            file.writelines(f"{id}\n" for id in promised)
        who = f" of the child with the seed {child.seed}" if child else ""
        print(f"lost: {' '.join(lost)}{who}: the store is kept in {place}", file=sys.stderr)
        print(child.printed if child else "", file=sys.stderr)
    return lost


def _first(folder: str, seed: int) -> list[str]:
    """A first few records."""
    said: list[str] = []
    writer = Writer(folder, seed, said.append)
    writer.write("add")
    for _ in range(20):
        writer.write("add")
    writer.close()
    return said


def _write(folder: str, seed: int, pipe: int) -> None:
    """The child's whole life."""
    try:
        chance = random.Random(seed)
        if seed % 4 == 0:
            with_jumps(chance)
        writer = Writer(folder, seed, lambda id: os.write(pipe, f"{id}\n".encode()))
        while True:
            writer.write()
    except BaseException as error:
        traceback.print_exc()
        os.write(pipe, f"{type(error).__name__}: {error}".replace("\n", " ").encode())
    finally:
        os._exit(1)
