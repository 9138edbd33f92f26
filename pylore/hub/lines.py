"""Write the lines that a store sends to a hub, and read those that others have sent.

Each method of ``HubStore`` is one round trip, in its own transaction.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from itertools import chain, groupby, islice

from ..core.errors import StoreBusy
from ..core.ids import blake2b, whose
from ..core.model import Edge, Node, Record
from ..core.stamps import BASE, Stamped, is_forgotten_by_nobody
from ..core.states import order
from ..core.vocabulary import CODE_TYPES, NO_RECORDS
from ..formats.delta import PartOfStore
from ..formats.knowledge import shared, shared_anchor
from ..formats.lines import (
    anchor_lines,
    declarations,
    edge_fields,
    line_of,
    node_fields,
    past_edge_fields,
    past_fields,
)
from ..records.canonical import GONE, edge_of, told_nodes, told_past, told_past_edges
from ..store import ALL as EVERY
from ..store.filter import Scope
from ..store.remotes import Touched
from .connection import STATEMENT_SECONDS
from .schema import require_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from ..core.model import EdgeKey
    from ..core.stamps import Value
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
_PULL = "SELECT * FROM lore.pull(%s, %s, %s, %s::xid8[], %s)"
_DECLARED = """
SELECT kind, line FROM lore.lines WHERE kind IN ('type', 'relation') AND line <> '' ORDER BY seq
"""
_KNOWS = "SELECT * FROM lore.knows(%s)"
_WAITING = """
SELECT count(*) FROM lore.lines n LEFT JOIN jsonb_each_text(%s) o ON n.xid = o.key::xid8
WHERE line <> '' AND ((xid, seq) > (%s, %s) OR n.seq > o.value::bigint)
"""
_DECLARE = """
INSERT INTO lore.types SELECT row->>0, row->>1, false FROM jsonb_array_elements(%s) AS given(row)
ON CONFLICT (name) DO UPDATE SET description = excluded.description WHERE NOT types.declared;
INSERT INTO lore.relations
SELECT row->>0, (row->>1)::float8, (row->>2)::float8, row->>3, false
FROM jsonb_array_elements(%s) AS given(row)
ON CONFLICT (name) DO UPDATE SET weight = excluded.weight,
  backward_weight = excluded.backward_weight, description = excluded.description
