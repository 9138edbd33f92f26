"""Export a store, or the shared part of a project, as JSON lines.

The same knowledge gives the same lines in the same order: declarations, purges, records, links,
anchors, then the past of each.
"""

from __future__ import annotations

from itertools import groupby

from ..core.model import Anchor, Edge, Node
from ..core.stamps import BASE, Stamped, is_after, latest, local_fields
from ..core.vocabulary import CO_CHANGES, NO_RECORDS, RUN_IDS
from ..store.changes import owners, row_of_thing, thing_of
from .lines import READS, fields_of, line_of, past_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from ..core.stamps import Thing
    from ..store import Store
    from .lines import Fields

FILE = "knowledge.jsonl"
"""The name of the file that a project shares, beside the store of a project."""

_DERIVED = frozenset({"similar_to", CO_CHANGES, "used_in_run"})


class Export:
    """The exported rows of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def nodes(self, ids: Sequence[str] | None = None) -> Iterator[tuple[Node, list[str]]]:
        """Yield these nodes, or all, by id, with the stamps of the changes that they have seen."""
        known = {id: set(stamps) for id, stamps in self._store.changes.seen(ids).items()}
        for thing, _, value in self._store.changes.former(ids):
            known.setdefault(thing, set()).add(value[0])
        nodes: Iterable[Node] = self._store.nodes.all()
        if ids is not None:
            nodes = self._store.nodes.get_many(sorted(ids)).values()
        for node in nodes:
            seen = known.get(node.id, set())
            own = Stamped.of(node).stamps() if seen else seen
            yield node, [stamp for stamp in latest(seen | own) if stamp not in own]

    def edges(self, keys: Sequence[tuple[str, str, str]] | None = None) -> Iterator[Edge]:
        """Yield these edges, or all, by from, to and relation."""
        if keys is None:
            return iter(self._store.edges.all())
        return (edge for _, edge in sorted(self._store.edges.get_many(keys).items()))

    def anchors(self, ids: Sequence[str] | None = None) -> Iterator[Anchor]:
        """Yield the anchors of these nodes, or all, with removed anchors."""
        if ids is None:
            return iter(self._store.anchors.all())
        return (one for id in sorted(ids) for one in self._store.anchors.of(id, gone=True))

    def past(
        self, things: Sequence[str] | None = None
    ) -> Iterator[tuple[Thing, str, dict[str, str]]]:
        """Yield (row with the key of a thing, stamp, field to value) of the past of things."""
        for thing, rows in groupby(self._store.changes.former(things), lambda row: row[0]):
            some, row = [(field, value) for _, field, value in rows], self._store.thing(thing)
            # stamps under which missing fields have their defaults
            implied = {Stamped.of(row).base} if row is not None else set()
            implied |= {stamp for field, (stamp, _) in some if field == BASE}
            for stamp, of in groupby(some, lambda one: one[1][0]):
                values = {
                    field: value
                    for field, (_, value) in of
                    if value or field == BASE or stamp not in implied
                }
                if values:
                    yield row_of_thing(thing), stamp, values


def export_lines(store: Store, types: Sequence[str] = ()) -> Iterator[str]:
    """Yield everything in the store as sorted JSON lines.

    ``types``: export only nodes of these types, with their anchors and all of their edges.
    """
    purged = store.changes.purged().keys()

    def kept(row: Thing) -> bool:
        return not types or any(_type(id) in types for id in owners(thing_of(row)))

    def line(row: Thing, was: list[str] | None = None) -> str:
        found = fields_of(row, was)
        if not purged.isdisjoint(owners(thing_of(row))):  # reads before the purge are unknown
            found = {name: value for name, value in found.items() if name not in READS}
        return line_of(found)

    yield from map(line_of, declarations(store))
    for id, at in store.changes.deleted().items():
        if not types or _type(id) in types:
            yield line_of({"purged": id, "at": at})
    export = Export(store)
    yield from (line(node, was) for node, was in export.nodes() if kept(node))
    yield from map(line, filter(kept, export.edges()))
    yield from map(line, filter(kept, export.anchors()))
    yield from (line_of(past_fields(*past)) for past in export.past() if kept(past[0]))


def _type(id: str) -> str:
    return id.partition("-")[0]


def declarations(store: Store) -> Iterator[Fields]:
    """Yield the types and relations that were declared in a store, as fields of a line."""
    for name, (at, text) in store.types.declared().items():
        yield {"declare_type": name, "description": text, "at": at}
    for name, (at, (weight, backward, text)) in store.relations.declared().items():
        weights = {"weight": weight, "backward_weight": backward}
        yield {"declare_relation": name, **weights, "description": text, "at": at}


# --- the shared part


def shared_lines(store: Store, pages: Collection[str] = ()) -> Iterator[str]:
    """Yield the lines of the file that a project shares: records, links and anchors of people.

    Omitted are computed nodes and edges, values of a single machine, the past, records that a file
    proposes to purge, and ``pages``: documents of files in git. So two stores with the same records
    write the same file.
    """
    yield from map(line_of, declarations(store))
    deleted, export = store.changes.deleted(), Export(store)
    yield from (line_of({"purged": id, "at": at}) for id, at in deleted.items() if is_record(id))
    for node, was in export.nodes():
        if is_record(node.id) and node.id not in pages and (row := _after(node, deleted)):
            gone = deleted.get(node.id, "")
            yield line_of(shared_fields(row, [stamp for stamp in was if is_after(stamp, gone)]))
    for edge in export.edges():
        of_page = edge.source == "file" and edge.from_id in pages
        if is_shared_edge(edge) and not of_page and (row := _after(edge, deleted)):
            yield line_of(shared_fields(row))
    for anchor in filter(is_shared_anchor, export.anchors()):
        if row := _after(anchor, deleted):
            yield line_of(shared_fields(row))


def _after(row: Thing, deleted: Mapping[str, str]) -> Thing | None:
    """Return a row with the values from after a purge of an owner; None without any."""
    gone = max(deleted.get(id, "") for id in owners(thing_of(row)))
    rest = Stamped.of(row).after(gone) if gone else None
    return row if rest is None else rest.to_row(row) if rest.stamps() else None


def shared_fields(row: Thing, was: list[str] | None = None) -> Fields:
    """Return a row as a shared line has it: without values of a single machine."""
    if isinstance(row, Anchor):
        row = shared_values(row).to_row(row)
    left_out = (*READS, *local_fields(row))
    return {name: value for name, value in fields_of(row, was).items() if name not in left_out}


def shared_values(row: Thing) -> Stamped:
    """Return the values of a row but for values of a single machine."""
    return Stamped.of(row).without(local_fields(row))


def is_record(id: str) -> bool:
    """Return True for the id of a record."""
    return _type(id) not in NO_RECORDS


def is_shared_edge(edge: Edge) -> bool:
    """Return True for a link that is shared."""
    ends = (edge.from_id, edge.to_id)
    if edge.relation in _DERIVED or edge.source == "system":
        return False
    return any(map(is_record, ends)) and not any(id.startswith(RUN_IDS) for id in ends)


def is_shared_anchor(anchor: Anchor) -> bool:
    """Return True for an anchor that is shared."""
    return not anchor.root and is_record(anchor.node_id)
