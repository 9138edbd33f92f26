"""The lines of a hub: what a client sends, and what it reads on from where it was.

Each method is one round trip, in a transaction of its own.
"""

from __future__ import annotations

import json

from ...core.errors import StoreBusy
from ...core.model import Record
from .connection import STATEMENT_SECONDS
from .migrate import require_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

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
        """What it is, and whether it still has these lines.

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
        """Those of these md5 sums of ids of which it has lines."""
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
        """What there is in it, and how it keeps what it has acknowledged."""
        found: dict[str, Any] = self.hub.ask(_COUNTS)[0][0]
        return found


def writes_may_be_lost(counts: dict[str, Any]) -> str:
    """How a write that this hub has acknowledged may be lost; nothing: it may not.

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