WHERE NOT relations.declared
"""
_COUNTS = """
SELECT jsonb_build_object(
  'lines', (SELECT count(*) FROM lore.lines),
  'records', (SELECT count(*) FROM lore.nodes WHERE order_key <> '' AND invalidated_at IS NULL),
  'links', (SELECT count(*) FROM lore.edges WHERE invalidated_at IS NULL),
  'bytes', pg_total_relation_size('lore.lines'),
  'synchronous_commit', current_setting('synchronous_commit'),
  'synchronous_standby_names', current_setting('synchronous_standby_names'),
  'fsync', current_setting('fsync'),
  'standbys', (SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'),
  'synchronous', (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')),
  'server', current_setting('server_version'))
"""


class Hello(Record):
    """What a hub says of itself; ``holds``: the lines that it was asked for are there; ``sees``:
    of whose scopes one is given lines; ``longest``: the bytes that a line may have."""

    __slots__ = (
        "generation", "holds", "longest", "may_write", "role", "sees", "standby", "timeline",
        "version",
    )  # fmt: skip

    def __init__(self, said: dict[str, Any]) -> None:
        self.version: int = said["version"]
        self.generation: str = said["generation"] or ""
        self.timeline: str = said["timeline"]
        self.role: str = said["role"]
        self.sees: str = said["sees"]
        self.may_write: bool = said["may_write"]
        self.standby: bool = said["standby"]
        self.holds: bool = said["holds"]
        self.longest: int = said["longest"]


class Pushed(Record):
    """What became of lines: how many were ``taken`` and ``known``, which (from 0) were
    ``refused``, why, and whether for good; ``mark`` is the last that was taken, ``xid`` its
    transaction."""

    __slots__ = ("known", "mark", "refused", "taken", "xid")

    def __init__(self, said: dict[str, Any]) -> None:
        self.taken: int = said["taken"]
        self.known: int = said["known"]
        self.refused = [(int(n), str(why), bool(final)) for n, why, final in said["refused"]]
        self.xid: str = said["xid"] or ""
        self.mark: Mark | None = (self.xid, said["seq"]) if said["seq"] is not None else None


class HubStore:
    """What stores ask of a hub."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub

    def hello(self, marks: Iterable[Mark] = ()) -> Hello:
        """Return what it is, and whether it still has these lines.

        Raises:
            StoreError: it has no schema, or that of another version.
        """
        rows = self.hub.ask(_HELLO, [_LIMIT, json.dumps([*marks])])
        said = Hello(rows[0][0])
        require_version(self.hub, said.version)
        return said

    def push(self, lines: Sequence[tuple[str, str]]) -> Pushed:
        """Takes lines, each with its order key; sent again they are known."""
        batch = json.dumps(lines, ensure_ascii=False, separators=(",", ":"))
        for left in reversed(range(_TRIES)):
            try:
                return Pushed(self.hub.ask(_PUSH, [batch])[0][0])
            except StoreBusy:
                if not left:
                    raise
        raise AssertionError("the last try ends this")

    def pull(
        self, place: ReadPosition, most: int, own: Sequence[str] = ()
    ) -> tuple[list[Row], ReadPosition]:  # fmt: skip
        """Return the lines that come after a place, at most so many, and the place after them.
        Those of the transactions of one's own come without their text."""
        values = [place.xid, place.seq, most, [*own], json.dumps(place.open)]
        found = self.hub.ask(_PULL, values)
        rows = [row[:4] for row in found]
        if not found:
            return rows, place
        return rows, place.after(rows[-1][:2], found[0][4], is_all=len(rows) < most)

    def declared(self) -> list[tuple[str, str]]:
        """(kind, line) of all types and relations that were ever declared."""
        return [(str(kind), str(line)) for kind, line in self.hub.ask(_DECLARED)]

    def knows(self, digests: Sequence[str]) -> set[str]:
        """Return those of these md5 sums of ids of which it has lines."""
        return {str(digest) for (digest,) in self.hub.ask(_KNOWS, [[*digests]])}

    def waiting(self, place: ReadPosition) -> int:
        """Return how many lines come after a place."""
        return int(self.hub.ask(_WAITING, [json.dumps(place.open), place.xid, place.seq])[0][0])

    def declare(
        self, types: Mapping[str, str], relations: Mapping[str, tuple[float, float, str]]
    ) -> None:
        """Lets it know the types and relations that every store has."""
        rows = [[name, *row] for name, row in relations.items()]
        self.hub.ask(_DECLARE, [json.dumps([*types.items()]), json.dumps(rows)])

    def counts(self) -> dict[str, Any]:
        """Return what there is in it, and how it keeps what it has acknowledged."""
        found: dict[str, Any] = self.hub.ask(_COUNTS)[0][0]
        return found


def writes_may_be_lost(counts: dict[str, Any]) -> str:
    """Return how a write that this hub has acknowledged may be lost; nothing: it may not.

    >>> writes_may_be_lost({"fsync": "off"})
    'fsync is off: a crash of its machine may lose or damage all of it'
    """
    if counts["fsync"] == "off":
        return "fsync is off: a crash of its machine may lose or damage all of it"
    mode = counts["synchronous_commit"]
    if mode == "off":
        return "synchronous_commit is off: a crash loses what was acknowledged last"
    if not counts["synchronous_standby_names"] or mode == "local":
        return ("no standby has to have a write before it is acknowledged "
                "(synchronous_standby_names): what they lack is lost with the machine")  # fmt: skip
    return ""


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
    """A line, its order key, and what to touch to have it sent again."""

    __slots__ = ("id", "line", "order", "relation", "to_id", "what")

    def __init__(self, what: str, order: str, fields: dict[str, Any], *key: str) -> None:
        self.what = what
        self.id, self.to_id, self.relation = (*key, "", "", "")[:3]
        self.line = line_of(fields).rstrip("\n")
        digest = blake2b(self.line.encode("utf-8", "replace"), digest_size=8).hexdigest()
        self.order = f"{order} {digest}" if order else digest


def order_text(state: Node | Edge) -> str:
    """Return ``order`` as text, which compares as that does, byte by byte.

    >>> order_text(Edge("a-1", "b-1", "uses", created_at="2026-01-31T12:00:00Z"))[:24]
    '2026-01-31T12:00:00Z  2 '
    """
    clock, gone, rank, digest, made = order(state)
    if isinstance(state, Node):  # joined from two others it comes after both
        values = Stamped.of(state)
        base, digits = _numbers(values.base)
        later = [_numbers(one[0]) for one in values.fields.values() if one[0] != values.base]
        times, stores = sum(at - base for at, _ in later), sum(of for _, of in later)
        gone = f"{base:014d} {digits:010x} {times:016d} {stores:014x} {gone}"
    return f"{clock} {gone} {rank + 1} {digest[:20]} {made}".rstrip()


class HubLines:
    """The lines of a store; with ``touched``, those of what has changed. What was deleted for good
    is not among them: ``purges``."""

    def __init__(self, store: Store, takes: Takes, touched: Touched | None = None) -> None:
        self._store = store
        self._takes = takes
        self._touched = touched
        self._private: set[str] = set()
        self._seen: set[str] = set()

    def __iter__(self) -> Iterator[HubLine]:
        declared = {declared_as(fields): fields for fields in declarations(self._store)}
        for line in self._said():
            name = line.relation if line.what == "edge" else line.id.partition("-")[0]
            fields = declared.pop((line.what, name), None)
            if fields:
                yield HubLine("declared", str(fields["at"]), fields, name)
            yield line
        if self._touched is not None:
            for what, name in sorted(declared):
                if name in self._touched.declared:
                    yield from self._declared_before(what, name)

    def _declared_before(self, what: str, name: str) -> Iterator[HubLine]:
        """Yield what is declared anew, and nothing of it has changed but that: its line, if any
        that goes is of it."""
        found: Iterator[Any]
        if what == "edge":
            found = (edge.key for edge in self._store.edges.with_relation(name))
        else:
            of_type = partial(self._store.nodes.select, Scope((name,)), EVERY)
            found = (node.id for node in chain(of_type(), of_type(forgotten=True)))
        while some := {*islice(found, _AT_ONCE)}:
            part = Touched()
            if what == "edge":
                part.edges = some
            else:
                part.nodes = some
            for line in HubLines(self._store, self._takes, part):
                if line.what == "declared" and line.id == name:
                    yield line
                    return

    def _said(self) -> Iterator[HubLine]:
        """Yield all but what is declared."""
        part: Any = self._store if self._touched is None else _Part(self._store, self._touched)
        yield from self._nodes(part)
        if self._touched is not None:
            self._look_up(part.edges.keys)
        yield from self._edges(part)
        yield from self._past(part)
        yield from self._anchors(part)

    def purges(self) -> dict[str, str]:
        """Map id to when of what was deleted for good, as far as the ids may be told."""
        ids = None if self._touched is None else sorted(self._touched.purged)
        found = self._store.history.purged(ids)
        return {id: at for id, at in found.items() if id.partition("-")[0] not in NO_RECORDS}

    def _nodes(self, part: Any) -> Iterator[HubLine]:
        for node, was in told_nodes(part):
            if not self._sees(node) or is_forgotten_by_nobody(node):
                continue
            fields = shared(node_fields(node, was))
            if fields is not None:
                yield HubLine("node", order_text(node), fields, node.id)

    def _look_up(self, edges: Iterator[EdgeKey]) -> None:
        """Note which ends of edges, and which owners of anchors, are private."""
        assert self._touched is not None
        ids = {end for key in edges for end in key[:2]} | self._touched.anchors
        for node in self._store.nodes.get_many(sorted(ids)).values():
            self._sees(node)

    def _sees(self, node: Node) -> bool:
        """Return whether a node is told; notes which are not."""
        told = self._takes.node(node)
        if not told and node.type not in CODE_TYPES:
            self._private.add(node.id)
        if self._takes.tags:
            self._seen.add(node.id)
        return told

    def _tells(self, id: str) -> bool:
        if self._takes.tags and id not in self._seen:
            return False  # nobody knows what tags it has
        return id not in self._private and self._takes.may(id)

    def _tells_edge(self, key: tuple[str, str, str], status: object) -> bool:
        return (
            self._tells(key[0])
            and self._tells(key[1])
            and self._takes.has(key[2])
            and (self._takes.staged or status != "staged")
        )

    def _edges(self, part: Any) -> Iterator[HubLine]:
        for edge in part.edges.all():
            if self._tells_edge(edge.key, edge.status):
                fields = shared(edge_fields(edge))
                if fields is not None:
                    yield HubLine("edge", order_text(edge), fields, *edge.key)

    def _past(self, part: Any) -> Iterator[HubLine]:
        for id, some in groupby(told_past(part), lambda row: row[0]):
            if self._tells(id):
                rows = [*some]
                told = self._told(id) if self._is_in_part(rows) else None
                for _, stamp, values in rows:
                    if told is not None:
                        values = {n: v for n, v in values.items() if (n, (stamp, v)) in told}
                    if values:
                        yield HubLine("node", stamp, past_fields(id, stamp, values), id)
        for state in told_past_edges(part):
            key = (str(state["from_id"]), str(state["to_id"]), str(state["relation"]))
            as_edge = {**dict(zip(("from_id", "to_id", "relation"), key, strict=True)),
                       "source": state["source"]}  # fmt: skip
            if self._tells_edge(key, state["status"]) and shared(as_edge) is not None:
                yield HubLine("edge", order_text(edge_of(state)), past_edge_fields(state), *key)

    def _is_in_part(self, rows: Sequence[tuple[str, str, dict[str, str]]]) -> bool:
        """Return whether some of the states of a node may be told, and some not."""
        if self._takes.tags:
            return True
        return not self._takes.staged and any("status" in values for *_, values in rows)

    def _told(self, id: str) -> set[tuple[str, Value]]:
        """Return the values of those states of a node that may be told: (field, value)."""
        states = [past.node for past in self._store.history.of_node(id)]
        told = [Stamped.of(node) for node in states if self._takes.node(node)]
        found = {(name, value) for state in told for name, value in state.fields.items()}
        return found | {(BASE, (state.base, "")) for state in told}

    def _anchors(self, part: Any) -> Iterator[HubLine]:
        for fields in anchor_lines(part):
            id = str(fields.get("anchor_of") or fields.get("anchor_history_of"))
            if not self._tells(id) or id.partition("-")[0] in CODE_TYPES:
                continue
            if "anchor_of" in fields:
                told = shared_anchor(fields)
                if told is not None:
                    yield HubLine("anchor", told["created_at"], told, id)
            elif fields["change"] in GONE:
                yield HubLine("anchor", fields["changed_at"], fields, id)


def declared_as(fields: dict[str, Any]) -> tuple[str, str]:
    """Return what lines need a declaration: (node or edge, the type or relation)."""
    if "declare_type" in fields:
        return "node", str(fields["declare_type"])
    return "edge", str(fields["declare_relation"])


def purge_line(id: str, at: str) -> HubLine:
    """Return the line that says that this was deleted for good, and when."""
    return HubLine("purged", at, {"purged": id, "at": at}, id)


class _Part(PartOfStore):
    """Changed parts of a store: these nodes without their edges, and these edges."""

    def __init__(self, store: Store, touched: Touched) -> None:
        nodes = touched.nodes | touched.ends
        super().__init__(store, nodes)
        self.edges = _TouchedEdges(store, touched)  # type: ignore[assignment]
        self.anchors = PartOfStore(store, touched.anchors | touched.ends).anchors


class _TouchedEdges:
    def __init__(self, store: Store, touched: Touched) -> None:
        self._store = store
        found = set(touched.edges)
        for id in touched.ends:
            found.update(edge.key for edge in store.edges.of(id, forgotten=True))
        self.keys = sorted(found)

    def all(self) -> Iterator[Edge]:
        """Read as ``Edges.all``."""
        found = (self._store.edges.get(*key) for key in self.keys)
        return (edge for edge in found if edge is not None)

    def history(self) -> Iterator[dict[str, object]]:
        """Read as ``Edges.history``."""
        for key in self.keys:
            yield from self._store.edges.history(key)


def _numbers(stamp: str) -> tuple[int, int]:
    """Return the time and the store of a stamp as numbers, the greater the later they are."""
    at, _, digits = stamp.partition(" ")
    return int(f"{''.join(filter(str.isdigit, at)):0<14}"[:14]), int(digits or "0", 16)
