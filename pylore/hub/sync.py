"""Create hubs, find remotes, report their state, and sync with one."""

from __future__ import annotations

import json
from copy import copy
from hashlib import md5
from types import SimpleNamespace

from ..core.errors import LoreError, StoreReadOnly, UsageError, nearest
from ..core.model import Record
from ..core.times import now
from ..formats.export import declarations
from ..formats.jsonl import Imported, ImportOptions, LineImport
from ..formats.lines import line_of
from ..indexing.embed import embed_missing
from ..store.changes import SEPARATOR
from .connection import ahead, connect, shown
from .lines import (
    HubLines,
    HubStore,
    ReadPosition,
    Takes,
    declared_as,
    digest_of_declarations,
    purge_line,
    purges_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from ..app.engine import Engine
    from ..core.settings import Settings
    from ..store import Store
    from ..store.remotes import RemoteProgress
    from .lines import HubLine, Row


TAKES = ("types", "tags", "scopes")
"""What says what a remote takes, beside whether it takes what is staged."""


class Remote(Record):
    """A hub by the name that the config has for it."""

    __slots__ = ("name", "scopes", "staged", "tags", "types", "url")

    def __init__(
        self, name: str, url: str, types: tuple[str, ...] = (), tags: tuple[str, ...] = (),
        scopes: tuple[str, ...] = (), staged: bool = False,
    ) -> None:  # fmt: skip
        self.name = name
        self.url = url
        self.types = types
        self.tags = tags
        self.scopes = scopes
        self.staged = staged

    def takes(self, store: Store) -> Takes:
        """Return what it takes of a store.

        Raises:
            UsageError: a type of it is not one of the store's.
        """
        types = store.types.require(self.types)
        return Takes(types, self.tags, self.scopes, staged=self.staged)

    def as_setting(self) -> str:
        """Return the value of ``REMOTES[name]``: the URL, then what the remote takes."""
        takes = [f"{what}={','.join(words)}" for what in TAKES if (words := getattr(self, what))]
        return " ".join([self.url, *takes, *(["staged"] if self.staged else [])])


def remotes(settings: Settings) -> list[Remote]:
    """Return those that the settings name, by name."""
    return [remote_of(name, settings.remotes[name]) for name in sorted(settings.remotes)]


def remote_named(settings: Settings, name: str, *, or_file: bool = False) -> Remote:
    """One of them; ``or_file``: the name may have been meant as that of a file.

    Raises:
        UsageError: there is none of this name.
    """
    if name not in settings.remotes:
        if "://" in name:
            raise UsageError("give the name of a remote, and no URL: 'lore hub add NAME URL' "
                             "names one")  # fmt: skip
        hint = nearest(name, [*settings.remotes])
        raise UsageError(f"no remote '{name}'{hint} in your config: 'lore hub add {name} URL'"
                         f"{f'; a file of that name is ./{name}' if or_file else ''}")  # fmt: skip
    return remote_of(name, settings.remotes[name])


def open_hub(name: str, url: str, *, writes: bool = True) -> HubStore:
    """Return the hub at a URL, whatever schema it has.

    Raises:
        LoreError: nobody answers, or lets nobody in so.
    """
    return HubStore(connect(url, name, writes=writes))


def hub_status(hub: HubStore, remote: Remote, store: Store | None) -> dict[str, Any]:
    """Return what a hub is and holds, how it keeps it, and how far this store is with it."""
    hello, counts = hub.hello(), hub.counts()
    names = ("version", "generation", "timeline", "role", "may_write", "standby")
    row = {
        "id": remote.name, "url": shown(remote.url),
        **{name: getattr(hello, name) for name in names}, **counts,
        "unsent": None, "unread": None, "synced_at": None,
    }  # fmt: skip
    if store is not None:
        at = store.remotes.get(remote.name)
        here = at.generation in ("", hello.generation)
        row["unsent"] = unsent(store, at, remote.takes(store)) if hello.may_write else None
        row["unread"] = hub.waiting(ReadPosition.of(at.place if here else ""))
        row["synced_at"] = at.synced_at or None
    return row


def forget(store: Store, name: str) -> None:
    """Takes away what a store keeps of a remote."""
    with store.faults, store.transaction():
        store.remotes.remove(name)


def forget_others(store: Store, settings: Settings) -> None:
    """Takes away what a store keeps of remotes that the settings no longer name: what has changed
    would be kept for them for ever."""
    for kept in store.remotes.all():
        if kept.name not in settings.remotes:
            forget(store, kept.name)


def remote_of(name: str, text: str) -> Remote:
    """Parse ``URL types=decision,lesson tags=… scopes=… staged``.

    Raises:
        LoreError: another word.
    """
    url, *words = text.split() or [""]
    takes: dict[str, tuple[str, ...]] = {}
    for word in words:
        what, equals, given = word.partition("=")
        if word != "staged" and not (equals and what in TAKES):
            raise LoreError(f"REMOTES[{name}] has '{word}': give a URL, then any of "
                            "types=TYPE,… tags=TAG,… scopes=NAME,… staged")  # fmt: skip
        takes[what] = tuple(filter(None, given.split(",")))
    types, tags, scopes = (takes.get(what, ()) for what in TAKES)
    return Remote(name, url, types, tags, scopes, staged="staged" in takes)


SENT_AT_ONCE = 4000
"""Lines of a batch that is sent, unless they are longer than ``_BYTES``."""

READ_AT_ONCE = 10_000
"""Lines of a batch that is read."""

_BYTES = 8_000_000
_NOWHERE = ""
_NO_LINE = "0"


class HubSynced(Record):
    """What came in, how many lines were ``sent`` that the hub did not know and how many it knew.

    ``refused`` are (id, why). ``anew``: why all was sent again, or nothing. ``may_only_read``: the
    role for which all of this store's own stays here, or nothing.
    """

    __slots__ = ("anew", "came_in", "known", "may_only_read", "read", "refused", "sent")

    def __init__(self) -> None:
        self.came_in = Imported()
        self.sent = 0
        self.known = 0
        self.read = 0
        self.refused: list[tuple[str, str]] = []
        self.anew = ""
        self.may_only_read = ""


class HubSync:
    """One sync with the remote ``name``, which takes what ``takes`` says.

    ``all``: send and read everything, not only what is new. ``progress`` hears how many lines
    went (``sent``, ``read``) with each batch.
    """

    def __init__(
        self,
        engine: Engine,
        hub: HubStore,
        name: str,
        takes: Takes,
        *,
        all: bool = False,
        progress: Callable[[str, int], None] = lambda way, lines: None,
    ) -> None:
        self._engine = engine
        self._store = engine.store
        self._remotes = engine.store.remotes
        self._hub = hub
        self._name = name
        self._takes = takes
        self._all = all
        self._tell = progress
        self._at = self._remotes.get(name)
        self._own: list[str] = []
        self._new: set[str] = set()
        self._used: set[str] = set()
        self._declares = False
        self._longest = 0
        self._done = HubSynced()

    def run(self) -> HubSynced:
        """Sends, and then reads.

        Raises:
            LoreError: the hub cannot, or may not be asked; what went until then stays.
        """
        with self._store.faults:
            hello = self._begin()
            self._keep_place()
            if hello.may_write:
                self._push()
            self._pull()
            if hello.may_write and self._done.read:
                self._push()  # what follows from the lines that came in, and the hub does not have
            if not hello.may_write:
                self._done.may_only_read = hello.role
        return self._done

    # --- where it is

    def _begin(self) -> SimpleNamespace:
        """Finds out whether the hub is where it was, and begins anew where it is not."""
        at = self._at
        read = ReadPosition.of(at.place)
        marks = [(read.xid, read.seq)] if read.seq else []
        if at.sent_xid != _NO_LINE:
            marks.append((at.sent_xid, at.sent_seq))
        hello = self._hub.hello(marks)
        self._longest = hello.longest
        if hello.standby:
            raise StoreReadOnly(f"{self._name}: is a standby: name the server that takes writes")
        if self._all or at.generation != hello.generation or not hello.holds:
            if at.generation and not self._all:
                self._done.anew = "the hub is not where it was: a backup was restored, or a standby"
            at.place = _NOWHERE
            at.sent_xid = _NO_LINE  # and sent_seq says that there was one
            at.sent = -1
        elif at.timeline != hello.timeline:
            self._done.anew = "another server has taken the hub over"
            at.sent = -1
        elif at.takes != str(self._takes):
            at.sent = -1
        if at.sees != hello.sees:
            at.place = _NOWHERE
        at.generation, at.timeline = hello.generation, hello.timeline
        at.takes, at.sees = str(self._takes), hello.sees
        return hello

    def _keep_place(self) -> None:
        if self._remotes.get(self._name) != self._at:
            with self._store.transaction():
                self._remotes.put(self._at)

    # --- sending

    def _push(self) -> None:
        again: list[HubLine] = []
        with self._store.snapshot():
            until = self._store.changes.last_command()
            declared = digest_of_declarations(self._store)
            purged = purges_of(self._store)
            self._declares = declared != self._at.declared and any(declarations(self._store))
            for batch in ahead(self._batches(self._lines(until, purged))):
                done = self._hub.push([(line.order, line.line) for line in batch])
                self._done.sent += done.taken
                self._done.known += done.known
                for place, why, is_final in done.refused:
                    self._refuse(batch[place], why)
                    if not is_final:
                        again.append(batch[place])
                if done.seq is not None:
                    self._own.append(done.xid)
                    self._at.sent_xid, self._at.sent_seq = done.xid, done.seq
                self._tell("sent", len(batch))
        self._at.purged = _digest(purged)
        self._settle(until, "" if any(not line.thing for line in again) else declared, again)
        if self._declares:  # a greater declaration stands, and may have been read before
            read = ReadPosition.of(self._at.place)
            rows = [(read.xid, read.seq, kind, line) for kind, line in self._hub.declared()]
            if rows:
                self._take(rows, read)

    def _refuse(self, line: HubLine, why: str) -> None:
        if (line.id, why) not in self._done.refused:
            self._done.refused.append((line.id, why))

    def _settle(self, until: int, declared: str, again: Sequence[HubLine]) -> None:
        """Keep that all was sent up to this command, but for lines that are to be sent again."""
        at = self._at
        at.sent, at.declared = until, declared
        at.again = sorted({line.thing for line in again} - {""})
        self._keep_place()

    def _lines(self, until: int, purges: dict[str, str]) -> Iterator[HubLine]:
        if purges and (self._at.sent < 0 or _digest(purges) != self._at.purged):
            digests = {md5(id.encode()).hexdigest(): id for id in purges}
            known = self._hub.knows([*digests])
            yield from (purge_line(id, purges[id]) for id in map(digests.__getitem__, known))
        found = changed(self._store, self._at, until)
        if found is None:
            yield from HubLines(self._store, self._takes)
        elif found[0] or self._declares:
            yield from HubLines(self._store, self._takes, *found, declared=self._declares)

    def _batches(self, lines: Iterable[HubLine]) -> Iterator[list[HubLine]]:
        batch: list[HubLine] = []
        size = 0
        for line in lines:
            if len(line.line) > self._longest:
                self._refuse(line, f"is longer than {self._longest} bytes")
                continue
            batch.append(line)
            size += len(line.line)
            if len(batch) == SENT_AT_ONCE or size > _BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    # --- reading

    def _pull(self) -> None:
        while True:
            rows, place = self._hub.pull(ReadPosition.of(self._at.place), READ_AT_ONCE, self._own)
            if rows:
                self._take(rows, place)
                self._tell("read", len(rows))
            if len(rows) < READ_AT_ONCE:
                return

    def _take(self, rows: Sequence[Row], place: ReadPosition) -> None:
        """Merges lines, and keeps in the same transaction that they were read."""
        told = [row for row in rows if row[3]]
        self._done.read += len(told)
        options = ImportOptions(
            skip_bad=True, new_relations=True, new_types=True, change="sync", purge=True
        )
        part = LineImport(
            self._store, self._engine.settings, [row[3].encode() for row in told], options,
            place=lambda number: f"{self._name}: line {told[number - 1][1]}",
        )  # fmt: skip
        with self._store.faults:
            with self._store.transaction("sync"):
                came_in, self._at = self._written(part, told, place)
            embed_missing(self._store, self._engine.embedder, came_in.notes, bulk=True)
        self._leave_conflicts_of_others(came_in)
        self._done.came_in.add(came_in)

    def _written(
        self, part: LineImport, told: Sequence[Row], place: ReadPosition
    ) -> tuple[Imported, RemoteProgress]:
        at, changes = copy(self._at), self._store.changes
        at.place, at.synced_at = str(place), now()
        before = changes.last_command()
        came_in = part.write() if told else Imported()
        changes.came_from(self._name, before)
        if at.sent == before:
            at.sent = changes.last_command()
        at.again = sorted({*at.again, *came_in.joined})
        if self._is_used_otherwise(told):
            at.declared = ""
        if self._has_purged(told):
            at.purged = ""
        self._remotes.put(at)
        return came_in, at

    def _leave_conflicts_of_others(self, came_in: Imported) -> None:
        """Takes out those that nobody here has a part in: of records that were not here before
        this sync, and all of them where nothing of this store has ever gone to the hub."""
        if self._at.sent_seq:
            self._new |= came_in.new_nodes
            told = [one for one in came_in.conflicting if one.id not in self._new]
        else:
            told = []
        came_in.conflicting, came_in.conflicts = told, len(told)

    def _has_purged(self, rows: Sequence[Row]) -> bool:
        """Return True if lines are about records that were deleted for good here."""
        purged = self._store.changes.purged().keys()
        for *_, line in rows if purged else ():
            fields = json.loads(line)
            names = [fields.get(name) for name in _NAMES] + [*fields.get("history_of", ())]
            if not purged.isdisjoint(map(str, names)):
                return True
        return False

    def _is_used_otherwise(self, rows: Sequence[Row]) -> bool:
        """Return True if types or relations are used there that are declared here otherwise: as
        long as nothing of them went, neither did their declarations."""
        declared = [*declarations(self._store)]
        there = {line for *_, kind, line in rows if kind in ("type", "relation")}
        wanted = {declared_as(one)[1] for one in declared if line_of(one).rstrip("\n") not in there}
        used: set[str] = set()
        for *_, kind, line in rows if wanted else ():
            fields = json.loads(line)
            if kind == "edge":
                used.add(str(fields["relation"]))
            elif kind == "node":
                used.add(str(fields["id"]).partition("-")[0])
        new = (wanted & used) - self._used
        self._used |= new
        return bool(new)


_NAMES = ("id", "from_id", "to_id", "state_of", "anchor_of", "anchor_history_of")


def _digest(purges: dict[str, str]) -> str:
    return md5(repr(purges).encode()).hexdigest() if purges else ""


def changed(store: Store, at: RemoteProgress, until: int) -> tuple[set[str], set[str]] | None:
    """Return the things that have changed since a remote was sent them, and the records among them
    whose links may be told or not any more; None if nobody knows, and for a new remote."""
    if at.sent < 0 or at.synced_at < store.changes.swept:
        return None
    things, ids = store.changes.since(at.sent, until, at.name)
    return things.union(at.again), ids


def unsent(store: Store, at: RemoteProgress, takes: Takes) -> int:
    """Return how many records and links of a store have changed since a remote was sent them."""
    found = changed(store, at, store.changes.last_command()) if at.takes == str(takes) else None
    if found is None:
        return sum("anchor" not in line.line[:9] for line in HubLines(store, takes))
    return len({thing for thing in found[0] if thing.count(SEPARATOR) < 3})
