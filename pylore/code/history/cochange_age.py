"""How old what is known of co-changes is, and saying so once a day."""

from __future__ import annotations

from ...core.errors import StoreError
from ...core.times import ago, is_within, now
from ...core.vocabulary import CO_CHANGES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...core.model import Hit
    from ...core.settings import Settings
    from ...store import Store


def cochanges_note(store: Store, settings: Settings, hits: Iterable[Hit]) -> str:
    """What to say where hits were reached by co-changes of too long ago; nothing otherwise.

    It is said once a day: a store that can be written keeps when.
    """
    analysed = store.meta.get("cochanges_analyzed_at") or ""
    days = settings.cochange_days
    if not days or not analysed or is_within(analysed, days):
        return ""
    if is_within(store.meta.get("cochanges_said_at") or "", 1):
        return ""
    if not any(_by_cochange(store, hit) for hit in hits):
        return ""
    _remember(store, "cochanges_said_at", now())
    return (
        f"the co-changes are of {analysed[:10]}: "
        "'lore graph analyze-cochanges' brings them up to date"
    )


def cochanges_are_due(store: Store) -> bool:
    """Whether the history has not been looked at for a day, or before its commits were kept."""
    looked = store.meta.get("cochanges_analyzed_at") or ""
    return looked < ago(1) or not store.commits.is_there()


def _by_cochange(store: Store, hit: Hit) -> bool:
    """Whether an edge of the way to a hit is a co-change."""
    if hit.edge == CO_CHANGES:
        return True
    between = zip(hit.path[:-2], hit.path[1:-1], strict=True)
    return any(store.edges.get(min(ends), max(ends), CO_CHANGES) is not None for ends in between)


def _remember(store: Store, key: str, value: str) -> None:
    """Keeps a fact about the store, unless it is busy or cannot be written."""
    if not store.writable:
        return
    try:
        with store.aside():
            store.meta.set(key, value)
    except StoreError:
        return
