"""Write the lines that a store sends to a hub, and read those that others have sent.

Each method of ``HubStore`` is one round trip, in its own transaction.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from itertools import chain, islice
from types import SimpleNamespace

from ..core.errors import StoreBusy
from ..core.ids import blake2b, whose
from ..core.model import Anchor, Edge, Node, Record
from ..core.stamps import BASE, Stamped, is_forgotten_by_nobody, local_fields
from ..core.vocabulary import CODE_TYPES, NO_RECORDS
from ..formats.export import (
    Export,
    declarations,
    is_record,
    is_shared_anchor,
    is_shared_edge,
    shared_fields,
    shared_values,
)
from ..formats.lines import line_of, past_fields
from ..store import ALL as EVERY
from ..store.changes import SEPARATOR, owners, thing_of
from ..store.filter import Scope
from .connection import STATEMENT_SECONDS
from .schema import require_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Any

    from ..core.stamps import Thing, Value
    from ..store import Store
    from .connection import Hub


Mark = tuple[str, int]
"""(xid, seq): the place of a line."""

Row = tuple[str, int, str, str]
"""(xid, seq, kind, line without its end; empty: there is nothing to read of it)"""


class ReadPosition(Record):
    """How far lines were read: up to one in their order, but for transactions before it that were
    still under way. ``open``: each of these to the ``seq`` of the last line that was read of it."""

    __slots__ = ("open", "seq", "xid")

    def __init__(self, xid: str = "0", seq: int = 0, open: dict[str, int] | None = None) -> None:
        self.xid = xid
        self.seq = seq
        self.open = open or {}

    @classmethod
    def of(cls, text: str) -> ReadPosition:
        """Return the place that ``str`` made this text of; without a text, the beginning."""
        return cls(*json.loads(text)) if text else cls()

    def __str__(self) -> str:
        return json.dumps([self.xid, self.seq, self.open])

    def after(self, last: Mark, under_way: Sequence[str], *, is_all: bool) -> ReadPosition:
        """Return the place after a page of lines that ends with ``last``; ``is_all``: no line was
        left for another page.

        >>> str(ReadPosition("9", 4).after(("12", 7), ["10", "15"], is_all=True))
        '["12", 7, {"10": 0}]'
        """
        at, seq = int(last[0]), last[1]
        xid, seq_there = max((int(self.xid), self.seq), (at, seq))
        open = {}
        for id, read in {**dict.fromkeys(under_way, 0), **self.open}.items():
            is_read = id not in under_way and (is_all or int(id) < at)
            if int(id) < xid and not is_read:
                open[id] = seq if int(id) == at else read
        return ReadPosition(str(xid), seq_there, open)


_TRIES = 4
"""How often lines are sent whose transaction others have stood in the way of."""

_HELLO = (
    "SELECT set_config(name, %s, false)"
    " FROM unnest(ARRAY['statement_timeout', 'idle_in_transaction_session_timeout']) AS named(name)"
    " WHERE current_setting(name) = '0'; SELECT lore.hello(%s)"
)
"""Where the server has no limits of its own, those of a client that may die hold."""

_LIMIT = f"{STATEMENT_SECONDS}s"

_PUSH = "SELECT lore.push(%s)"
_PULL = "SELECT * FROM lore.pull(%s::text::xid8, %s, %s, %s::text[]::xid8[], %s)"
DECLARED = """
(SELECT DISTINCT ON (kind, key) kind, key, line FROM lore.lines
 WHERE kind IN ('type', 'relation') AND line <> '' ORDER BY kind, key, order_key DESC)
"""
_KNOWS = "SELECT * FROM lore.knows(%s::text[])"
_WAITING = """
SELECT count(*) FROM lore.lines n LEFT JOIN jsonb_each_text(%s) o ON n.xid = o.key::xid8
WHERE line <> '' AND ((xid, seq) > (%s, %s) OR n.seq > o.value::bigint)
"""
_COUNTS = """
SELECT jsonb_build_object(
  'lines', (SELECT count(*) FROM lore.lines),
  'records', (SELECT count(*) FROM lore.nodes WHERE order_key <> '' AND NOT gone),
  'links', (SELECT count(*) FROM lore.edges WHERE NOT gone),
  'bytes', pg_total_relation_size('lore.lines'),
  'server', current_setting('server_version'))
