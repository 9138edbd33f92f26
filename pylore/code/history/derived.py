"""Edges that an analysis finds, brought up to date by their difference."""

from __future__ import annotations

from ...core.model import Edge
from ...core.times import now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...store import Store

SUPERSEDED = "superseded"
"""The status of an edge that a later analysis no longer finds. One that a person took
away has another, and does not come back."""


def replace_edges(
    store: Store, relation: str, wanted: Mapping[tuple[str, str], tuple[float, str]]
) -> tuple[int, int, int, int]:
    """Makes the derived edges of one relation those that are wanted: ``(weight, metadata)``.

    Only what differs is written; what a person made or took away stays as it is. The
    caller holds a transaction. Returns how many were added, updated, unchanged and
    invalidated.
    """
    at = now()
    old = {(edge.from_id, edge.to_id): edge for edge in store.edges.with_relation(relation)}
    added = []
    updated = []
    for ends, (weight, metadata) in wanted.items():
        edge = old.get(ends)
        if edge is None:
            added.append(Edge(*ends, relation, weight, "system", "confirmed", metadata, at))
        elif _is_derived(edge) and _content(edge) != (weight, metadata, None):
            edge.weight, edge.metadata = weight, metadata
            edge.status, edge.invalidated_at = "confirmed", None
            updated.append(edge)
    store.edges.put_many(added)
    store.edges.put_many(updated)
    ended = [
        edge
        for ends, edge in old.items()
        if ends not in wanted and edge.invalidated_at is None and _is_derived(edge)
    ]
    for edge in ended:
        store.edges.invalidate(edge.key, at, SUPERSEDED)
    return len(added), len(updated), len(wanted) - len(added) - len(updated), len(ended)


def _content(edge: Edge) -> tuple[float, str, str | None]:
    return edge.weight, edge.metadata, edge.invalidated_at


def _is_derived(edge: Edge) -> bool:
    return edge.source == "system" and (edge.invalidated_at is None or edge.status == SUPERSEDED)
