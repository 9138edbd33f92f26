"""Sync a store with a hub: write the lines of the store, merge the lines of the hub."""

from __future__ import annotations

import json
from hashlib import blake2b, md5
from itertools import chain, groupby
from typing import TYPE_CHECKING

from ..core.errors import UsageError
from ..core.ids import whose
from ..core.model import Edge
from ..core.stamps import NOBODY, Stamped, local_fields
from ..core.times import now
from ..formats import export
from ..formats.jsonl import Imported, LineImport
from ..formats.lines import line_of, past_fields
from ..indexing.embed import embed_missing
from ..store import ALL
from ..store.changes import SEPARATOR, RemoteProgress, owners, thing_of
from ..store.filter import Scope
from .connection import ahead

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from typing import Any

    from ..app import Engine
    from ..core.stamps import Thing
    from ..store import Store
    from .connection import Hub

    Line = tuple[str, str, str]  # (id or declared name, order key, line)

SENT_AT_ONCE = 4000  # lines of a sent batch; a line of more than _LONG characters ends the batch
_LONG = 20_000
READ_AT_ONCE = 10_000  # lines of a read batch

_PULL = "SELECT seq, line FROM lore.lines WHERE seq > %s AND line <> '' ORDER BY seq LIMIT %s"
_KNOWN = (
    "SELECT DISTINCT md5(id) FROM lore.lines, unnest(ARRAY[owner, split_part(key, E'\\x1f', 2)]) id"
    " WHERE seq > %s AND kind <> 'purged' AND line <> '' AND md5(id) = ANY (%s)"
)
_COUNTS = """
SELECT count(*), (SELECT count(*) FROM lore.nodes WHERE NOT gone),
  count(*) FILTER (WHERE seq > %s AND line <> '') FROM lore.lines
"""


# --- lines of a store


class Takes:
    """Filter of a remote, parsed from a setting: ``types=TYPE,…`` (default: all), ``scopes=NAME,…``
    (``*``: all; default: common records), ``staged`` (default: confirmed records).

    Raises:
        UsageError: unknown word.
    """

    def __init__(self, *words: str) -> None:
        given = {what: names.split(",") for what, _, names in (w.partition("=") for w in words)}
        if wrong := given.keys() - {"types", "scopes", "staged"}:
            raise UsageError(f"use types=TYPE,… scopes=NAME,… staged, not '{min(wrong)}'")
        self.words = " ".join(sorted(words))
        self.types, self.scopes = given.get("types", []), given.get("scopes", [])
        self.staged = "staged" in given

    def has(self, *names: str) -> bool:
        """Return True if a thing with these names is common, or of a selected scope."""
        return whose(*names) in ("", *self.scopes) or "*" in self.scopes


def lines_of(
    store: Store, takes: Takes, things: Collection[str] | None = None, ids: Iterable[str] = ()
) -> Iterator[Line]:
    """Yield the lines of records, links and anchors for a remote, then their past.

    ``things`` limits them to these keys and to the links and anchors of the records ``ids``.
    """
    is_taken, nodes = _filter(store, takes), None
    rows: Iterable[Thing | None] = chain(store.edges.all(), store.anchors.all())
    if things is not None:
        tied: list[Thing] = []
        for id in ids:
            tied += [*store.edges.of(id, forgotten=True), *store.anchors.of(id, gone=True)]
        things = sorted({*things, *map(thing_of, tied)})
        nodes = [thing for thing in things if SEPARATOR not in thing]
        rows = (store.thing(thing) for thing in things if SEPARATOR in thing)
    for node, was in export.nodes_of(store, nodes):
        state = Stamped.of(node)
        # A file that proposes a purge is no reason to forget the node elsewhere.
        if is_taken(node) and not state.at("invalidated_at")[0].endswith(NOBODY):
            yield _line(node.id, order_text(state), export.shared_fields(node, was))
    for row in rows:
        if row and is_taken(row):
            id = owners(thing_of(row))[0]
            yield _line(id, order_text(export.shared_values(row)), export.shared_fields(row))
    past = groupby(export.past_of(store, things), lambda change: thing_of(change[0]))
    for thing, changes in past:
        row, left = store.thing(thing), [*changes]
        # Former texts of a staged record may be private.
        was_staged = any(values.get("status") == '"staged"' for *_, values in left)
        if row and is_taken(row) and (takes.staged or not was_staged):
            local = local_fields(row)
            for key, stamp, former in left:
                if values := {name: value for name, value in former.items() if name not in local}:
                    yield _line(owners(thing)[0], stamp, past_fields(key, stamp, values))


