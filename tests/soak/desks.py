"""Processes that write to a store and sync with a hub."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable
from typing import ClassVar

from pylore.app import Engine
from pylore.core import times
from pylore.core.errors import StoreDamaged, StoreError
from pylore.core.settings import Settings
from pylore.formats.export import export_lines
from pylore.formats.lines import READS
from pylore.hub.connection import connect
from pylore.hub.sync import HubSync, Takes
from pylore.store import Store, create_store, open_store

from .children import Child, Tell
from .writing import Clock, Writer

_LATE, _SYNCED = "~", "!"


def sync(store: Store, url: str) -> HubSync:
    """Sync once, with all that may be shared."""
    engine = Engine(store, Settings().changed([("embedder", "none")], "test"), "")
    with connect(url, "hub") as hub:
        return HubSync(engine, hub, Takes("scopes=*", "staged")).run()


def exported(folder: str) -> list[str]:
    """Return the export of a store without counts of reads."""
    with open_store(folder) as store, store.snapshot():
        lines = [*map(json.loads, export_lines(store))]
    return [json.dumps({name: line[name] for name in line if name not in READS}) for line in lines]


class Desk(Writer):
    """A writer with a clock that is ``off`` seconds wrong."""

    WRITES: ClassVar[dict[str, int]] = {
        **{"add": 30, "edit": 16, "link": 15, "forget": 5, "restore": 5, "sync": 10, "purge": 1}
    }
    EXPECTED = ("",)  # other desks may have changed any record

    def __init__(self, folder: str, url: str, seed: int, tell: Tell, off: int = 0) -> None:
        super().__init__(folder, seed, tell, busy_timeout=60, embedder="none")
        self._url = url
        if off:
            vars(times)["time"] = Clock(lambda: off)
        self._look()

    def sync(self) -> None:
        """Report the refused lines, or why the hub failed."""
        try:
            done = sync(self._store, self._url)
        except StoreError as error:
            if isinstance(error, StoreDamaged):
                raise
            self._tell(f"{_LATE}{error}".replace("\n", " "))
            time.sleep(self._chance.random())
            return
        self._tell(_SYNCED + json.dumps([str(row) for row in done.refused + done.came_in.skipped]))
        self._look()

    def _look(self) -> None:
        self._ids = [node.id for node in self._store.nodes.all() if node.type == "note"]


class Ledger:
    """The reports of desks: ``promised`` ids for ``checks.lost``, and numbers."""

    def __init__(self) -> None:
        self.promised: set[str] = set()
        self.counts = {"acknowledged": 0, "syncs": 0, "late": 0, "refused": 0}

    def note(self, lines: Iterable[str]) -> None:
        """Add the lines of a desk."""
        for line in lines:
            if line[0] == _SYNCED:
                refused = json.loads(line[1:])
                self.counts["syncs"] += 1
                self.counts["refused"] += len(refused)
                for row in refused[:3]:
                    print(f"refused: {row}", file=sys.stderr)
            elif line[0] == _LATE:
                self.counts["late"] += 1
            else:
                self.promised.add(line)
                self.counts["acknowledged"] += 1


def started(folder: str, url: str, seed: int, off: int = 0) -> Child:
    """Return a process in which a desk lives; its lines are for ``Ledger.note``."""

    def live(tell: Tell) -> None:
        desk = Desk(folder, url, seed, tell, off)
        while True:
            desk.write()

    return Child(live)


def settle(folders: Iterable[str], url: str) -> None:
    """Sync all stores twice, after which they are the same."""
    for _ in range(2):
        for folder in folders:
            with open_store(folder, busy_timeout=60) as store:
                sync(store, url)


def stores(root: str, count: int) -> list[str]:
    """Create empty stores; return their folders."""
    folders = [os.path.join(root, f"desk{number}") for number in range(count)]
    for folder in folders:
        create_store(folder).close()
    return folders
