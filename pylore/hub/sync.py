"""Sync a store with a hub, and report the state of both."""

from __future__ import annotations

import json
from copy import copy
from hashlib import md5
from typing import TYPE_CHECKING

from ..core.times import now
from ..formats.jsonl import Imported, ImportOptions, LineImport
from ..indexing.embed import embed_missing
from ..store.remotes import RemoteProgress
from .connection import ahead
from .lines import extra_lines, lines_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from ..app.engine import Engine
    from ..store import Store
    from .connection import Hub
    from .lines import Line, Takes

SENT_AT_ONCE = 4000
"""Lines of a sent batch; a line of more than ``_LONG`` characters ends the batch."""
_LONG = 20_000

READ_AT_ONCE = 10_000
"""Lines of a read batch."""

_PULL = "SELECT seq, line FROM lore.lines WHERE seq > %s AND line <> '' ORDER BY seq LIMIT %s"
_KNOWN = (
    "SELECT DISTINCT md5(id) FROM lore.lines, unnest(ARRAY[owner, split_part(key, E'\\x1f', 2)]) id"
    " WHERE seq > %s AND kind <> 'purged' AND line <> '' AND md5(id) = ANY (%s)"
)
_COUNTS = """
SELECT count(*), (SELECT count(*) FROM lore.nodes WHERE NOT gone),
  count(*) FILTER (WHERE seq > %s AND line <> '') FROM lore.lines
"""


class HubSync:
    """A sync with a hub; ``all``: send and read old lines again.

    ``came_in`` is the result of merging; ``sent`` and ``known`` are numbers of lines, new and old
    at the hub. ``refused`` lists (id, why). ``anew``: the hub lost lines. ``may_only_read``: a role
    without the right to send, or empty.
    """

    def __init__(
        self,
        engine: Engine,
        hub: Hub,
        takes: Takes,
        *,
        all: bool = False,
        progress: Callable[[int], None] = lambda lines: None,
    ) -> None:
        self.came_in = Imported()
        self.sent = self.known = self.read = 0
        self.refused: list[tuple[str, str]] = []
        self._engine, self._store, self._hub = engine, engine.store, hub
        self._takes, self._progress, self._new = takes, progress, set[str]()
        self._at = engine.store.remotes.get(hub.name)
        self._state = self._begin(all)
        self.may_only_read = "" if self._state["may_write"] else self._state["role"]

    def _begin(self, all: bool) -> dict[str, Any]:
        """Read the state of the hub; start over if the hub or the filter has changed."""
        at = self._at
        state = self._hub.hello(at.mark)
        self.anew = not state["holds"]
        if all or self.anew:
            at.read, at.mark, at.sent = 0, [0, None], -1
        if at.takes != self._takes.words:
            at.sent = -1
        if at.sees != state["sees"]:
            at.read = 0
        at.takes, at.sees = self._takes.words, state["sees"]
        self._end, self._since = state["end"], at.read
        return state

    def run(self) -> HubSync:
        """Send, read, and send results of merging; call ``progress`` with the lines of each batch.

        Raises:
            LoreError: the hub failed or refused; finished batches remain.
        """
        with self._store.faults:
            if not self.may_only_read:
                self._push()
            self._pull()
            if self.read and not self.may_only_read:
                self._push()
        return self

    def _keep(self) -> None:
        if self._store.remotes.get(self._hub.name) != self._at:
            with self._store.transaction():
                self._store.remotes.put(self._at)

    # --- sending

    def _push(self) -> None:
        at = self._at
        with self._store.snapshot():
            until = self._store.changes.last_command()
            extra = extra_lines(self._store, self._takes)
            digest = md5(repr(extra).encode()).hexdigest()
            is_new = at.sent < 0 or digest != at.extra
            for batch in ahead(_batches(self._lines(until, *extra, is_new=is_new))):
                text = json.dumps([line[1:] for line in batch], ensure_ascii=False)
                done = self._hub.ask("SELECT lore.push(%s)", [text])[0][0]
                refused = [(batch[place][0], why) for place, why in done["refused"]]
                self.refused += refused
                self.sent += done["taken"]
                self.known += len(batch) - done["taken"] - len(refused)
                self._end = at.mark = done["end"]
                at.wrote = at.wrote or done["taken"] > 0
                if done["before"] <= at.read:  # no unread lines are between
                    at.read = self._end[0]
                self._progress(len(batch))
        at.sent, at.extra, at.again = until, digest, []
        self._keep()

    def _lines(
        self, until: int, declared: list[Line], purges: list[Line], *, is_new: bool
    ) -> Iterator[Line]:
        if is_new:
            yield from declared
        if purges and (is_new or self.read):  # without ids that the hub lacks
            digests = {md5(line[0].encode()).hexdigest(): line for line in purges}
            known = self._hub.ask(_KNOWN, [0 if is_new else self._since, [*digests]])
            yield from (digests[digest] for (digest,) in known)
        found = changed(self._store, self._at, until)
        if found is None:
            yield from lines_of(self._store, self._takes)
        elif found[0]:
            yield from lines_of(self._store, self._takes, *found)

    # --- reading

    def _pull(self) -> None:
        while self._at.read < self._end[0]:
            rows = self._hub.ask(_PULL, [self._at.read, READ_AT_ONCE])
            if rows:
                self._take(rows)
                self._progress(len(rows))
            if len(rows) < READ_AT_ONCE:  # earlier lines were visible
                self._at.read = max(self._at.read, self._end[0])
        self._at.mark = max(self._at.mark, self._end)
        self._keep()

    def _take(self, rows: Sequence[tuple[int, str]]) -> None:
        """Merge lines and store the position in the same transaction."""
        self.read += len(rows)
        options = ImportOptions(
            skip_bad=True, new_relations=True, new_types=True, change="sync", purge=True
        )
        part = LineImport(
            self._store,
            self._engine.settings,
            [line.encode() for _, line in rows],
            options,
            place=lambda number: f"{self._hub.name}: line {rows[number - 1][0]}",
        )
        at, changes = copy(self._at), self._store.changes
        with self._store.transaction("sync"):
            before = changes.last_command()
            came_in = part.write()
            changes.came_from(at.name, before)
            at.read, at.synced_at = rows[-1][0], now()
            if at.sent == before:
                at.sent = changes.last_command()
            at.again = sorted({*at.again, *came_in.joined})
            self._store.remotes.put(at)
        self._at = at
        embed_missing(self._store, self._engine.embedder, came_in.notes, bulk=True)
        # Report conflicts only to stores that took part.
        self._new |= came_in.new_nodes
        told = [one for one in came_in.conflicting if at.wrote and one.id not in self._new]
        came_in.conflicting, came_in.conflicts = told, len(told)
        self.came_in.add(came_in)


