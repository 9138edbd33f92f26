"""Link similar records by ``similar_to`` edges, all at once and after each write.

A record's vector is the mean of the vectors of the passages. An edge joins two records if their
cosine is at least ``least`` and either is one of the ``nearest`` of the other. The edge leads from
the smaller id to the larger id; the weight is the cosine.
"""

from __future__ import annotations

from itertools import islice
from math import hypot
from struct import pack, unpack

from ..core.errors import StoreError
from ..core.ids import whose
from ..core.json import dumps, loads
from ..core.model import Edge, Row
from ..core.times import now
from ..core.vocabulary import NAMED_TYPES
from ..store.filter import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from ..store import Store

    Pairs = dict[tuple[str, str], float]
    """Pair of ids, the smaller first, to cosine."""

RELATION = "similar_to"
UNCOMPARED = (*NAMED_TYPES, "run", "session")
"""Types that are compared only on request, because names are short."""

FOLLOWED = 25
"""Maximum records of a write that are linked."""
CANDIDATES = 100
"""Passages to search for the nearest records."""
PATIENCE = 1.0
"""Seconds to wait for other writers."""
_BLOCK, _READ = 512, 2000
"""Records to compare, and to read, at a time."""
_PLAN = "similar"
"""Key in meta of the plan by which new records are linked."""


class Plan(Row):
    """The parameters of a store's edges: minimum cosine, edges a record, types.

    The defaults are not measured: on three sets these edges help no search, with any weight.
    """

    least: float = 0.8
    nearest: int = 5
    types: Sequence[str] = ()

    @classmethod
    def of(cls, store: Store) -> Plan | None:
        """Return the plan in the store; None without such edges."""
        try:
            found = loads(store.meta.get(_PLAN) or "{}")
            types = [*map(str, found["types"])]
            return cls(float(found["least"]), int(found["nearest"]), types)
        except (ValueError, TypeError, KeyError):
            return None

    def compared(self, store: Store) -> Sequence[str]:
        """Return the types of compared records; by default all but ``UNCOMPARED``."""
        return self.types or [name for name in store.types.all() if name not in UNCOMPARED]


# --- all records: numpy compares every pair, block by block; 20,000 records need seconds


def build(store: Store, plan: Plan | None) -> dict[str, Any]:
    """Make the edges of a plan, and store the plan; without a plan, remove both. Edges that people
    made or removed are not changed.

    Return ``records`` compared, ``edges`` wanted, and the numbers of edges ``added``, ``updated``,
    ``invalidated`` and ``unchanged``.

    Raises:
        StoreError: the store has no vectors.
    """
    before, _ = store.changes_seen()
    count, wanted = _compare(store, plan) if plan else (0, {})
    with store.transaction():
        if plan and store.changes_seen()[0] != before:  # another process has written
            count, wanted = _compare(store, plan)
        counts = _replace(store, wanted, [*store.edges.with_relation(RELATION)])
        store.meta.set(_PLAN, dumps(plan.to_dict()) if plan else None)
    return {"records": count, "edges": len(wanted), **counts}


def _compare(store: Store, plan: Plan) -> tuple[int, Pairs]:
    """Return the number of records, and the pairs to link."""
    count = 0
    wanted: Pairs = {}
    for id, others in _neighbours(store, plan):
        count += 1
        # records of a scope do not count for common records
        seen = (one for one in others if whose(one[0]) in ("", whose(id)))
        wanted.update((_pair(id, other), near) for other, near in islice(seen, plan.nearest))
    return count, wanted


