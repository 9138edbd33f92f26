"""``similar_to`` edges, kept in step with the records once they have been built.

A record's vector is the mean of its passages' vectors. An edge joins two records when
their cosine is at least ``least`` and one of them is among the ``nearest`` of the other.
The edge leads from the smaller id to the larger one, and its weight is the cosine.
"""

from __future__ import annotations

from _operator import mul  # the module around it is no part of the hot path
from math import sqrt
from struct import pack, unpack

from ..core.ids import whose
from ..core.json import dumps, loads
from ..core.model import Edge, Record
from ..core.times import now
from ..core.vocabulary import NAMED_TYPES
from ..store.filter import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..store import Store

    Vector = tuple[float, ...]

RELATION = "similar_to"
UNCOMPARED = (*NAMED_TYPES, "run", "session")
"""Types that are compared only when asked for: a name is too short to be like another."""

# The numbers that decide which edges there are, see docs/architecture.md. Other values were not
# measured: on three sets these edges help no search, with any weight.

LEAST = 0.8
"""The least cosine of an edge, unless a plan says otherwise: of 19,099 entities of MuSiQue 40 %
had another so near, of documents 7 to 62 %."""

NEAREST = 5
"""So many of the nearest have an edge to a record, unless a plan says otherwise."""

FOLLOWED = 25
"""Records that one write brings up to date by itself; more leave the edges stale."""

CANDIDATES = 100
"""The nearest passages whose records are looked at, to find those nearest to a record."""

PATIENCE = 1.0
"""Seconds to wait for another writer."""

_BUILT, _STALE = "similar", "similar_stale"


class Plan(Record):
    """How a store's edges were built: the least cosine, edges a record, types, whose vectors."""

    __slots__ = ("embedder", "least", "nearest", "types")

    def __init__(
        self,
        least: float = LEAST,
        nearest: int = NEAREST,
        types: Sequence[str] = (),
        embedder: str | None = None,
    ) -> None:
        self.least = least
        self.nearest = nearest
        self.types = tuple(types)
        """Empty for all but ``UNCOMPARED``, also those declared later."""
        self.embedder = embedder

    @classmethod
    def of(cls, store: Store) -> Plan | None:
        """Return the plan that this store remembers; None if it has no such edges."""
        text = store.meta.get(_BUILT)
        if text is None:
            return None
        try:
            fields = loads(text)
            return cls(float(fields["least"]), int(fields["nearest"]),
                       tuple(map(str, fields["types"])), fields["embedder"])  # fmt: skip
        except (ValueError, TypeError, KeyError):
            return None  # another program's writing

    def remember(self, store: Store) -> None:
        """From now on these edges follow the records; none is stale."""
        store.meta.set(_BUILT, dumps(self.to_dict()))
        store.meta.set(_STALE, None)

    def compared(self, store: Store) -> tuple[str, ...]:
        """Return the types whose records are compared."""
        return self.types or tuple(name for name in store.types.all() if name not in UNCOMPARED)


def forget_plan(store: Store) -> None:
    """From now on no such edges follow the records."""
    store.meta.set(_BUILT, None)
    store.meta.set(_STALE, None)


def stale(store: Store, plan: Plan) -> str:
    """Why the edges may no longer be those of the plan; empty where they are."""
    if plan.embedder != store.meta.get("embedder"):
        return f"they are of {plan.embedder}'s vectors"
    count = store.meta.get(_STALE)
    return f"{count} records were written in bulk since" if count else ""


def follow(store: Store, after: int) -> None:
    """Let the edges of records follow whose vectors were just made: of passages after this key.

    More than ``FOLLOWED`` are only counted.
    """
    plan = Plan.of(store)
    if plan is None or plan.embedder != store.meta.get("embedder"):
        return
    types = plan.compared(store)
    nodes = store.nodes.get_many(store.vectors.nodes_after(after)).values()
    ids = [node.id for node in nodes if node.type in types and node.invalidated_at is None]
    with store.aside(PATIENCE):
        if len(ids) > FOLLOWED:
            store.meta.set(_STALE, str(int(store.meta.get(_STALE) or 0) + len(ids)))
            return
        for id in ids:
            _link(store, plan, types, id)


