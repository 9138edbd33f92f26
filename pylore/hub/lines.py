"""The lines that a store sends to a hub, and their order keys."""

from __future__ import annotations

from itertools import groupby

from ..core.errors import LoreError
from ..core.ids import blake2b, whose
from ..core.model import Anchor, Node, Record
from ..core.stamps import Stamped, is_forgotten_by_nobody, local_fields
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
from ..store.changes import SEPARATOR, owners, thing_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from typing import Any

    from ..core.stamps import Thing
    from ..store import Store

    Line = tuple[str, str, str]
    """(id or declared name, order key, line)"""


class Takes(Record):
    """Filter of a remote: records of these ``types`` (none: all), common or of these ``scopes``
    (``*``: all), confirmed or also ``staged``."""

    __slots__ = ("scopes", "staged", "types")

    def __init__(
        self, types: Iterable[str] = (), scopes: Iterable[str] = (), *, staged: bool = False
    ) -> None:  # fmt: skip
        self.types = tuple(types)
        self.scopes = tuple(scopes)
        self.staged = staged

    @classmethod
    def of(cls, name: str, words: Iterable[str]) -> Takes:
        """Parse ``types=decision,lesson scopes=… staged``.

        Raises:
            LoreError: another word.
        """
        takes = cls()
        for word in words:
            what, equals, given = word.partition("=")
            if word == "staged":
                takes.staged = True
            elif equals and what in ("types", "scopes"):
                setattr(takes, what, tuple(filter(None, given.split(","))))
            else:
                raise LoreError(f"REMOTES[{name}] has '{word}': give a URL, then any of "
                                "types=TYPE,… scopes=NAME,… staged")  # fmt: skip
        return takes

    def __str__(self) -> str:
        return f"{sorted(self.types)} {sorted(self.scopes)} {self.staged}"

    def has(self, *names: str) -> bool:
        """Return True if the thing with these names is common, or of a scope that is taken."""
        scope = whose(*names)
        return not scope or scope in self.scopes or "*" in self.scopes


class HubLines:
    """The lines of records, links, anchors, and the past of all that a remote takes.

    ``things`` limits them to these things and what hangs on the records ``ids``.
    """

    def __init__(
        self, store: Store, takes: Takes, things: Collection[str] | None = None,
        ids: Collection[str] = (),
    ) -> None:  # fmt: skip
        self._store = store
        self._takes = takes
        self._types = frozenset(store.types.require(takes.types))
        self._private: set[str] = set()
        tied: set[str] = set()
        for id in ids:
            tied |= {*map(thing_of, store.edges.of(id, forgotten=True))}
            tied |= {*map(thing_of, store.anchors.of(id, gone=True))}
        self._things = None if things is None else {*things, *tied}

    def __iter__(self) -> Iterator[Line]:
        export, things = Export(self._store), self._things
        ids = keys = of = None
        if things is not None:
            parts = [tuple(thing.split(SEPARATOR)) for thing in sorted(things)]
            ids = [part[0] for part in parts if len(part) == 1]
            keys = [(part[0], part[1], part[2]) for part in parts if len(part) == 3]
            of = sorted({part[0] for part in parts if len(part) == 4})
            every = sorted({id for thing in things for id in owners(thing)})
            for node in self._store.nodes.get_many(every).values():
                self._tells(node)
        for node, was in export.nodes(ids):
            if self._tells(node) and not is_forgotten_by_nobody(node):
                yield _line(node.id, order_text(Stamped.of(node)), shared_fields(node, was))
        for row in export.edges(keys):
            if self._tells(row):
                yield _line(row.from_id, order_text(Stamped.of(row)), shared_fields(row))
        for anchor in export.anchors(of):
            if self._tells(anchor) and (things is None or thing_of(anchor) in things):
                order = order_text(shared_values(anchor))
                yield _line(anchor.node_id, order, shared_fields(anchor))
        yield from self._past(export)

    def _past(self, export: Export) -> Iterator[Line]:
        """Yield the past of things that are told, but of those that were staged where what is
        staged is not taken."""
        past = export.past(None if self._things is None else [*self._things])
        for thing, changes in groupby(past, lambda change: thing_of(change[0])):
            row, left = self._store.thing(thing), [*changes]
            was_staged = any(values.get("status") == '"staged"' for *_, values in left)
            if row is None or not self._tells(row) or (was_staged and not self._takes.staged):
                continue
            local = local_fields(row)
            for key, stamp, every in left:
                values = {name: value for name, value in every.items() if name not in local}
                if values:
                    yield _line(owners(thing)[0], stamp, past_fields(key, stamp, values))

    def _tells(self, row: Thing) -> bool:
        """Return True if the state of a thing is told; note private nodes."""
        if isinstance(row, Anchor):
            return is_shared_anchor(row) and self._tells_of(row.node_id)
        is_taken = self._takes.staged or row.status != "staged"
        if isinstance(row, Node):
            told = is_taken and self._tells_of(row.id)
            if not told:
                self._private.add(row.id)
            return told and row.type not in CODE_TYPES
        ends = self._tells_of(row.from_id) and self._tells_of(row.to_id)
        return is_shared_edge(row) and ends and is_taken and self._takes.has(row.relation)

    def _tells_of(self, id: str) -> bool:
        type = id.partition("-")[0]
        if id in self._private or not self._takes.has(id):
            return False
        return type in CODE_TYPES or (
            type not in NO_RECORDS and (not self._types or type in self._types)
        )


def extra_lines(store: Store, takes: Takes) -> tuple[list[Line], list[Line]]:
    """Return the declarations and the purges of a store that may be told."""
    declared = [
        _line(fields.get("declare_type") or fields["declare_relation"], str(fields["at"]), fields)
        for fields in declarations(store)
    ]
    purges = store.changes.purged().items()
    return (
        [line for line in declared if takes.has(line[0])],
        [_line(id, at, {"purged": id, "at": at}) for id, at in purges if is_record(id)],
    )


def _line(id: str, order: str, fields: dict[str, Any]) -> Line:
    line = line_of(fields).rstrip("\n")
    digest = blake2b(line.encode("utf-8", "replace"), digest_size=8).hexdigest()
    return id, f"{order} {digest}", line


def order_text(values: Stamped) -> str:
    """Return the order key of a row with these values, by which the later one of two stands.

    The values that two rows have in common come after both: the sum of the stamps grows.

    >>> from ..core.model import Edge
    >>> order_text(Stamped.of(Edge("a-1", "b-1", "uses", created_at="2026-01-31T12:00:00Z")))[:35]
    '2026-01-31T12:00:00Z 20260131120000'
    """
    base = _number(values.base)
    stamps = [stamp for stamp, _ in values.fields.values() if stamp != values.base]
    later = sum(map(_number, stamps)) - base * len(stamps)
    return f"{values.last()} {base >> 40:014d} {base & (1 << 40) - 1:010x} {later:027x}"


def _number(stamp: str) -> int:
    """Return the time and the store of a stamp as one number, the greater the later it is."""
    at, _, store = stamp.partition(" ")
    return int(f"{''.join(filter(str.isdigit, at)):0<14}"[:14]) << 40 | int(store or "0", 16)