"""


class HubStore:
    """What stores ask of a hub."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub

    def hello(self, marks: Iterable[Mark] = ()) -> SimpleNamespace:
        """Return the state of the hub (``lore.hello``), and whether it ``holds`` these lines.

        Raises:
            StoreError: it has no schema, or that of another version.
        """
        rows = self.hub.ask(_HELLO, [_LIMIT, json.dumps([*marks])])
        state = SimpleNamespace(**{"version": 0, "generation": "", "longest": 0, **rows[0][0]})
        state.version, state.longest = int(state.version), int(state.longest)
        require_version(self.hub, state.version)
        return state

    def push(self, lines: Sequence[tuple[str, str]]) -> SimpleNamespace:
        """Send lines, each with its order key; return what ``lore.push`` does."""
        batch = json.dumps(lines, ensure_ascii=False, separators=(",", ":"))
        for left in reversed(range(_TRIES)):
            try:
                return SimpleNamespace(**self.hub.ask(_PUSH, [batch])[0][0])
            except StoreBusy:
                if not left:
                    raise
        raise AssertionError("the last try ends this")

    def pull(
        self, place: ReadPosition, most: int, own: Sequence[str] = ()
    ) -> tuple[list[Row], ReadPosition]:  # fmt: skip
        """Return at most ``most`` lines after a place, and the place after them; lines of the
        transactions ``own`` come without their text."""
        values = [place.xid, place.seq, most, [*own], json.dumps(place.open)]
        found: list[Any] = self.hub.ask(_PULL, values)
        rows = [row[:4] for row in found]
        if not found:
            return rows, place
        return rows, place.after(rows[-1][:2], found[0][4], is_all=len(rows) < most)

    def declared(self) -> list[tuple[str, str]]:
        """Return (kind, line) of the types and relations, as last declared."""
        return [(str(kind), str(line)) for kind, _, line in self.hub.ask(DECLARED)]

    def knows(self, digests: Sequence[str]) -> set[str]:
        """Return those of these md5 sums of ids of which it has lines."""
        return {str(digest) for (digest,) in self.hub.ask(_KNOWS, [[*digests]])}

    def waiting(self, place: ReadPosition) -> int:
        """Return how many lines come after a place."""
        return int(self.hub.ask(_WAITING, [json.dumps(place.open), place.xid, place.seq])[0][0])

    def counts(self) -> dict[str, Any]:
        """Return what there is in it, and how it keeps what it has acknowledged."""
        found: dict[str, Any] = self.hub.ask(_COUNTS)[0][0]
        return found


_AT_ONCE = 1000
"""Nodes or edges that are looked at together to find one that goes."""

_ANY_SCOPE = "*"


class Takes:
    """Filter of a remote: records of these ``types`` (none: all), with one of these ``tags``
    (none: any), common or of these ``scopes`` (``*``: all), and what is ``staged`` if asked."""

    __slots__ = ("scopes", "staged", "tags", "types")

    def __init__(
        self, types: tuple[str, ...] = (), tags: tuple[str, ...] = (),
        scopes: tuple[str, ...] = (), *, staged: bool = False,
    ) -> None:  # fmt: skip
        self.types = frozenset(types)
        self.tags = frozenset(tags)
        self.scopes = frozenset(scopes)
        self.staged = staged

    def __str__(self) -> str:
        parts = (self.types, self.tags, self.scopes)
        return json.dumps([*map(sorted, parts), self.staged])

    def may(self, id: str) -> bool:
        """Return whether something of this id may be told, as far as the id says it."""
        type = id.partition("-")[0]
        return self.has(id) and (
            type in CODE_TYPES
            or (type not in NO_RECORDS and (not self.types or type in self.types))
        )

    def has(self, *names: str) -> bool:
        """Return whether what has these names is common, or of a scope that is taken."""
        scope = whose(*names)
        return not scope or scope in self.scopes or _ANY_SCOPE in self.scopes

    def node(self, node: Node) -> bool:
        """Return whether this state of a record is told."""
        return (
            self.may(node.id)
            and (self.staged or node.status != "staged")
            and (not self.tags or not self.tags.isdisjoint(node.tags))
        )


