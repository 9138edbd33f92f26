"""A machine that works on a store of its own and syncs with a hub, in a process of its own."""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

from pylore.app.engine import Engine
from pylore.core import times
from pylore.core.errors import HubUnavailable, LoreError, StoreBusy, StoreReadOnly
from pylore.core.settings import Settings
from pylore.formats.export import export_lines
from pylore.formats.lines import READS
from pylore.hub.connection import connect
from pylore.hub.lines import Takes
from pylore.hub.sync import HubSync
from pylore.records.records import Records
from pylore.store import Store, create_store, open_store

from .children import Child, Tell
from .writing import Clock

STEPS = {"add": 30, "edit": 16, "link": 12, "unlink": 3, "forget": 5, "restore": 5, "sync": 10,
         "purge": 1}  # fmt: skip
"""What is done, and how often."""

_WORDS = "river stone bridge window garden winter summer paper music silver".split()


def sync(store: Store, url: str, settings: Settings | None = None) -> HubSync:
    """One sync, with all that may be told."""
    engine = Engine(store, settings or Settings(), "")
    with connect(url, "hub") as hub:
        return HubSync(engine, hub, "hub", Takes("scopes=*", "staged")).run()


def exported(folder: str) -> list[str]:
    """All that a store tells, its history too; not how often it was read."""
    with open_store(folder) as store, store.snapshot():
        return [*map(_unread, export_lines(store))]


def _unread(line: str) -> str:
    fields = json.loads(line)
    return json.dumps({name: fields[name] for name in fields if name not in READS})


class Desk:
    """One process of a machine; ``tell`` hears of what is to be, and of what has been done.

    ``off`` is how many seconds its clock is wrong.
    """

    def __init__(self, folder: str, url: str, seed: int, tell: Tell, off: int = 0) -> None:
        self._chance = random.Random(seed)
        self._name = f"{seed:x}"
        self._tell = lambda said: tell(json.dumps(said))
        self._url = url
        self._settings = Settings().changed([("embedder", "none")], "this test")
        self._store = open_store(folder, busy_timeout=60)
        self._records = Records(self._store, self._settings, None)
        self._count = 0
        if off:
            vars(times)["time"] = Clock(lambda: off)
        self._look()

    def live(self) -> None:
        """Goes on until somebody ends it."""
        names, weights = zip(*STEPS.items(), strict=True)
        while True:
            name = self._chance.choices(names, weights)[0]
            with self._store.faults:
                getattr(self, name)()

    def add(self) -> None:
        text = self._text()
        self._said(self._records.add("note", text).id, text)

    def edit(self) -> None:
        id, text = self._one(), self._text()
        if self._bold(lambda: self._records.edit(id, text=text)):
            self._said(id, text)

    def link(self) -> None:
        one, other = self._one(), self._one()
        if one != other:
            self._bold(lambda: self._records.link(one, "relates_to", other))

    def unlink(self) -> None:
        self._bold(lambda: self._records.unlink(self._one(), "relates_to", self._one()))

    def forget(self) -> None:
        self._bold(lambda: self._records.forget([self._one()]))

    def restore(self) -> None:
        self._bold(lambda: self._records.restore([self._one()]))

    def purge(self) -> None:
        id = self._one()
        self._tell({"purging": id})  # which may be done and not told any more
        self._bold(lambda: self._records.forget([id], purge=True))

    def sync(self) -> None:
        """Tells that it went well, or why not."""
        began = self._count
        try:
            done = sync(self._store, self._url, self._settings)
        except (HubUnavailable, StoreBusy, StoreReadOnly) as error:
            self._tell({"late": str(error)})
            time.sleep(self._chance.random())
            return
        self._tell({"synced": began, "refused": done.refused, "skipped": done.came_in.skipped})
        self._look()

    def _look(self) -> None:
        """Sees what there is, of others too."""
        self._ids = [node.id for node in self._store.nodes.all() if node.type == "note"]

    def _one(self) -> str:
        return self._chance.choice(self._ids) if self._ids else "note-none"

    def _bold(self, write: Callable[[], object]) -> bool:
        """Whether a write went well that others may have made impossible."""
        try:
            write()
        except StoreBusy:
            raise
        except LoreError:
            return False
        return True

    def _said(self, id: str, text: str) -> None:
        self._tell({"said": id, "text": text})
        self._ids.append(id)

    def _text(self) -> str:
        self._count += 1
        words = " ".join(self._chance.choices(_WORDS, k=3))
        return f"{self._name} {self._count} speaks of {words}"


class Ledger:
    """What desks have told: what must be there in the end, and how much was done."""

    def __init__(self) -> None:
        self.at_hub: list[tuple[str, str]] = []
        """(id, text) of what desks had written when a sync of theirs went well."""
        self._unsent: dict[str, list[tuple[str, str]]] = {}
        self.said: dict[str, set[str]] = {}
        """Texts that were acknowledged, by id."""
        self.purged: set[str] = set()
        self.counts = {"acknowledged": 0, "syncs": 0, "late": 0, "refused": 0}
        self.reasons: set[str] = set()

    def note(self, told: Iterable[str], who: str = "") -> None:
        """Takes what one desk has told."""
        unsent = self._unsent.setdefault(who, [])
        for one in map(json.loads, told):
            if "said" in one:
                unsent.append((one["said"], one["text"]))
                self.said.setdefault(one["said"], set()).add(one["text"])
                self.counts["acknowledged"] += 1
            elif "purging" in one:
                self.purged.add(one["purging"])
            elif "synced" in one:
                self.counts["syncs"] += 1
                self.at_hub += unsent
                unsent.clear()
                self._refused(one["refused"] + one["skipped"])
            elif "late" in one:
                self.counts["late"] += 1
                self.reasons.add(one["late"])
            else:
                raise AssertionError(one)

    def lost(self, lines: Iterable[str]) -> list[str]:
        """Ids with a text that was acknowledged, and is in no line of an export."""
        there: dict[str, list[str]] = {}
        for line in lines:
            fields = json.loads(line)
            id = fields.get("id") or fields.get("state_of")
            if id:
                there.setdefault(id, []).append(f"{fields.get('title')}\n{fields.get('body')}")
        return [
            id
            for id, texts in self.said.items()
            if id not in self.purged
            and not all(any(text in one for one in there.get(id, [])) for text in texts)
        ]

    def _refused(self, rows: list[Any]) -> None:
        self.counts["refused"] += len(rows)
        self.reasons.update(str(row[1]) for row in rows)
        for row in rows[:3]:
            print(f"refused: {row}", file=sys.stderr)


def started(folder: str, url: str, seed: int, off: int = 0) -> Child:
    """Return a process in which a desk lives; its lines are for ``Ledger.note``."""
    return Child(lambda tell: Desk(folder, url, seed, tell, off).live())


def settle(folders: Iterable[str], url: str) -> None:
    """Syncs all of them until nobody has anything new: twice is enough."""
    for _ in range(2):
        for folder in folders:
            with open_store(folder, busy_timeout=60) as store:
                sync(store, url, Settings().changed([("embedder", "none")], "this test"))


def stores(root: str, count: int) -> list[str]:
    """So many empty ones."""
    folders = [os.path.join(root, f"desk{number}") for number in range(count)]
    for folder in folders:
        create_store(folder).close()
    return folders
