"""Counting what is read: by show and by what is built for a reader, never by search.

Every show imports this, so it imports nothing heavy.
"""

from __future__ import annotations

from ..core.errors import LoreError
from ..core.times import now
from .fact_status import promote, ripe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core.settings import Settings
    from ..store import Store


def count_accesses(store: Store, settings: Settings, ids: Sequence[str]) -> list[str]:
    """Return one access of each of these nodes, and of the facts of the entities among them.

    Returns notes on what that has confirmed. It never fails, and waits for nobody: a
    store that cannot be written counts nothing, and in one that is busy somebody else
    counts it in. Call it when the output is out.
    """
    try:
        return _count(store, settings, list(dict.fromkeys(ids)))
    except LoreError:
        return []


def _count(store: Store, settings: Settings, ids: list[str]) -> list[str]:
    if not ids or not store.writable:
        return []
    store.review.count_access(ids, now())
    promoted: list[str] = []
    if store.review.is_behind or ripe(store, settings, ids):
        with store.aside():
            if store.review.is_behind:
                store.review.catch_up()
            promoted = promote(store, settings, ids)
    return [f"confirmed, since it is read often: {what}" for what in promoted]
