"""Record the results of a search for a run. Searches import this module: keep imports light."""

from __future__ import annotations

from ..core.errors import LoreError, StoreBusy
from ..core.json import require_storable
from ..core.times import now
from ..core.vocabulary import RUN_IDS
from ..system import part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..core.settings import Settings
    from ..store import Store

PATIENCE = 0.5
"""Seconds to wait for other writers: the results are out, and the caller waits."""

QUERY_LENGTH = 500
"""Characters of a query that are kept."""


def keep_shown(store: Store, settings: Settings, query: str, ids: Iterable[str]) -> str:
    """Record that ``ids`` were shown in ``settings.run``, in this order, and the redacted query.

    Return a note on failure. Never raises.
    """
    run, why = settings.run, "the store cannot be written"
    try:
        if store.writable:
            with store.aside(PATIENCE):
                state = store.impressions.state(run)
                if state == "open":
                    require_storable(query)
                    log = part("capture", "event_log")
                    query = log.without_tokens_in([query])[0] if log is not None else query
                    records = [id for id in ids if not id.startswith(RUN_IDS)]
                    store.impressions.show(run, records, query[:QUERY_LENGTH], now())
                    return ""
            why = f"the run {run} is {state}" if state else f"no run '{run}': see 'lore run list'"
    except StoreBusy:
        why = "the store is busy"
    except LoreError as error:
        why = str(error)
    return f"what was shown is not recorded: {why}"