def _neighbours(store: Store, plan: Plan) -> Iterator[tuple[str, Iterator[tuple[str, float]]]]:
    """Yield each record, and near records with cosines, the nearest first."""
    import numpy

    if store.meta.get("embedder") is None:
        raise StoreError("the store has no vectors to compare: run 'lore store reindex'")
    ids: list[str] = []
    parts: list[NDArray[numpy.float32]] = [numpy.empty((0, 1), "f4")]
    types = plan.compared(store)
    wanted = [row[0] for row in store.nodes.outlines(types)] if types else []
    for start in range(0, len(wanted), _READ):
        if rows := [*store.vectors.of_nodes(wanted[start : start + _READ])]:
            passages = numpy.frombuffer(b"".join(blob for _, blob in rows), "<f4")
            firsts = [at for at, row in enumerate(rows) if not at or row[0] != rows[at - 1][0]]
            sums = numpy.add.reduceat(passages.reshape(len(rows), -1), firsts, axis=0)
            lengths = numpy.linalg.norm(sums, axis=1, keepdims=True)
            parts.append((sums / numpy.where(lengths > 0, lengths, 1)).astype("f4"))
            ids += [rows[at][0] for at in firsts]
    vectors = numpy.concatenate(parts[1:] or parts)
    for start in range(0, len(ids), _BLOCK):
        for at, cosines in enumerate(vectors[start : start + _BLOCK] @ vectors.T, start=start):
            places = numpy.flatnonzero(cosines >= plan.least)
            places = places[numpy.argsort(-cosines[places], kind="stable")]
            yield ids[at], ((ids[one], float(cosines[one])) for one in places if one != at)


# --- the records of a write


def follow(store: Store, after: int) -> None:
    """Link records with new vectors, of passages after this key, to their nearest; more than
    ``FOLLOWED`` are left to ``build``."""
    if (plan := Plan.of(store)) is None:
        return
    types = plan.compared(store)
    nodes = store.nodes.get_many(store.vectors.nodes_after(after)).values()
    ids = [node.id for node in nodes if node.type in types and node.invalidated_at is None]
    with store.aside(PATIENCE):
        for id in ids if len(ids) <= FOLLOWED else ():
            _link(store, plan, types, id)


def _link(store: Store, plan: Plan, types: Sequence[str], id: str) -> None:
    """Link a record to the nearest; an old edge remains while the cosine is high enough."""
    old = [edge for edge in store.edges.of(id, forgotten=True) if edge.relation == RELATION]
    linked = {end for edge in old for end in edge.key[:2]}
    found = [one for one in near(store, id, types, plan.least) if whose(one[0]) in ("", whose(id))]
    rest = [one for one in found[plan.nearest :] if one[0] in linked]
    _replace(store, {_pair(id, other): c for other, c in [*found[: plan.nearest], *rest]}, old)


def near(store: Store, id: str, types: Sequence[str], least: float) -> list[tuple[str, float]]:
    """Return the records of the nearest passages and their cosines, nearest first."""
    rows = [unpack(f"<{len(blob) // 4}f", blob) for _, blob in store.vectors.of_nodes([id])]
    total = [*map(sum, zip(*rows, strict=True))]
    if not (length := hypot(*total)):
        return []
    mean = pack(f"<{len(total)}f", *[value / length for value in total])
    found: dict[str, float] = {}
    for _, other, cosine in store.vectors.search(mean, Scope(types=tuple(types)), CANDIDATES):
        if other != id and cosine >= least:
            found.setdefault(other, cosine)
    return [*found.items()]


# --- edges


def _pair(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one < other else (other, one)


def _replace(
    store: Store, wanted: Mapping[tuple[str, str], float], old: Sequence[Edge]
) -> dict[str, int]:
    """Replace the ``old`` edges, but for edges that a person made or removed; return counts."""
    kept = {_pair(*edge.key[:2]) for edge in old if edge.source != "system" or edge.ended_at}
    stays = wanted.keys() | kept
    gone = [edge.key for edge in old if _pair(*edge.key[:2]) not in stays]
    store.edges.drop_derived(gone)
    counts, at = {"added": 0, "updated": 0, "invalidated": len(gone), "unchanged": 0}, now()
    for key in sorted(wanted.keys() - kept):
        weight = round(min(1.0, wanted[key]), 4)
        edge = Edge(*key, RELATION, weight, source="system", created_at=at)
        counts[store.edges.put(edge)] += 1
    return counts