def _filter(store: Store, takes: Takes) -> Callable[[Thing], bool]:
    """Return a function that returns True if a remote takes the current state of a thing."""
    types, private = store.types.require(takes.types), set[str]()
    for forgotten in (False, True) if not takes.staged else ():
        staged = store.nodes.select(Scope(statuses=("staged",)), ALL, forgotten=forgotten)
        private.update(node.id for node in staged)

    def has(id: str) -> bool:
        if not export.is_record(id):
            return takes.has(id)
        return id not in private and takes.has(id) and (not types or id.partition("-")[0] in types)

    def is_taken(row: Thing) -> bool:
        if isinstance(row, Edge):
            is_open = takes.has(row.relation) and (takes.staged or row.status != "staged")
            return is_open and export.is_shared(row) and all(map(has, row.key[:2]))
        return export.is_shared(row) and has(owners(thing_of(row))[0])

    return is_taken


def extra_lines(store: Store, takes: Takes) -> tuple[list[Line], list[Line]]:
    """Return the declarations and purges of a store for a remote."""
    found = export.declarations(store)
    named = [(one.get("declare_type") or one["declare_relation"], one) for one in found]
    purges = store.changes.purged().items()
    return (
        [_line(name, one["at"], one) for name, one in named if takes.has(name)],
        [_line(id, at, {"purged": id, "at": at}) for id, at in purges if export.is_record(id)],
    )


def _line(id: str, order: str, fields: dict[str, Any]) -> Line:
    line = line_of(fields).rstrip("\n")
    digest = blake2b(line.encode("utf-8", "replace"), digest_size=8).hexdigest()
    return id, f"{order} {digest}", line


def order_text(values: Stamped) -> str:
    """Return the order key of a row with these values: the greatest is the head at a hub.

    A join of two rows has a greater key than both, because the sum of the stamps grows.
    """
    base = _number(values.base)
    stamps = [stamp for stamp, _ in values.fields.values() if stamp != values.base]
    later = sum(map(_number, stamps)) - base * len(stamps)
    return f"{values.last()} {base >> 40:014d} {base & (1 << 40) - 1:010x} {later:027x}"


def _number(stamp: str) -> int:
    """Return a stamp as a number; later stamps are greater."""
    at, _, store = stamp.partition(" ")
    return int(f"{''.join(filter(str.isdigit, at)):0<14}"[:14]) << 40 | int(store or "0", 16)


# --- sync


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
        at = self._at = engine.store.remotes.get(hub.name)
        state = hub.hello(at.mark)
        self.may_only_read = "" if state["may_write"] else state["role"]
        self.anew = not state["holds"]
        if all or self.anew:
            at.read, at.mark, at.sent = 0, [0, None], -1
        if at.takes != takes.words:
            at.sent = -1
        if at.sees != state["sees"]:
            at.read = 0
        at.takes, at.sees = takes.words, state["sees"]
        self._end, self._since = state["end"], at.read

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
        part = LineImport(
            self._store,
            self._engine.settings,
            [line.encode() for _, line in rows],
            skip_bad=True,
            new_relations=True,
            new_types=True,
            purge=True,
            name=self._hub.name,
            numbers=[number for number, _ in rows],
        )
        at, changes = self._at.copy(), self._store.changes
        with self._store.transaction("sync"):
            before = changes.last_command()
            came_in = part.write()
            changes.set_origin(at.name, before)
            at.read, at.synced_at = rows[-1][0], now()
            if at.sent == before:
                at.sent = changes.last_command()
            at.again = sorted({*at.again, *part.merge.joined})
            self._store.remotes.put(at)
        self._at = at
        embed_missing(self._store, self._engine.embedder, came_in.notes, bulk=True)
        # Report conflicts only to stores that took part.
        self._new |= part.merge.new_nodes
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


def hub_status(hub: Hub, takes: Takes, store: Store) -> dict[str, Any]:
    """Return sizes of a hub, and unsent and unread changes; ``unsent`` is None for all."""
    at = store.remotes.get(hub.name)
    state = hub.hello(at.mark)
    counts = hub.ask(_COUNTS, [at.read if state["holds"] else 0])[0]
    found = None
    if at.takes == takes.words:
        found = changed(store, at, store.changes.last_command())
    return {
        **{name: state[name] for name in ("version", "role", "may_write")},
        **dict(zip(("lines", "records", "unread"), counts, strict=True)),
        "unsent": None if found is None else len(found[0]),
        "synced_at": at.synced_at or None,
    }
