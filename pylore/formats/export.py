"""Export a store as JSON lines: all of it, the part that a project shares, or what another lacks.

The same knowledge gives the same lines in the same order: declarations, purges, records, links,
anchors, then the past of each.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from itertools import groupby

from ..core.errors import UsageError
from ..core.model import Anchor, Edge, Node
from ..core.stamps import BASE, Stamped, is_after, latest, local_fields
from ..core.vocabulary import CO_CHANGES, NO_RECORDS, RUN_IDS
from ..store.changes import owners, row_of_thing, thing_of
from .lines import READS, fields_of, line_of, past_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from ..core.stamps import Thing
    from ..store import Store
    from .lines import Fields

FILE = "knowledge.jsonl"
"""The name of the file that a project shares, beside the store of a project."""

_DERIVED = frozenset({"similar_to", CO_CHANGES, "used_in_run"})
FORM = 2
"""The number of this form of a state."""
_LONGEST_STATE = 1 << 26
_DIGEST = 8
"""Bytes of the digest of a line."""


class Export:
    """The exported rows of a store.

    ``gone`` maps ids to times of purges: values from before them are left out.
    """

    def __init__(self, store: Store, gone: Mapping[str, str] | None = None) -> None:
        self._store = store
        self._gone = store.changes.purged() if gone is None else gone

    def _after_purge(self, row: Any) -> Any:
        """Return a row with what was said of it after a purge; None if nothing was."""
        gone = max(self._gone.get(id, "") for id in owners(thing_of(row)))
        if not gone:
            return row
        rest = Stamped.of(row).after(gone)
        if not rest.stamps():
            return None
        row = rest.to_row(row)
        if not isinstance(row, Anchor):  # nobody knows how often it was read before
            row.accessed_at, row.access_count = None, 0
        return row

    def nodes(self, ids: Sequence[str] | None = None) -> Iterator[tuple[Node, list[str]]]:
        """Yield these nodes, or all, by id, with the stamps of the changes that they have seen."""
        known = {id: set(stamps) for id, stamps in self._store.changes.seen(ids).items()}
        for thing, _, value in self._store.changes.former(ids):
            known.setdefault(thing, set()).add(value[0])
        nodes: Iterable[Node] = self._store.nodes.all()
        if ids is not None:
            nodes = self._store.nodes.get_many(sorted(ids)).values()
        for row in nodes:
            node = self._after_purge(row)
            if node is not None:
                gone = self._gone.get(node.id, "")
                yield node, _seen_before(node, known.get(node.id, set()), gone)

    def edges(self, keys: Sequence[tuple[str, str, str]] | None = None) -> Iterator[Edge]:
        """Yield these edges, or all, by from, to and relation."""
        edges: Iterable[Edge] = self._store.edges.all()
        if keys is not None:
            edges = (edge for _, edge in sorted(self._store.edges.get_many(keys).items()))
        return filter(None, map(self._after_purge, edges))

    def anchors(self, ids: Sequence[str] | None = None) -> Iterator[Anchor]:
        """Yield the anchors of these nodes, or all, those taken away too."""
        anchors: Iterable[Anchor] = self._store.anchors.all()
        if ids is not None:
            anchors = (one for id in sorted(ids) for one in self._store.anchors.of(id, gone=True))
        return filter(None, map(self._after_purge, anchors))

    def past(
        self, things: Sequence[str] | None = None
    ) -> Iterator[tuple[Thing, str, dict[str, str]]]:
        """Yield (row with the key of a thing, stamp, field to value) of what things have left."""
        for thing, rows in groupby(self._store.changes.former(things), lambda row: row[0]):
            gone = max(self._gone.get(id, "") for id in owners(thing))
            some = [(field, value) for _, field, value in rows if is_after(value[0], gone)]
            implied = self._bases(thing, some)
            for stamp, of in groupby(some, lambda one: one[1][0]):
                values = {field: value for field, (_, value) in of
                          if value or field == BASE or stamp not in implied}  # fmt: skip
                if values:
                    yield row_of_thing(thing), stamp, values

    def _bases(self, thing: str, values: Sequence[tuple[str, tuple[str, str]]]) -> set[str]:
        """Return the stamps under which a field that is not named has its default."""
        row = self._store.thing(thing)
        current = {Stamped.of(row).base} if row is not None else set()
        return current | {stamp for field, (stamp, _) in values if field == BASE}


def _seen_before(node: Node, known: Iterable[str], gone: str) -> list[str]:
    """Return the stamps of changes that a node has seen and does not have itself."""
    known = {stamp for stamp in known if is_after(stamp, gone)}
    if not known:
        return []
    own = Stamped.of(node).stamps()
    return [stamp for stamp in latest(known | own) if stamp not in own]


def export_lines(store: Store, types: Sequence[str] = (), *, history: bool = True) -> Iterator[str]:
    """Yield everything in the store as sorted JSON lines.

    Args:
        types: export the nodes of these alone, with their anchors and all of their edges.
        history: export the past, too.
    """
    yield from map(line_of, _all_fields(store, types, history=history))


def _all_fields(store: Store, types: Sequence[str], *, history: bool) -> Iterator[Fields]:
    def kept(row: Thing) -> bool:
        return not types or any(_type(id) in types for id in owners(thing_of(row)))

    yield from declarations(store)
    for id, at in store.changes.deleted().items():
        if not types or _type(id) in types:
            yield {"purged": id, "at": at}
    export = Export(store)
    for node, was in export.nodes():
        if kept(node):
            yield fields_of(node, was)
    yield from map(fields_of, filter(kept, export.edges()))
    yield from map(fields_of, filter(kept, export.anchors()))
    if history:
        for row, stamp, values in export.past():
            if kept(row):
                yield past_fields(row, stamp, values)


def _type(id: str) -> str:
    return id.partition("-")[0]


def declarations(store: Store) -> Iterator[Fields]:
    """Yield the types and relations that were declared in a store, as fields of a line."""
    for name, (at, text) in store.types.declared().items():
        yield {"declare_type": name, "description": text, "at": at}
    for name, (at, (weight, backward, text)) in store.relations.declared().items():
        weights = {"weight": weight, "backward_weight": backward}
        yield {"declare_relation": name, **weights, "description": text, "at": at}


# --- the part that is shared


def shared_lines(store: Store, pages: Collection[str] = ()) -> Iterator[str]:
    """Yield the lines of the file that a project shares: what people write.

    ``pages`` are documents that everybody can make of the files of the project: they and the links
    in them are left out.

    Left out are what a machine finds by itself (files, symbols, commits, runs, computed edges),
    what is of one machine alone (verdicts, counts of reads, folders outside of the project), the
    past, and what others want deleted for good. So two stores with the same records write the same
    file.
    """
    yield from map(line_of, declarations(store))
    deleted = store.changes.deleted()
    yield from (line_of({"purged": id, "at": at}) for id, at in deleted.items() if is_record(id))
    export = Export(store, deleted)
    for node, was in export.nodes():
        if is_record(node.id) and node.id not in pages:
            yield line_of(shared_fields(node, was))
    for edge in export.edges():
        if is_shared_edge(edge) and not (edge.source == "file" and edge.from_id in pages):
            yield line_of(shared_fields(edge))
    yield from (line_of(shared_fields(one)) for one in export.anchors() if is_shared_anchor(one))


def shared_fields(row: Thing, was: list[str] | None = None) -> Fields:
    """Return a row as a shared line has it: without what is of one machine alone."""
    if isinstance(row, Anchor):
        row = shared_values(row).to_row(row)
    left_out = (*READS, *local_fields(row))
    return {name: value for name, value in fields_of(row, was).items() if name not in left_out}


def shared_values(row: Thing) -> Stamped:
    """Return the values of a row that are not of one machine alone."""
    return Stamped.of(row).without(local_fields(row))


def is_record(id: str) -> bool:
    """Return True for the id of what people write."""
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


# --- what another store lacks


def state_lines(store: Store, types: Sequence[str] = ()) -> Iterator[str]:
    """Yield the state of a store, or of the nodes of these types: a digest of each line of its
    export, behind a line that says so.

    ``types`` are words that ``types.require`` takes: what they stand for is up to each store.
    """
    yield json.dumps({"lore_state": FORM, "types": [*types]}) + "\n"
    for fields in _all_fields(store, store.types.require(types), history=True):
        yield _digest(fields) + "\n"


def _digest(fields: Fields) -> str:
    shared = {name: value for name, value in fields.items() if name not in READS}
    return blake2b(line_of(shared).encode("utf-8", "replace"), digest_size=_DIGEST).hexdigest()


def lacking_lines(store: Store, read: Callable[[int], bytes], name: str) -> Iterator[str]:
    """Yield the lines of an export of ``store`` that another store, of which this is the state,
    lacks.

    ``read(most)`` returns the next line of the state, of at most ``most`` bytes; ``name`` is where
    it comes from, for messages.

    Raises:
        UsageError: it is not a state that this lore can read.
    """
    try:
        head = json.loads(read(_LONGEST_STATE))
        types = [str(one) for one in head["types"]] if head["lore_state"] == FORM else None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        types = None
    there = set()
    while types is not None and (line := read(2 * _DIGEST + 1)):
        if len(line) != 2 * _DIGEST + 1:
            types = None
        there.add(line.decode("ascii", "replace").rstrip("\n"))
    if types is None:
        raise UsageError(f"{name}: is no state of a store: take what 'lore export --state' of the "
                         "same version prints")  # fmt: skip
    for fields in _all_fields(store, store.types.require(types), history=True):
        if _digest(fields) not in there:
            yield line_of(fields)
