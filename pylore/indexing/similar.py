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
from ..core.model import Edge, Node, Record
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
"""The nearest passages whose records are looked at, to find those nearest to a record: after
100 records added one by one, 1 edge of 720 was another than in a build anew."""

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


def follow(store: Store, nodes: Sequence[Node], done: int) -> int:
    """Brings the edges of records that have just been indexed up to date.

    More than ``FOLLOWED`` records in one write are only counted, as are those without
    a vector; the caller holds a transaction.

    Args:
        nodes: the records as they are now; forgotten ones have lost their edges already.
        done: how many this write has had before.

    Returns:
        How many it has had now.
    """
    plan = Plan.of(store)
    if plan is None or plan.embedder != store.meta.get("embedder"):
        return done
    types = plan.compared(store)
    wanted = [node.id for node in nodes if node.type in types and node.invalidated_at is None]
    done += len(wanted)
    left = 0
    for id in wanted:
        if done > FOLLOWED or not _follow(store, plan, types, id):
            left += 1
    if left:
        store.meta.set(_STALE, str(int(store.meta.get(_STALE) or 0) + left))
    return done


def _follow(store: Store, plan: Plan, types: tuple[str, ...], id: str) -> bool:
    """Replaces one record's edges; whether it has a vector."""
    vector = vectors_of(store, [id]).get(id)
    near = _near(store, plan, types, id, vector) if vector else {}
    wanted = dict(list(near.items())[: plan.nearest])
    for other, cosine in near.items():
        if other not in wanted and whose(other) == whose(id):
            strengths = [weight for _, weight in _strongest(store, other) if _ != id]
            if len(strengths) < plan.nearest or cosine > strengths[plan.nearest - 1]:
                wanted[other] = cosine
    pairs = {pair(id, other): cosine for other, cosine in wanted.items()}
    replace(store, pairs, [edge for edge in store.edges.of(id, forgotten=True)
                           if edge.relation == RELATION])  # fmt: skip
    for other in wanted:
        if whose(other) == whose(id):
            _prune(store, plan, other)
    return vector is not None


def _near(
    store: Store, plan: Plan, types: tuple[str, ...], id: str, vector: Vector
) -> dict[str, float]:
    """Return the records that are near enough, the nearest first."""
    blob = pack(f"<{len(vector)}f", *vector)
    rows = store.vectors.search(blob, Scope(types=types), CANDIDATES)
    others = vectors_of(store, sorted({other for _, other, _ in rows} - {id}))
    cosines = {other: sum(map(mul, vector, found)) for other, found in others.items()}
    return {
        other: cosine
        for other, cosine in sorted(cosines.items(), key=lambda item: (-item[1], item[0]))
        if cosine >= plan.least and whose(other) in ("", whose(id))
    }


def _prune(store: Store, plan: Plan, id: str) -> None:
    """Takes away those of a record's edges that neither end needs any more."""
    for other, _ in _strongest(store, id)[plan.nearest :]:
        if id not in [near for near, _ in _strongest(store, other)[: plan.nearest]]:
            store.edges.drop_derived([(*pair(id, other), RELATION)])


def _strongest(store: Store, id: str) -> list[tuple[str, float]]:
    """Return the other ends of a record's own edges of this kind, and their weights, strongest
    first.
    """
    found = [
        (edge.to_id if edge.from_id == id else edge.from_id, edge.weight)
        for edge in store.edges.of(id)
        if edge.relation == RELATION and edge.source == "system"
        and whose(*edge.key[:2]) == whose(id)
    ]  # fmt: skip
    return sorted(found, key=lambda item: (-item[1], item[0]))


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
