"""Build ``similar_to`` edges of a store at once, and group duplicates.

numpy compares every pair of records, block by block: exact, and 20,000 records need seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy

from ..core.errors import StoreError
from ..core.ids import whose
from .similar import RELATION, Plan, pair, remember, replace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..store import Store

    Matrix = NDArray[numpy.float32]
    Near = Iterator[tuple[str, dict[str, float]]]

BLOCK, READ = 512, 2000
"""Records to compare, and to read, at a time."""


def build(store: Store, plan: Plan) -> dict[str, Any]:
    """Make the edges of a plan, and store the plan; edges that people made or removed are not
    changed.

    Return ``records`` compared, ``edges`` wanted, and the counts of ``similar.replace``.

    Raises:
        StoreError: the store has no vectors.
    """
    before, _ = store.changes_seen()
    count, wanted = _compare(store, plan)
    with store.transaction():
        if store.changes_seen()[0] != before:  # another process has written
            count, wanted = _compare(store, plan)
        counts = replace(store, wanted, [*store.edges.with_relation(RELATION)])
        remember(store, plan)
    return {"records": count, "edges": len(wanted), **counts}


def _compare(store: Store, plan: Plan) -> tuple[int, dict[tuple[str, str], float]]:
    """Return the number of records, and the cosines of the pairs to link."""
    ids, near = _neighbours(store, plan)
    wanted = {}
    for id, others in near:  # records of a scope do not count for common records
        seen = [other for other in others if whose(other) in ("", whose(id))]
        wanted.update({pair(id, other): others[other] for other in seen[: plan.nearest]})
    return len(ids), wanted


def remove(store: Store) -> dict[str, Any]:
    """Remove the edges, except people's, and the plan."""
    with store.transaction():
        counts = replace(store, {}, [*store.edges.with_relation(RELATION)])
        remember(store, None)
    return {"records": 0, "edges": 0, **counts}


def duplicates(store: Store, plan: Plan) -> list[dict[str, Any]]:
    """Return groups of records with a cosine of at least ``plan.least`` to a member of the group.

    The closest groups first: ``cosine`` is the largest in the group; ``records`` has ``id, type,
    title, created_at`` of each, oldest first, and the largest ``cosine``.
    """
    near = {id: others for id, others in _neighbours(store, plan)[1] if others}
    groups, seen = [], set[str]()
    for id in near:
        group = [] if id in seen else [id]
        seen.add(id)
        for one in group:  # which grows meanwhile
            group += [other for other in near[one] if other not in seen]
            seen.update(near[one])
        if group:
            groups.append(_group(store, {one: max(near[one].values()) for one in group}))
    return sorted(groups, key=lambda group: (-group["cosine"], group["records"][0]["id"]))


def _group(store: Store, cosines: dict[str, float]) -> dict[str, Any]:
    nodes = sorted(store.nodes.get_many(cosines).values(), key=attrgetter("created_at", "id"))
    records = [
        {
            "id": node.id,
            "type": node.type,
            "title": node.title,
            "created_at": node.created_at,
            "cosine": round(cosines[node.id], 4),
        }
        for node in nodes
    ]
    return {"cosine": round(max(cosines.values()), 4), "records": records}


def _neighbours(store: Store, plan: Plan) -> tuple[list[str], Near]:
    """Return the records, and the cosines of near records, the nearest first."""
    if store.meta.get("embedder") is None:
        raise StoreError("the store has no vectors to compare: run 'lore store reindex'")
    ids, vectors = _vectors(store, plan.compared(store))
    return ids, _near(ids, vectors, plan.least)


def _near(ids: list[str], vectors: Matrix, least: float) -> Near:
    for start in range(0, len(ids), BLOCK):
        for at, cosines in enumerate(vectors[start : start + BLOCK] @ vectors.T, start=start):
            places = numpy.flatnonzero(cosines >= least)
            places = places[numpy.argsort(-cosines[places], kind="stable")]
            yield ids[at], {ids[place]: float(cosines[place]) for place in places if place != at}


def _vectors(store: Store, types: Sequence[str]) -> tuple[list[str], Matrix]:
    """Return ids in order, and their unit vectors: the means of the vectors of passages."""
    ids: list[str] = []
    parts: list[Matrix] = []
    wanted = [row[0] for row in store.nodes.outlines(types)] if types else []
    for start in range(0, len(wanted), READ):
        rows = [*store.vectors.of_nodes(wanted[start : start + READ])]
        if not rows:
            continue
        passages = numpy.frombuffer(b"".join(blob for _, blob in rows), "<f4")
        starts = [at for at, row in enumerate(rows) if not at or row[0] != rows[at - 1][0]]
        sums = numpy.add.reduceat(passages.reshape(len(rows), -1), starts, axis=0)
        lengths = numpy.linalg.norm(sums, axis=1, keepdims=True)
        parts.append((sums / numpy.where(lengths > 0, lengths, 1)).astype("f4"))
        ids += [rows[at][0] for at in starts]
    return ids, numpy.concatenate(parts) if parts else numpy.empty((0, 1), "f4")
