"""Write the lines of a store for a hub, with their order keys."""

from __future__ import annotations

from hashlib import blake2b
from itertools import chain, groupby
from typing import TYPE_CHECKING

from ..core.errors import UsageError
from ..core.ids import whose
from ..core.model import Edge
from ..core.stamps import Stamped, is_forgotten_by_nobody, local_fields
from ..formats.export import (
    declarations,
    is_record,
    is_shared,
    nodes_of,
    past_of,
    shared_fields,
    shared_values,
)
from ..formats.lines import line_of, past_fields
from ..store import ALL
from ..store.changes import SEPARATOR, owners, thing_of
from ..store.filter import Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
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
    for node, was in nodes_of(store, nodes):
        if is_taken(node) and not is_forgotten_by_nobody(node):
            yield _line(node.id, order_text(Stamped.of(node)), shared_fields(node, was))
    for row in rows:
        if row and is_taken(row):
            id = owners(thing_of(row))[0]
            yield _line(id, order_text(shared_values(row)), shared_fields(row))
    for thing, changes in groupby(past_of(store, things), lambda change: thing_of(change[0])):
        row, left = store.thing(thing), [*changes]
        # Former texts of a staged record may be private.
        was_staged = any(values.get("status") == '"staged"' for *_, values in left)
        if row and is_taken(row) and (takes.staged or not was_staged):
            local = local_fields(row)
            for key, stamp, every in left:
                if values := {name: value for name, value in every.items() if name not in local}:
                    yield _line(owners(thing)[0], stamp, past_fields(key, stamp, values))


def _filter(store: Store, takes: Takes) -> Callable[[Thing], bool]:
    """Return a function that returns True if a remote takes the current state of a thing."""
    types, private = store.types.require(takes.types), set[str]()
    for forgotten in (False, True) if not takes.staged else ():
        staged = store.nodes.select(Scope(statuses=("staged",)), ALL, forgotten=forgotten)
        private.update(node.id for node in staged)

    def has(id: str) -> bool:
        if not is_record(id):
            return takes.has(id)
        return id not in private and takes.has(id) and (not types or id.partition("-")[0] in types)

    def is_taken(row: Thing) -> bool:
        if isinstance(row, Edge):
            is_open = takes.has(row.relation) and (takes.staged or row.status != "staged")
            return is_open and is_shared(row) and all(map(has, row.key[:2]))
        return is_shared(row) and has(owners(thing_of(row))[0])

    return is_taken


def extra_lines(store: Store, takes: Takes) -> tuple[list[Line], list[Line]]:
    """Return the declarations and purges of a store for a remote."""
    named = [
        (one.get("declare_type") or one["declare_relation"], one) for one in declarations(store)
    ]
    purges = store.changes.purged().items()
    return (
        [_line(name, one["at"], one) for name, one in named if takes.has(name)],
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