def _batches(lines: Iterable[Line]) -> Iterator[list[Line]]:
    batch: list[Line] = []
    for line in lines:
        batch.append(line)
        if len(batch) == SENT_AT_ONCE or len(line[2]) > _LONG:
            yield batch
            batch = []
    if batch:
        yield batch


def changed(store: Store, at: RemoteProgress, until: int) -> tuple[set[str], set[str]] | None:
    """Return the keys of unsent changes, and the records with links to send; None for a new remote,
    or if the change log was swept."""
    if at.sent < 0 or at.synced_at < store.changes.swept:
        return None
    things, ids = store.changes.since(at.sent, until, at.name)
    return things.union(at.again), ids


def hub_status(hub: Hub, takes: Takes, store: Store | None) -> dict[str, Any]:
    """Return sizes of a hub, and unsent and unread changes; ``unsent`` is None for all."""
    at = RemoteProgress(hub.name) if store is None else store.remotes.get(hub.name)
    state = hub.hello(at.mark)
    counts = hub.ask(_COUNTS, [at.read if state["holds"] else 0])[0]
    row = {name: state[name] for name in ("version", "role", "may_write")}
    row |= zip(("lines", "records", "unread"), counts, strict=True)
    row |= {"unsent": None, "synced_at": at.synced_at or None}
    if store is not None and at.takes == takes.words:
        found = changed(store, at, store.changes.last_command())
        row["unsent"] = None if found is None else len(found[0])
    return row
