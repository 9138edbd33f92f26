"""Tell how old the co-changes are, where they led to results."""

from __future__ import annotations

from ..core.errors import StoreError
from ..core.times import is_within, now
from ..core.vocabulary import CO_CHANGES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..core.model import Hit
    from ..core.settings import Settings
    from ..store import Store


def old_cochanges(store: Store, settings: Settings) -> str:
    """Return a note where the history was last analysed more than ``cochange_days`` ago; nothing
    otherwise."""
    analysed = store.meta.get("cochanges_analyzed_at") or ""
    days = settings.cochange_days
    if not days or not analysed or is_within(analysed, days):
        return ""
    return (
        f"the co-changes are of {analysed[:10]}: "
        "'lore graph analyze-cochanges' brings them up to date"
    )


def add_note(
    store: Store, settings: Settings, hits: Iterable[Hit], notes: list[str], *, of_files: bool
) -> None:
    """Add ``old_cochanges`` to what is said of results that co-changes led to, or that are
    asked for by files.

    It is said once a day: a store that can be written keeps when.
    """
    hits = [hit for hit in hits if hit.hops]
    note = old_cochanges(store, settings) if hits or of_files else ""
    if not note or is_within(store.meta.get("cochanges_said_at") or "", 1):
        return
    if of_files or any(_by_cochange(store, hit) for hit in hits):
        notes.append(note)
        _remember(store, "cochanges_said_at", now())


def _by_cochange(store: Store, hit: Hit) -> bool:
    """Return whether an edge of the way to a hit is a co-change."""
    if hit.edge == CO_CHANGES:
        return True
    between = zip(hit.path[:-2], hit.path[1:-1], strict=True)
    return any(store.edges.get(min(ends), max(ends), CO_CHANGES) is not None for ends in between)


def _remember(store: Store, key: str, value: str) -> None:
    """Keep a fact about the store, unless it is busy or cannot be written."""
    if not store.writable:
        return
    try:
        with store.aside():
            store.meta.set(key, value)
    except StoreError:
        return
