"""Which results a context is made of: those of the question, of what it names, of what it needs."""

from __future__ import annotations

from ..core.model import Hit
from ..search.pipeline import Request, search
from ..search.related import related
from ..search.scoring import describe
from . import tuning
from .facts import facts_of_things, names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..core.model import Hits, Node
    from ..core.settings import Settings
    from ..embed import Embedder
    from ..store import Store
    from .brief import ContextBrief

STANDING = ("confirmed", "staged")
"""The statuses of entities that a question finds by their names."""


def wider(settings: Settings) -> Settings:
    """The settings with room for as many results as the budget may hold the least of."""
    most = min(tuning.MOST_RESULTS, settings.budget // tuning.LEAST_SHARE)
    pairs = [
        (name, str(most)) for name in ("limit", "graph_limit")
        if name not in settings.origins and most > getattr(settings, name)
    ]  # fmt: skip
    return settings.changed(pairs, "default:budget")


def results_for(
    store: Store, settings: Settings, asked: ContextBrief, question: str, task: Node | None,
    embedder: Embedder | None,
) -> Hits:  # fmt: skip
    """What the store has on the question, on what its answer needs, and around the task."""
    excluded = asked.excluded | ({task.id} if task else set())
    # What was read often counts no more: the same question finds the same results again.
    settings = settings.changed([("usage_boost", "0")], "default:budget")

    def found(query: str) -> Hits:
        request = Request(
            query, asked.scope, excluded=excluded, with_superseded=True, snippets=False,
            whole_files=True,
        )  # fmt: skip
        return search(store, settings, request, embedder)

    hits = found(question)
    if task is None:
        _add_named(store, settings, asked, hits)
    if task is not None and settings.depth:
        near = related(store, settings, [task.id], types=asked.scope.types)
        known = {hit.id for hit in near}
        hits.hits = [*near, *(hit for hit in hits if hit.id not in known)]
        hits.hits.sort(key=lambda hit: (-hit.score, hit.hops, hit.id))
    top = max((hit.score for hit in hits), default=1.0)
    for need in asked.needed:
        more = found(need)
        best = max((hit.score for hit in more), default=0.0) or 1.0
        for hit in more:  # the best of it is worth as much as the best for the question
            hit.times("needed", top / best)
        _add(hits, more)
        hits.passages = {**more.passages, **hits.passages}
    if settings.depth and len(hits) and not any(hit.hops for hit in hits):
        hits.notes.append("the graph adds nothing here: plain results")
    return hits


def _add(hits: Hits, more: Hits) -> None:
    """Takes results in among the others: where both have one, the better."""
    best = {hit.id: hit for hit in hits}
    for hit in more:
        if hit.id not in best or hit.score > best[hit.id].score:
            best[hit.id] = hit
    hits.hits = sorted(best.values(), key=lambda hit: (-hit.score, hit.hops, hit.id))


def _add_named(store: Store, settings: Settings, asked: ContextBrief, hits: Hits) -> None:
    """Puts the entities that the question names before all else, found by their words or not."""
    known = {hit.id for hit in hits}
    scope = asked.scope.without(asked.excluded)
    named = store.nodes.match(scope, names_of(asked.question)) - known
    ids = facts_of_things(store, settings, sorted(named))
    first = max((hit.score for hit in hits), default=1.0)
    found = describe(store, settings, [Hit(id, first) for id in ids])
    hits.hits = [hit for hit in found if hit.credibility[2] in STANDING] + hits.hits
