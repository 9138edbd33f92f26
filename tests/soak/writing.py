"""Random writes of all kinds, by the functions of the commands."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable
from typing import ClassVar

from pylore.code.index import index
from pylore.core import times
from pylore.core.errors import LoreError, StoreError
from pylore.core.settings import Settings
from pylore.embed import open_embedder
from pylore.formats.export import export_lines
from pylore.formats.jsonl import import_lines
from pylore.indexing.embed import embed_missing, embed_store
from pylore.indexing.indexer import rebuild
from pylore.records.records import Records
from pylore.records.runs import Runs
from pylore.store import open_store
from pylore.system.atomic_write import write_whole

IMPORTED = 60  # lines of an import
EXPORT = "knowledge.jsonl"
DELETED = "-"  # before an id that was, or will be, purged

_WORDS = "river stone bridge window garden winter summer paper music silver".split()
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Clock:
    """A replacement for the module ``time`` in ``pylore.core.times``, ``off()`` seconds wrong."""

    strftime = staticmethod(time.strftime)
    strptime = staticmethod(time.strptime)

    def __init__(self, off: Callable[[], int]) -> None:
        self._off = off

    def gmtime(self, seconds: float | None = None) -> time.struct_time:
        return time.gmtime(time.time() + self._off() if seconds is None else seconds)

    def time(self) -> float:
        return time.time() + self._off()

    def time_ns(self) -> int:
        return time.time_ns() + self._off() * 1_000_000_000


class Writer:
    """A process that writes; ``tell`` gets each id after the write."""

    WRITES: ClassVar[dict[str, int]] = {
        **{"add": 30, "edit": 12, "link": 12, "fact": 8, "forget": 6, "restore": 6, "purge": 4},
        **{"hear_of_purge": 6, "import_lines": 8},
        **dict.fromkeys(("run", "reindex", "index", "embed", "export"), 3),
    }
    """Kind of write to its frequency."""
    EXPECTED: tuple[str, ...] = ("forgotten", "a second run", "a day ahead")
    """Errors that other writers may cause."""

    def __init__(
        self,
        folder: str,
        seed: int,
        tell: Callable[[str], object],
        busy_timeout: float = 120,
        embedder: str = "static:l2_supercat_256",
    ) -> None:
        self._chance = random.Random(seed)
        self._folder = folder
        self._name = f"{seed:x}"
        self._tell = tell
        self._store = open_store(folder, busy_timeout=busy_timeout)
        self._embedder = open_embedder(embedder, self._store)
        self._records = Records(self._store, Settings(), self._embedder)
        self._ids: list[str] = []
        self._count = 0

    def close(self) -> None:
        self._store.close()

    def write(self, name: str = "") -> None:
        """Write once, by this kind or any."""
        names, weights = zip(*self.WRITES.items(), strict=True)
        name = name or self._chance.choices(names, weights)[0]
        self._count += 1
        with self._store.faults:
            getattr(self, name)()

    def add(self) -> None:
        change = self._records.add("note", self._text(), tags=["soak"])
        self._tell(change.id)
        self._ids.append(change.id)

    def edit(self) -> None:
        self._with_own(lambda id: self._records.edit(id, text=self._text()))

    def link(self) -> None:
        if len(self._ids) > 1:
            one, other = self._chance.sample(self._ids, 2)
            self._bold(lambda: self._records.link(one, "relates_to", other))

    def fact(self) -> None:
        change = self._records.fact(f"shop {self._chance.randrange(50)}", "uses", self._text())
        self._tell(change.id.split(" ")[0])

    def forget(self) -> None:
        self._with_own(lambda id: self._records.forget([id]))

    def restore(self) -> None:
        self._with_own(lambda id: self._records.restore([id]))

    def purge(self) -> None:
        """Announce a purge, then do it."""
        if self._ids:
            id = self._ids.pop(self._chance.randrange(len(self._ids)))
            self._tell(DELETED + id)
            self._bold(lambda: self._records.forget([id], purge=True))

    def hear_of_purge(self) -> None:
        """Import a proposal to purge a record, which deletes none."""
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())

        def propose(id: str) -> None:
            line = json.dumps({"purged": id, "at": at}).encode()
            import_lines(self._store, Settings(), None, [line])

        self._with_own(propose)

    def run(self) -> None:
        runs = Runs(self._store)
        id = runs.start()
        self._tell(id)
        runs.finish(id, [], [])

    def import_lines(self) -> None:
        ids = [f"note-import{self._name}x{self._count}-{n}" for n in range(IMPORTED)]
        lines = [json.dumps({"id": id, "body": self._text()}).encode() for id in ids]
        import_lines(self._store, Settings(), self._embedder, lines)
        for id in ids:
            self._tell(id)

    def reindex(self) -> None:
        rebuild(self._store, "auto")
        embed_missing(self._store, self._embedder, bulk=True)

    def index(self) -> None:
        root = os.path.dirname(self._folder)
        name = f"f{self._chance.randrange(20)}.py"
        write_whole(os.path.join(root, name), [f"def {self._word()}():\n    return 1\n"])
        index(self._store, Settings(), lambda: self._embedder, root)

    def embed(self) -> None:
        assert self._embedder is not None
        self._bold(lambda: embed_store(self._store, self._embedder, all=True))  # type: ignore[arg-type]

    def export(self) -> None:
        with self._store.snapshot():
            write_whole(os.path.join(self._folder, EXPORT), export_lines(self._store))

    def _with_own(self, write: Callable[[str], object]) -> None:
        if self._ids:
            id = self._chance.choice(self._ids)
            if self._bold(lambda: write(id)):
                self._tell(id)

    def _bold(self, write: Callable[[], object]) -> bool:
        """Return False if a write failed because of other writers."""
        try:
            write()
        except LoreError as error:
            expected = any(part in str(error) for part in self.EXPECTED)
            if isinstance(error, StoreError) or not expected:
                raise
            return False
        return True

    def _text(self) -> str:
        return f"{self._name} {self._count} {self._word()} speaks of {self._word()}"

    def _word(self) -> str:
        if self._chance.random() < 0.5:
            return self._chance.choice(_WORDS)
        return "".join(self._chance.choices(_LETTERS, k=8))


def with_jumps(chance: random.Random) -> None:
    """Let the clock of this process jump by seconds, days and years."""
    jumps = (0, 0, 0, 1, -1, 3600, -3600, 86_400 * 400, -86_400 * 4000)
    vars(times)["time"] = Clock(lambda: chance.choice(jumps))
