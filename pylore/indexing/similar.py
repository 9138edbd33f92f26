"""Keep ``similar_to`` edges in step with records, once ``similar_all`` has built them.

A record's vector is the mean of the vectors of the passages. An edge joins two records if their
cosine is at least ``least`` and either is one of the ``nearest`` of the other. The edge leads from
the smaller id to the larger id; the weight is the cosine.
"""

from __future__ import annotations

from math import hypot
from struct import pack, unpack

from ..core.ids import whose
from ..core.json import dumps, loads
from ..core.model import Edge, Row
from ..core.times import now
from ..core.vocabulary import NAMED_TYPES
from ..store.filter import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..store import Store

RELATION = "similar_to"
UNCOMPARED = (*NAMED_TYPES, "run", "session")
"""Types that are compared only on request, because names are short."""

FOLLOWED = 25
"""Maximum records of a write that are linked."""
CANDIDATES = 100
"""Passages to search for the nearest records."""
PATIENCE = 1.0
"""Seconds to wait for other writers."""

_PLAN = "similar"


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
        text = store.meta.get(_PLAN)
        if text is None:
            return None
        try:
            found = loads(text)
            types = [*map(str, found["types"])]
            return cls(float(found["least"]), int(found["nearest"]), types)
        except (ValueError, TypeError, KeyError):
            return None

    def compared(self, store: Store) -> Sequence[str]:
        """Return the types of compared records; by default all but ``UNCOMPARED``."""
        return self.types or [name for name in store.types.all() if name not in UNCOMPARED]


def remember(store: Store, plan: Plan | None) -> None:
    """Store the plan by which new records are linked; None ends this."""
    store.meta.set(_PLAN, None if plan is None else dumps(plan.to_dict()))


def follow(store: Store, after: int) -> None:
    """Link records with new vectors, of passages after this key, to their nearest; more than
    ``FOLLOWED`` are left to ``similar_all``."""
    plan = Plan.of(store)
    if plan is None:
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
    replace(store, {pair(id, other): c for other, c in [*found[: plan.nearest], *rest]}, old)


def near(store: Store, id: str, types: Sequence[str], least: float) -> list[tuple[str, float]]:
    """Return the records of the nearest passages and their cosines, nearest first."""
    rows = [unpack(f"<{len(blob) // 4}f", blob) for _, blob in store.vectors.of_nodes([id])]
    total = [*map(sum, zip(*rows, strict=True))]
    length = hypot(*total)
    if not length:
        return []
    mean = pack(f"<{len(total)}f", *[value / length for value in total])
    found: dict[str, float] = {}
    for _, other, cosine in store.vectors.search(mean, Scope(types=tuple(types)), CANDIDATES):
        if other != id and cosine >= least:
            found.setdefault(other, cosine)
    return [*found.items()]


def pair(one: str, other: str) -> tuple[str, str]:
    """Return the two ids in order."""
    return (one, other) if one < other else (other, one)


def replace(
    store: Store, wanted: Mapping[tuple[str, str], float], old: Sequence[Edge]
) -> dict[str, int]:
    """Replace the ``old`` edges by ``wanted`` (pair to cosine), and write only differences.

    Edges that a person made or removed are not changed. Return the numbers of edges ``added``,
    ``updated``, ``invalidated`` and ``unchanged``.
    """
    kept = {pair(*edge.key[:2]) for edge in old if edge.source != "system" or edge.ended_at}
    gone = [edge.key for edge in old if pair(*edge.key[:2]) not in wanted.keys() | kept]
    store.edges.drop_derived(gone)
    counts, at = {"added": 0, "updated": 0, "invalidated": len(gone), "unchanged": 0}, now()
    for key in sorted(wanted.keys() - kept):
        weight = round(min(1.0, wanted[key]), 4)
        edge = Edge(*key, RELATION, weight, source="system", created_at=at)
        counts[store.edges.put(edge)] += 1
    return counts
