"""Confirming, retracting and sweeping facts and records."""

from __future__ import annotations

from typing import NamedTuple

from ..core.model import edge_name
from ..core.scoring import recency
from ..core.times import ago, now
from ..indexing.embed import embed_missing
from ..indexing.indexer import Index
from ..store.resolve_id import complete_ids, resolve_ids
from .fact_status import confirm_edge, named_edge, retract_edge
from .records import Change
from .undo import forget

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core.settings import Settings
    from ..embed import Embedder
    from ..store import Store


LEAST_TO_STAY, ENOUGH_ACCESSES = 0.2, 5
"""A sweep keeps what has this confidence × recency, or this many accesses. Not measured."""

SWEPT = "conversation"
"""The source whose staged facts and records a sweep may drop."""


class Faded(NamedTuple):
    """A staged fact or record that nobody needs: ``invalidated``, or ``due`` to be."""

    id: str
    state: str
    confidence: float
    recency: float
    accesses: int


class Facts:
    """Judging what is known. Every method is one transaction."""

    def __init__(self, store: Store, settings: Settings, embedder: Embedder | None = None) -> None:
        self._store = store
        self._settings = settings
        self._embedder = embedder

    def confirm(self, words: Sequence[str]) -> list[Change]:
        """Confirm nodes (ids), or one fact (subject, predicate, object).

        What was superseded or retracted stands again; of a predicate with one value the
        other values are superseded.

        Raises:
            LoreError: there is no such node or fact, or it is forgotten.
        """
        return self._judge(words, "confirm")

    def retract(self, words: Sequence[str]) -> list[Change]:
        """Retract nodes (ids), or one fact (subject, predicate, object).

        A retracted node stays, and only a search that asks for it finds it. A retracted
        fact is ended, and its history keeps it.

        Raises:
            LoreError: there is no such node or fact, or it is forgotten.
        """
        return self._judge(words, "retract")

    def sweep(self, *, dry_run: bool = False) -> list[Faded]:
        """Invalidate what a conversation said and nobody confirmed, needed, or repeated.

        That is: staged, confidence × recency below ``LEAST_TO_STAY``, and fewer
        accesses than ``ENOUGH_ACCESSES``. Nothing is deleted. With ``dry_run`` nothing is changed.
        """
        store, state = self._store, "due" if dry_run else "invalidated"
        found = {}
        with store.faults, store.transaction("sweep"):
            edges, nodes = store.review.staged_edges(SWEPT), store.review.staged_nodes(SWEPT)
            staged = {**{edge_name(key): one for key, one in edges.items()}, **nodes}
            for name, (confidence, age, accesses) in staged.items():
                fresh = recency(age, self._settings.recency_half_life)
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

    def sweep_history(self, *, dry_run: bool = False) -> int:
        """Forget states that were left more than ``history_days`` ago; how many there were.

        With ``dry_run`` nothing is changed; where the setting is 0, all states stay.
        """
        days = self._settings.history_days
        if not days:
            return 0
        before = ago(days)
        with self._store.faults:
            if dry_run:
                return self._store.changes.older(before)
            with self._store.transaction():
                return self._store.changes.sweep(before)

    def _judge(self, words: Sequence[str], command: str) -> list[Change]:
        store = self._store
        with store.faults:
            with store.transaction(command):
                words = resolve_ids(store, words)
                key = named_edge(store, words)
                if not key:
                    ids = complete_ids(store, words)
                    changes = [Change(id, self._set_status(id, f"{command}ed")) for id in ids]
                elif command == "confirm":
                    state = confirm_edge(store, self._settings, key, now())
                    changes = [Change(edge_name(key), state)]
                else:
                    changes = [Change(edge_name(key), retract_edge(store, key, now()))]
                Index(store).keep_facts()
            embed_missing(store, self._embedder)
        return changes

    def _set_status(self, id: str, status: str) -> str:
        node = self._store.nodes.require_live(id)
        node.status, node.updated_at = status, now()
        if self._store.nodes.put(node) == "unchanged":
            return "unchanged"
        Index(self._store).update([node])
        return status