class HubLine:
    """A line, its order key, and the thing that it is about; empty for a declaration."""

    __slots__ = ("id", "line", "order", "thing")

    def __init__(self, thing: str, order: str, fields: dict[str, Any], id: str = "") -> None:
        self.thing = thing
        self.id = id or owners(thing)[0]
        self.line = line_of(fields).rstrip("\n")
        digest = blake2b(self.line.encode("utf-8", "replace"), digest_size=8).hexdigest()
        self.order = f"{order} {digest}" if order else digest


def order_text(values: Stamped) -> str:
    """Return the order key of a row with these values, by which the later one of two stands.

    The values that two rows have in common come after both.

    >>> order_text(Stamped.of(Edge("a-1", "b-1", "uses", created_at="2026-01-31T12:00:00Z")))[:35]
    '2026-01-31T12:00:00Z 20260131120000'
    """
    base, digits = _numbers(values.base)
    later = [_numbers(one[0]) for one in values.fields.values() if one[0] != values.base]
    times, stores = sum(at - base for at, _ in later), sum(of for _, of in later)
    return f"{values.last()} {base:014d} {digits:010x} {times:016d} {stores:014x}"


class HubLines:
    """The lines of a store, but for purges; with ``things``, those of these things alone.

    ``ids`` are records among them whose links and anchors may be told now, or not any more.
    ``declared``: with ``things``, look for uses of all declarations, too.
    """

    def __init__(
        self, store: Store, takes: Takes, things: Collection[str] | None = None,
        ids: Collection[str] = (), *, declared: bool = False,
    ) -> None:  # fmt: skip
        self._store = store
        self._takes = takes
        self._things = None if things is None else {*things, *self._tied(ids)}
        self._all_declared = declared
        self._private: set[str] = set()
        self._seen: set[str] = set()

    def _tied(self, ids: Collection[str]) -> Iterator[str]:
        for id in ids:
            yield from map(thing_of, self._store.edges.of(id, forgotten=True))
            yield from map(thing_of, self._store.anchors.of(id, gone=True))

    def __iter__(self) -> Iterator[HubLine]:
        declared = {declared_as(fields): fields for fields in declarations(self._store)}
        for line in self._lines():
            parts = line.thing.split(SEPARATOR)
            of = ("edge", parts[2]) if len(parts) == 3 else ("node", line.id.partition("-")[0])
            fields = declared.pop(of, None)
            if fields:
                yield _declaration(fields)
            yield line
        if self._all_declared:
            for what, name in sorted(declared):
                if self._is_used(what, name):
                    yield _declaration(declared[what, name])

    def _is_used(self, what: str, name: str) -> bool:
        """Return True if a line of the store is of a declared type or relation."""
        found: Iterator[Any]
        if what == "edge":
            found = map(thing_of, self._store.edges.with_relation(name))
        else:
            select, scope = self._store.nodes.select, Scope((name,))
            nodes = chain(select(scope, EVERY), select(scope, EVERY, forgotten=True))
            found = (node.id for node in nodes)
        while some := [*islice(found, _AT_ONCE)]:
            if any(HubLines(self._store, self._takes, some)._lines()):
                return True
        return False

    def _lines(self) -> Iterator[HubLine]:
        """Yield the lines of records, links, anchors, and the past of all."""
        export, things = Export(self._store), self._things
        ids = keys = of = None
        if things is not None:
            parts = [tuple(thing.split(SEPARATOR)) for thing in sorted(things)]
            ids = [part[0] for part in parts if len(part) == 1]
            keys = [(part[0], part[1], part[2]) for part in parts if len(part) == 3]
            of = sorted({part[0] for part in parts if len(part) == 4})
            self._look_up({id for part in parts for id in owners(SEPARATOR.join(part))})
        for node, was in export.nodes(ids):
            if self._sees(node) and not is_forgotten_by_nobody(node):
                yield HubLine(node.id, order_text(Stamped.of(node)), shared_fields(node, was))
        for edge in export.edges(keys):
            if self._tells(edge):
                yield HubLine(thing_of(edge), order_text(Stamped.of(edge)), shared_fields(edge))
        for anchor in export.anchors(of):
            if self._tells(anchor) and (things is None or thing_of(anchor) in things):
                order = order_text(shared_values(anchor))
                yield HubLine(thing_of(anchor), order, shared_fields(anchor))
        yield from self._past(export)

    def _past(self, export: Export) -> Iterator[HubLine]:
        thing, told = "", None
        local: tuple[str, ...] = ()
        for row, stamp, values in export.past(None if self._things is None else [*self._things]):
            if thing != thing_of(row):
                thing, told, local = thing_of(row), self._told_past(row), local_fields(row)
            values = {name: value for name, value in values.items() if name not in local}
            if told is not None:
                values = {n: v for n, v in values.items() if (n, (stamp, v)) in told}
            if values:
                yield HubLine(thing, stamp, past_fields(row, stamp, values))

    def _told_past(self, key: Thing) -> set[tuple[str, Value]] | None:
        """Return the values of a thing that may be told: (field, value); None for all."""
        row = self._store.thing(thing_of(key))
        if row is None or not (isinstance(row, Edge) or self._tells(row)):
            return set()
        if self._takes.staged and not self._takes.tags:
            return None
        states = [*(past.row for past in self._store.changes.of(row)), row]
        told = [Stamped.of(state) for state in states if self._tells(state)]
        found = {(name, value) for state in told for name, value in state.fields.items()}
        return found | {(BASE, (state.base, "")) for state in told}

    # --- filters

    def _look_up(self, ids: Iterable[str]) -> None:
        """Note which ends of edges, and which owners of anchors, are private."""
        for node in self._store.nodes.get_many(sorted(ids)).values():
            self._sees(node)

    def _sees(self, node: Node) -> bool:
        """Return True if a node is told; note which are not."""
        told = self._takes.node(node)
        if not told and node.type not in CODE_TYPES:
            self._private.add(node.id)
        if self._takes.tags:
            self._seen.add(node.id)
        return told and node.type not in CODE_TYPES

    def _tells(self, row: Thing) -> bool:
        """Return True if a state of a thing is told."""
        if isinstance(row, Node):
            return self._takes.node(row) and row.type not in CODE_TYPES
        if isinstance(row, Anchor):
            return is_shared_anchor(row) and self._tells_of(row.node_id)
        return (
            is_shared_edge(row)
            and all(map(self._tells_of, row.key[:2]))
            and self._takes.has(row.relation)
            and (self._takes.staged or row.status != "staged")
        )

    def _tells_of(self, id: str) -> bool:
        if self._takes.tags and id not in self._seen:
            return False  # nobody knows what tags it has
        return id not in self._private and self._takes.may(id)


