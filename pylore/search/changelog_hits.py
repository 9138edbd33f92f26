"""A changelog among the results: which of its entries is shown."""

from __future__ import annotations

from ..core.changelogs import version_of
from . import tuning
from .fulltext import coverage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..core.model import Hit
    from ..core.text import Query
    from ..store.protocols import SearchStore as Store
    from .retrieve import Matches


def show_newest(store: Store, query: Query, hits: list[Hit], found: Matches) -> None:
    """Makes the best entry of each changelog the passage that is shown of it.

    Of those that match nearly as well as the best one it is the one with most of the query's
    words; of several the one of the version that the query names, or else the newest.
    """
    asked = version_of(query.text)
    for hit in hits:
        scores = {
            key: score for rows in found.rows.values() for key, id, score in rows if id == hit.id
        }
        enough = tuning.AS_GOOD * scores.get(found.passage[hit.id], 0.0)
        near = [key for key, score in scores.items() if score >= enough > 0]
        if len(near) < 2:
            continue
        worth = {}
        for key in near:
            title, everything = store.fulltext.indexed(key)
            version = version_of(_heading(hit, title))
            if asked:
                version = version[: len(asked)] if version[: len(asked)] == asked else ()
            worth[key] = (coverage(query, everything), version, scores[key])
        found.passage[hit.id] = max(worth, key=lambda key: worth[key])


def heading_of(store: Store, hit: Hit, key: int, text: str) -> str:
    """The heading of the entry that a passage is of; nothing where the passage begins with it."""
    heading = _heading(hit, store.fulltext.indexed(key)[0])
    return "" if heading in text[: len(heading) + len("###### ")] else heading


def _heading(hit: Hit, title: str) -> str:
    """What a passage has in its title beside its document's."""
    return title[len(hit.title) :].strip() if title.startswith(hit.title) else ""
