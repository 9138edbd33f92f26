"""Recording what a search has shown, for the run that it belongs to.

Searches with a run import this, so it imports nothing heavy.
"""

from __future__ import annotations

from ..core.errors import LoreError, StoreBusy
from ..core.json import require_storable
from ..core.times import now
from ..core.vocabulary import RUN_IDS
from ..system.parts import part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..core.settings import Settings
    from ..store import Store

PATIENCE = 0.5
"""Seconds to wait for another writer: the results are out, the caller wants to go on."""

QUERY_LENGTH = 500
"""Characters of a query that are kept."""


def keep_shown(store: Store, settings: Settings, query: str, ids: Iterable[str]) -> str:
    """Record that ``ids`` were shown in ``settings.run``, in this order.

    Returns what to tell a person, or nothing. It never fails: a store that is busy
    or cannot be written keeps nothing.
    """
    try:
        why = _keep(store, settings.run, query, ids)
    except StoreBusy:
        why = "the store is busy"
    except LoreError as error:
        why = str(error)
    return f"what was shown is not recorded: {why}" if why else ""


def _keep(store: Store, run: str, query: str, ids: Iterable[str]) -> str:
    if not store.writable:
        return "the store cannot be written"
    with store.aside(PATIENCE):
        state = store.impressions.state(run)
        if state == "open":
            require_storable(query)
            records = [id for id in ids if not id.startswith(RUN_IDS)]
            store.impressions.show(run, records, _redacted(query)[:QUERY_LENGTH], now())
            return ""
    return f"the run {run} is {state}" if state else f"no run '{run}': see 'lore run list'"


def _redacted(query: str) -> str:
    """Return a query without what looks like a secret; as it is where capture was left out."""
    log = part("capture", "event_log")
    return log.without_tokens_in([query])[0] if log is not None else query