def _link(store: Store, plan: Plan, types: tuple[str, ...], id: str) -> None:
    """Join a record to its nearest; what was joined to it stays if it is near enough."""
    old = [edge for edge in store.edges.of(id, forgotten=True) if edge.relation == RELATION]
    linked = {end for edge in old for end in edge.key[:2]}
    found = near(store, id, types, plan.least, CANDIDATES)
    wanted = {
        pair(id, other): cosine
        for rank, (other, cosine) in enumerate(found.items())
        if rank < plan.nearest or other in linked
    }
    replace(store, wanted, old)


def near(
    store: Store, id: str, types: Sequence[str], least: float, passages: int
) -> dict[str, float]:
    """Return the records that are near one, with their cosines, the nearest first."""
    rows = near_passages(store, id, types, passages)
    vectors = vectors_of(store, sorted({id, *(other for _, other, _ in rows)}))
    vector = vectors.pop(id, ())
    cosines = {other: sum(map(mul, vector, found)) for other, found in vectors.items()}
    return {
        other: cosine
        for other, cosine in sorted(cosines.items(), key=lambda item: (-item[1], item[0]))
        if cosine >= least and whose(other) in ("", whose(id))
    }


def near_passages(
    store: Store, id: str, types: Sequence[str], limit: int
) -> list[tuple[int, str, float]]:
    """Return the passages of these types that are nearest to a record, as a search does."""
    vector = vectors_of(store, [id]).get(id)
    if vector is None:
        return []
    return store.vectors.search(pack(f"<{len(vector)}f", *vector), Scope(types=tuple(types)), limit)


def vectors_of(store: Store, ids: Sequence[str]) -> dict[str, Vector]:
    """Return the mean vector of each of these nodes, of length 1; those without vectors are left
    out.
    """
    passages: dict[str, list[Vector]] = {}
    for id, blob in store.vectors.of_nodes(ids):
        passages.setdefault(id, []).append(unpack(f"<{len(blob) // 4}f", blob))
    return {id: unit for id, rows in passages.items() if (unit := _unit(rows))}


def _unit(rows: Sequence[Vector]) -> Vector:
    total = rows[0] if len(rows) == 1 else [*map(sum, zip(*rows, strict=True))]
    length = sqrt(sum(value * value for value in total))
    return tuple(value / length for value in total) if length else ()


def pair(one: str, other: str) -> tuple[str, str]:
    """Return the two ids, the smaller one first."""
    return (one, other) if one < other else (other, one)


def replace(
    store: Store, wanted: Mapping[tuple[str, str], float], old: Iterable[Edge]
) -> dict[str, int]:
    """Makes ``wanted`` (pair to cosine) of the ``old`` edges, and writes only what differs.

    An edge that a person made or took away stays as it is.

    Returns:
        How many edges were ``added``, ``updated``, ``invalidated`` and ``unchanged``.
    """
    counts = {"added": 0, "updated": 0, "invalidated": 0, "unchanged": 0}
    settled: set[tuple[str, str]] = set()
    at = now()
    for edge in old:
        key = pair(edge.from_id, edge.to_id)
        if edge.source != "system" or edge.ended_at is not None:
            settled.add(key)
        elif key in wanted and abs(edge.weight - wanted[key]) < 0.001:
            settled.add(key)  # rounding alone is not a change
            counts["unchanged"] += 1
        elif key not in wanted:
            store.edges.drop_derived([edge.key])
            counts["invalidated"] += 1
    for key in sorted(wanted.keys() - settled):
        weight = round(min(1.0, wanted[key]), 4)
        state = store.edges.put(Edge(*key, RELATION, weight, source="system", created_at=at))
        counts[state] += 1
    return counts
