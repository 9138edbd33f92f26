"""Sweep: forget staged records and facts that nobody needed, and states that were left long ago."""

from __future__ import annotations

from typing import NamedTuple

from ..core.model import edge_name
from ..core.scoring import recency
from ..core.times import ago, now
from ..indexing.indexer import Index
from .undo import forget

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..core.settings import Settings
    from ..store import Store

LEAST_TO_STAY, ENOUGH_ACCESSES = 0.2, 5
"""A sweep drops records below this confidence × recency with fewer accesses. Not measured."""

SWEPT = "conversation"
"""The source of the staged facts and records that a sweep may drop."""


class Faded(NamedTuple):
    """A staged fact or record that nobody needs: ``invalidated``, or ``due`` to be."""

    id: str
    state: str
    confidence: float
    recency: float
    accesses: int


def sweep(store: Store, settings: Settings, *, dry_run: bool = False) -> list[Faded]:
    """Forget faded records and facts of conversations.

    Faded are staged ones with a confidence × recency below ``LEAST_TO_STAY`` and fewer than
    ``ENOUGH_ACCESSES`` accesses. ``dry_run`` lists them only.
    """
    state, found = "due" if dry_run else "invalidated", {}
    with store.faults, store.transaction("sweep"):
        edges, nodes = store.review.staged_edges(SWEPT), store.review.staged_nodes(SWEPT)
        staged = {**{edge_name(key): one for key, one in edges.items()}, **nodes}
        for name, (confidence, age, accesses) in staged.items():
            fresh = recency(age, settings.recency_half_life)
            if confidence * fresh < LEAST_TO_STAY and accesses < ENOUGH_ACCESSES:
                found[name] = Faded(name, state, confidence, round(fresh, 6), accesses)
        if not dry_run:
            for key in edges:
                if edge_name(key) in found:
                    store.edges.invalidate(key, now())
            faded = [store.nodes.require(id) for id in nodes if id in found]
            for node in faded:
                forget(store, node)
            Index(store).update(faded)
            Index(store).keep_facts()
    return [*found.values()]


def sweep_history(store: Store, settings: Settings, *, dry_run: bool = False) -> int:
    """Delete states that were left more than ``history_days`` ago, if set; return their number.

    ``dry_run`` counts them only.
    """
    if not settings.history_days:
        return 0
    before = ago(settings.history_days)
    with store.faults:
        if dry_run:
            return store.changes.older(before)
        with store.transaction():
            return store.changes.sweep(before)
