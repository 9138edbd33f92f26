"""Export a store, or the shared part of a project, as JSON lines.

The same knowledge gives the same lines in the same order: declarations, purges, records, links,
anchors, then the past of each.
"""

from __future__ import annotations

from itertools import chain, groupby

from ..core.errors import UsageError
from ..core.ids import sha256
from ..core.model import Anchor, Edge, Node
from ..core.stamps import BASE, Stamped, is_after, latest, local_fields
from ..core.vocabulary import CO_CHANGES, NO_RECORDS, RUN_IDS
from ..store.changes import owners, row_of_thing, thing_of
from .lines import READS, fields_of, line_of, past_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from ..core.stamps import Thing
    from ..store import Store
    from .lines import Fields

FILE = "knowledge.jsonl"
"""The name of the file in ``.lore`` that a project shares."""

_DIGEST = 32  # hexadecimal digits of a digest
_DERIVED = frozenset({"similar_to", CO_CHANGES, "used_in_run"})


def export_lines(
    store: Store, types: Sequence[str] = (), state: Collection[str] = ()
) -> Iterator[str]:
    """Yield everything in the store as sorted JSON lines.

    ``types``: export only nodes of these types, with their anchors and all of their edges.
    ``state``: leave out the lines with these digests, which a second store has.
    """
    for fields in _fields(store, types):
        if not state or _digest(fields) not in state:
            yield line_of(fields)


def state_lines(store: Store) -> Iterator[str]:
    """Yield the state of a store: a digest of each exported line."""
    return (f"{_digest(fields)}\n" for fields in _fields(store, ()))


def read_state(lines: Iterable[bytes], name: str) -> set[str]:
    """Return the digests of a state; raise UsageError, with the name of the file, for others."""
    found = {line.decode("ascii", "replace").strip() for line in lines}
    if any(len(digest) != _DIGEST or not digest.isalnum() for digest in found):
        raise UsageError(f"{name}: not a state: give the output of 'lore export --state'")
    return found


def _digest(fields: Fields) -> str:
    return sha256(line_of(_without(READS, fields)).encode("utf-8", "replace")).hexdigest()[:_DIGEST]


def _fields(store: Store, types: Sequence[str]) -> Iterator[Fields]:
    purged = store.changes.purged().keys()

    def is_kept(thing: str) -> bool:
        return not types or any(id.partition("-")[0] in types for id in owners(thing))

    yield from declarations(store)
    deleted = store.changes.deleted().items()
    yield from ({"purged": id, "at": at} for id, at in deleted if is_kept(id))
    for row, was in _rows(store):
        if is_kept(thing_of(row)):
            # reads before a purge are unknown
            left_out = () if purged.isdisjoint(owners(thing_of(row))) else READS
            yield _without(left_out, fields_of(row, was))
    for row, stamp, values in past_of(store):
        if is_kept(thing_of(row)):
            yield past_fields(row, stamp, values)


def shared_lines(store: Store, pages: Collection[str] = ()) -> Iterator[str]:
    """Yield the lines of the file that a project shares: records, links and anchors of people.

    Omitted are computed nodes and edges, values of a single machine, the past, records that a file
    proposes to purge, and ``pages``: documents of files in git. So two stores with the same records
    write the same file.
    """
    yield from map(line_of, declarations(store))
    deleted = store.changes.deleted()
    yield from (line_of({"purged": id, "at": at}) for id, at in deleted.items() if is_record(id))
    for row, was in _rows(store):
        is_page = isinstance(row, Node) and row.id in pages
        of_page = isinstance(row, Edge) and row.source == "file" and row.from_id in pages
        if is_page or of_page or not is_shared(row):
            continue
        gone = max(deleted.get(id, "") for id in owners(thing_of(row)))
        if gone:
            rest = Stamped.of(row).after(gone)
            if not rest.stamps():
                continue
            row, was = rest.to_row(row), [stamp for stamp in was if is_after(stamp, gone)]
        yield line_of(shared_fields(row, was))


def _rows(store: Store) -> Iterator[tuple[Thing, list[str]]]:
    yield from nodes_of(store)
    rows: Iterable[Thing] = chain(store.edges.all(), store.anchors.all())
    yield from ((row, []) for row in rows)


def nodes_of(store: Store, ids: Sequence[str] | None = None) -> Iterator[tuple[Node, list[str]]]:
    """Yield these nodes, or all, by id, with the stamps of the changes that they have seen."""
    known = store.changes.seen(ids)
    nodes = store.nodes.all() if ids is None else store.nodes.get_many(sorted(ids)).values()
    for node in nodes:
        seen = known.get(node.id, set())
        own = Stamped.of(node).stamps() if seen else seen
        yield node, [stamp for stamp in latest(seen | own) if stamp not in own]


def past_of(
    store: Store, things: Sequence[str] | None = None
) -> Iterator[tuple[Thing, str, dict[str, str]]]:
    """Yield (row with the key of a thing, stamp, field to value) of the past of things, or all."""
    for thing, rows in groupby(store.changes.former(things), lambda row: row[0]):
        some, row = [(field, value) for _, field, value in rows], store.thing(thing)
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


def declarations(store: Store) -> Iterator[Fields]:
    """Yield the types and relations that were declared in a store, as fields of a line."""
    for name, (at, text) in store.types.declared().items():
        yield {"declare_type": name, "description": text, "at": at}
    for name, (at, (weight, backward, text)) in store.relations.declared().items():
        weights = {"weight": weight, "backward_weight": backward}
        yield {"declare_relation": name, **weights, "description": text, "at": at}


# --- the shared part


def shared_fields(row: Thing, was: list[str] | None = None) -> Fields:
    """Return a row as a shared line has it: without values of a single machine."""
    if isinstance(row, Anchor):
        row = shared_values(row).to_row(row)
    return _without((*READS, *local_fields(row)), fields_of(row, was))


def _without(names: Collection[str], fields: Fields) -> Fields:
    return {name: value for name, value in fields.items() if name not in names}


def shared_values(row: Thing) -> Stamped:
    """Return the values of a row but for values of a single machine."""
    return Stamped.of(row).without(local_fields(row))


def is_shared(row: Thing) -> bool:
    """Return True for a record, link or anchor that is shared."""
    if isinstance(row, Node):
        return is_record(row.id)
    if isinstance(row, Anchor):
        return not row.root and is_record(row.node_id)
    if row.relation in _DERIVED or row.source == "system":
        return False
    return any(map(is_record, row.key[:2])) and not any(id.startswith(RUN_IDS) for id in row.key)


def is_record(id: str) -> bool:
    """Return True for the id of a record."""
    return id.partition("-")[0] not in NO_RECORDS
