"""Write the lines of a store for a hub, with their order keys."""

from __future__ import annotations

from hashlib import blake2b
from itertools import chain, groupby
from typing import TYPE_CHECKING

from ..core.errors import UsageError
from ..core.ids import whose
from ..core.model import Anchor, Edge, Node
from ..core.stamps import Stamped, is_forgotten_by_nobody, local_fields
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
from ..store import ALL
from ..store.changes import SEPARATOR, owners, thing_of
from ..store.filter import Scope

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from typing import Any

    from ..core.stamps import Thing
    from ..store import Store

    Line = tuple[str, str, str]
    """(id or declared name, order key, line)"""


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


class HubLines:
    """The lines of records, links and anchors for a remote, then their past.

    ``things`` limits them to these keys and to the links and anchors of the records ``ids``.
    """

    def __init__(
        self,
        store: Store,
        takes: Takes,
        things: Collection[str] | None = None,
        ids: Collection[str] = (),
    ) -> None:
        self._store, self._takes = store, takes
        self._types = store.types.require(takes.types)
        self._private: set[str] = set()
        for forgotten in (False, True) if not takes.staged else ():
            staged = store.nodes.select(Scope(statuses=("staged",)), ALL, forgotten=forgotten)
            self._private.update(node.id for node in staged)
        tied: list[Thing] = []
        for id in ids:
            tied += [*store.edges.of(id, forgotten=True), *store.anchors.of(id, gone=True)]
        self._things = None if things is None else sorted({*things, *map(thing_of, tied)})

    def __iter__(self) -> Iterator[Line]:
        export, things = Export(self._store), self._things
        ids = keys = of = None
        if things is not None:
            parts = [tuple(thing.split(SEPARATOR)) for thing in things]
            ids = [part[0] for part in parts if len(part) == 1]
            keys = [(part[0], part[1], part[2]) for part in parts if len(part) == 3]
            of = sorted({part[0] for part in parts if len(part) == 4})
        for node, was in export.nodes(ids):
            if self._is_taken(node) and not is_forgotten_by_nobody(node):
                yield _line(node.id, order_text(Stamped.of(node)), shared_fields(node, was))
        rows: Iterator[Edge | Anchor] = chain(export.edges(keys), export.anchors(of))
        for row in rows:
            if self._is_taken(row) and (things is None or thing_of(row) in things):
                yield _line(row.key[0], order_text(shared_values(row)), shared_fields(row))
        for thing, changes in groupby(export.past(things), lambda change: thing_of(change[0])):
            row_now, left = self._store.thing(thing), [*changes]
            # Former texts of a staged record may be private.
            was_staged = any(values.get("status") == '"staged"' for *_, values in left)
            if row_now and self._is_taken(row_now) and (self._takes.staged or not was_staged):
                yield from self._past(owners(thing)[0], left, local_fields(row_now))

    def _past(self, id: str, left: Iterable[Any], local: Collection[str]) -> Iterator[Line]:
        for key, stamp, every in left:
            values = {name: value for name, value in every.items() if name not in local}
            if values:
                yield _line(id, stamp, past_fields(key, stamp, values))

    def _is_taken(self, row: Thing) -> bool:
        """Return True if the remote takes the current state of a thing."""
        if isinstance(row, Anchor):
            return is_shared_anchor(row) and self._takes_id(row.node_id)
        if isinstance(row, Node):
            return is_record(row.id) and self._takes_id(row.id)
        is_open = self._takes.has(row.relation) and (self._takes.staged or row.status != "staged")
        return is_open and is_shared_edge(row) and all(map(self._takes_id, row.key[:2]))

    def _takes_id(self, id: str) -> bool:
        is_taken = not is_record(id) or not self._types or id.partition("-")[0] in self._types
        return is_taken and id not in self._private and self._takes.has(id)


def extra_lines(store: Store, takes: Takes) -> tuple[list[Line], list[Line]]:
    """Return the declarations and purges of a store for a remote."""
    declared = {
        (one.get("declare_type") or one["declare_relation"]): one for one in declarations(store)
    }
    purges = store.changes.purged().items()
    return (
        [_line(name, one["at"], one) for name, one in declared.items() if takes.has(name)],
        [_line(id, at, {"purged": id, "at": at}) for id, at in purges if is_record(id)],
    )


def _line(id: str, order: str, fields: dict[str, Any]) -> Line:
    line = line_of(fields).rstrip("\n")
    digest = blake2b(line.encode("utf-8", "replace"), digest_size=8).hexdigest()
    return id, f"{order} {digest}", line


def order_text(values: Stamped) -> str:
    """Return the order key of a row with these values: the greatest is the head at a hub.

    A join of two rows has a greater key than both, because the sum of the stamps grows.

    >>> from ..core.model import Edge
    >>> order_text(Stamped.of(Edge("a-1", "b-1", "uses", created_at="2026-01-31T12:00:00Z")))[:35]
    '2026-01-31T12:00:00Z 20260131120000'
    """
    base = _number(values.base)
    stamps = [stamp for stamp, _ in values.fields.values() if stamp != values.base]
    later = sum(map(_number, stamps)) - base * len(stamps)
    return f"{values.last()} {base >> 40:014d} {base & (1 << 40) - 1:010x} {later:027x}"


def _number(stamp: str) -> int:
    """Return a stamp as a number; later stamps are greater."""
    at, _, store = stamp.partition(" ")
    return int(f"{''.join(filter(str.isdigit, at)):0<14}"[:14]) << 40 | int(store or "0", 16)