def purges_of(store: Store) -> dict[str, str]:
    """Return what was deleted for good, as far as the ids may be told: id to when."""
    found = store.changes.purged().items()
    return {id: at for id, at in found if is_record(id)}


def declared_as(fields: dict[str, Any]) -> tuple[str, str]:
    """Return what lines need a declaration: (node or edge, the type or relation)."""
    if "declare_type" in fields:
        return "node", str(fields["declare_type"])
    return "edge", str(fields["declare_relation"])


def digest_of_declarations(store: Store) -> str:
    """Return a text that changes when a type or a relation is declared."""
    return sha256("".join(map(line_of, declarations(store))).encode()).hexdigest()


def _declaration(fields: dict[str, Any]) -> HubLine:
    return HubLine("", str(fields["at"]), fields, declared_as(fields)[1])


def purge_line(id: str, at: str) -> HubLine:
    """Return the line that says that a record was deleted for good, and when."""
    return HubLine(id, at, {"purged": id, "at": at})


def _numbers(stamp: str) -> tuple[int, int]:
    """Return the time and the store of a stamp as numbers, the greater the later they are."""
    at, _, digits = stamp.partition(" ")
    return int(f"{''.join(filter(str.isdigit, at)):0<14}"[:14]), int(digits or "0", 16)
