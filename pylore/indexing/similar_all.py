"""What is similar in a whole store: its ``similar_to`` edges at once, and its duplicates.

numpy compares every record to every other, block by block: exact, and 20,000 records
take seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ..core.errors import StoreError
from ..core.ids import whose
from .similar import RELATION, Plan, forget_plan, pair, replace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..store import Store

    Matrix = NDArray[numpy.float32]
    Indices = NDArray[numpy.int64]

BLOCK = 512
"""Records that are compared to all others at a time."""
READ = 2000
"""Records whose passages are read at a time."""


def build(store: Store, plan: Plan) -> dict[str, Any]:
    """Makes the edges of a plan, and remembers it; what is there already stays.

    Returns:
        ``records`` compared, ``edges`` wanted, and how many were ``added``, ``updated``,
        ``invalidated`` and ``unchanged``.

    Raises:
        StoreError: the store has no vectors.
    """
    before = store.data_version()
    records, wanted = _compare(store, plan)
    with store.transaction():
        if store.data_version() != before:  # another process has written meanwhile
            records, wanted = _compare(store, plan)
        counts = replace(store, wanted, [*store.edges.with_relation(RELATION)])
        plan.remember(store)
    return {"records": records, "edges": len(wanted), **counts}


def remove(store: Store) -> dict[str, Any]:
    """Takes the edges away, those of people excepted; they no longer follow the records."""
    with store.transaction():
        counts = replace(store, {}, [*store.edges.with_relation(RELATION)])
        forget_plan(store)
    return {"records": 0, "edges": 0, **counts}


def _compare(store: Store, plan: Plan) -> tuple[int, dict[tuple[str, str], float]]:
    """Return how many records there are to compare, and the cosines of those to be joined."""
    plan.embedder = _require_vectors(store)
    ids, vectors = _vectors(store, plan.compared(store))
    return len(ids), {
        pair(ids[one], ids[other]): cosine
        for one, other, cosine in _nearest(vectors, plan.least, plan.nearest, _scopes(ids))
    }


def duplicates(store: Store, plan: Plan) -> list[dict[str, Any]]:
    """Groups of records, each with a cosine of ``plan.least`` or more to another of its group.

    Returns:
        The closest groups first: ``cosine`` is the largest in the group, ``records`` has
        ``id, type, title, created_at`` of each, oldest first, and its largest ``cosine``.

    Raises:
        StoreError: the store has no vectors.
    """
    _require_vectors(store)
    ids, vectors = _vectors(store, plan.compared(store))
    leader = [*range(len(ids))]
    best: dict[int, float] = {}
    for one, other, cosine in _pairs(vectors, plan.least):
        for end in (one, other):
            best[end] = max(best.get(end, 0.0), cosine)
        leader[_leader(leader, other)] = _leader(leader, one)
    groups: dict[int, list[int]] = {}
    for end in best:
        groups.setdefault(_leader(leader, end), []).append(end)
    found = [_group(store, {ids[end]: best[end] for end in group}) for group in groups.values()]
    return sorted(found, key=lambda group: (-group["cosine"], group["records"][0]["id"]))


def _group(store: Store, cosines: dict[str, float]) -> dict[str, Any]:
    nodes = store.nodes.get_many(cosines).values()
    return {
        "cosine": round(max(cosines.values()), 4),
        "records": [
            {"id": node.id, "type": node.type, "title": node.title,
             "created_at": node.created_at, "cosine": round(cosines[node.id], 4)}
            for node in sorted(nodes, key=lambda node: (node.created_at, node.id))
        ],
    }  # fmt: skip


def _leader(leader: list[int], place: int) -> int:
    while leader[place] != place:
        leader[place] = leader[leader[place]]
        place = leader[place]
    return place


def _require_vectors(store: Store) -> str:
    held = store.meta.get("embedder")
    if held is None:
        raise StoreError("the store has no vectors to compare: run 'lore store reindex'")
    return held


def _vectors(store: Store, types: Sequence[str]) -> tuple[list[str], Matrix]:
    """Ids in order, and a unit vector for each: the mean of its passages' vectors."""
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


def _blocks(vectors: Matrix) -> Iterator[tuple[Indices, Matrix]]:
    """Places, and the cosines of these to every place; -1 to themselves."""
    for start in range(0, len(vectors), BLOCK):
        block = vectors[start : start + BLOCK]
        rows = numpy.arange(start, start + len(block))
        cosines = block @ vectors.T
        cosines[rows - start, rows] = -1
        yield rows, cosines


def _scopes(ids: Sequence[str]) -> Indices | None:
    """Return a number for the scope of each record, 0 where it is common; None where all are."""
    names = [whose(id) for id in ids]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(["", *names]))}
    return numpy.array([numbers[name] for name in names]) if len(numbers) > 1 else None


def _nearest(
    vectors: Matrix, least: float, nearest: int, scopes: Indices | None = None
) -> Iterator[tuple[int, int, float]]:
    """Each place with those of its ``nearest`` places that are near enough.

    What belongs to a scope takes no place among the nearest of what does not.
    """
    for rows, cosines in _blocks(vectors):
        inner = numpy.arange(len(rows))
        if scopes is not None:
            cosines[(scopes != 0) & (scopes[rows][:, None] != scopes)] = -1
        for _ in range(min(nearest, len(vectors) - 1)):
            columns = cosines.argmax(axis=1)
            values = cosines[inner, columns]
            near = values >= least
            if not near.any():
                break
            yield from zip(
                rows[near].tolist(), columns[near].tolist(), values[near].tolist(), strict=True
            )
            cosines[inner, columns] = -1


def _pairs(vectors: Matrix, least: float) -> Iterator[tuple[int, int, float]]:
    """Every two places that are near enough, the smaller one first."""
    for rows, cosines in _blocks(vectors):
        for inner, column in numpy.argwhere(cosines >= least).tolist():
            if rows[inner] < column:
                yield int(rows[inner]), column, float(cosines[inner, column])
