"""The pipeline of a search, top to bottom.

legs (full text, vectors) → fusion → seeds → walk over the graph → recency →
merge → results. With depth 0 no graph table is touched.
"""

from __future__ import annotations

import apsw

from .errors import GraphUnavailable
from .legs import Candidates, candidates, embed_query
from .model import Hit, Hits, Record
from .rank import aged, recency
from .store.scope import Scope
from .text import one_line, parse_query, snippet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .embed import Embedder
    from .expand import Step, Walk
    from .settings import Settings
    from .store import Store
    from .text import Query


class Request(Record):
    """What is asked: the words, what may be returned, where the walk may start.

    ``scope.types`` says what may be returned, and the walk goes through anything;
    the rest of ``scope`` says where it may start. With ``filter_expanded`` all of
    it holds for every node. ``excluded`` ids are neither returned nor entered.
    """

    __slots__ = ("excluded", "explain", "filter_expanded", "query", "scope")

    def __init__(
        self,
        query: str,
        scope: Scope | None = None,
        *,
        filter_expanded: bool = False,
        explain: bool = False,
        excluded: Iterable[str] = (),
    ) -> None:
        self.query = query
        self.scope = scope or Scope()
        self.filter_expanded = filter_expanded
        self.explain = explain
        self.excluded = frozenset(excluded)


def search(store: Store, settings: Settings, request: Request, embedder: Embedder | None) -> Hits:
    """The results for a request, best first, with notes for the person who asked.

    Raises:
        StoreError: the store cannot be read. A missing or damaged graph is no
            error: the direct matches come back, with a note.
    """
    query = parse_query(request.query)
    notes: list[str] = []
    if not query:
        return Hits([], ["the query has no words: nothing to search for"])
    if query.cut:
        notes.append(f"the query is long: its last {query.cut} words were left out")
    vector = embed_query(query, store, settings, embedder, notes)
    found = candidates(store, settings, query, vector, request.scope, request.excluded)
    direct = _direct_hits(store, settings, found)
    _say_how_it_matched(direct, notes, filtered=bool(request.scope))
    if settings.graph_depth and not settings.graph_max_depth:
        notes.append("graph_max_depth is 0: the graph is switched off")
    hits = list(direct)
    walked: set[str] = set()
    if settings.depth:
        starts = found
        if request.scope.types and not request.filter_expanded:
            anything = request.scope.with_types(())
            starts = candidates(store, settings, query, vector, anything, request.excluded)
        past_limit = found.fused.keys() - {hit.id for hit in direct}
        seeds = [id for id in starts.fused if id not in past_limit][: settings.graph_seeds]
        hits += _reached_hits(store, settings, request, starts, seeds, direct, notes, walked)
    hits.sort(key=lambda hit: (-hit.score, hit.hops, hit.id))
    _add_texts(store, hits, found, query)
    say_verdicts(store, hits, notes)
    if request.explain:
        _explain(hits, found, settings)
    return Hits(hits, notes, frozenset(walked))


# --- results


def _direct_hits(store: Store, settings: Settings, found: Candidates) -> list[Hit]:
    ranked = list(found.fused)
    if len(ranked) > settings.limit:
        # Age takes off at most its weight: whatever scores less cannot come in.
        least = found.fused[ranked[settings.limit - 1]] * (1 - settings.recency_weight)
        ranked = [id for id in ranked if found.fused[id] >= least]
    hits = []
    for id in ranked:
        hit = Hit(id, found.fused[id])
        hit.match = found.how[id]
        _add_leg_scores(hit, found)
        hits.append(hit)
    hits = _describe(store, settings, hits)
    hits.sort(key=lambda hit: (-hit.score, hit.id))
    return hits[: settings.limit]


def _reached_hits(
    store: Store,
    settings: Settings,
    request: Request,
    starts: Candidates,
    seeds: list[str],
    direct: list[Hit],
    notes: list[str],
    walked: set[str],
) -> list[Hit]:
    scope = request.scope if request.filter_expanded else Scope(types=request.scope.types)
    scores = {id: starts.fused[id] for id in seeds}
    try:
        hits = walk_hits(
            store, settings, scores, scope, notes, excluded=request.excluded,
            explain=request.explain, returned=frozenset(hit.id for hit in direct), walked=walked,
        )  # fmt: skip
    except GraphUnavailable as error:
        notes.append(f"{error}; plain results only")
        return []
    for hit in hits:
        _add_leg_scores(hit, starts)
    return hits[: settings.graph_limit]


def walk_hits(
    store: Store,
    settings: Settings,
    seeds: Mapping[str, float],
    scope: Scope,
    notes: list[str],
    *,
    excluded: frozenset[str] = frozenset(),
    explain: bool = False,
    returned: frozenset[str] = frozenset(),
    walked: set[str] | None = None,
) -> list[Hit]:
    """What the walk reaches from the seeds, within ``scope``, best first.

    ``excluded`` nodes are not entered; ``returned`` ones are walked through only.
    ``walked`` hears the relations of the edges that led to what is returned.

    Raises:
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    from .expand import walk

    result = walk(
        store.edges, seeds, relation_weights(store, settings), depth=settings.depth,
        decay=settings.hop_decay, fanout=settings.graph_fanout,
        max_nodes=settings.graph_max_nodes, barred=excluded,
    )  # fmt: skip
    _say_what_was_left_out(result, settings, notes)
    hits = []
    for id in store.nodes.match(scope, list(result.reached)) - returned:
        chain = result.reached[id].steps()
        hit = Hit(id, chain[-1].score)
        hit.hops = len(chain) - 1
        hit.path = [step.id for step in chain]
        hit.edge = chain[-1].relation
        if walked is not None:
            walked.update(step.relation or "" for step in chain[1:])
        if explain:
            hit.explain = {"walk": _explain_walk(chain, settings.hop_decay)}
        hits.append(hit)
    hits = _describe(store, settings, hits)
    hits.sort(key=lambda hit: (-hit.score, hit.id))
    return hits


def relation_weights(store: Store, settings: Settings) -> dict[str, tuple[float, float]]:
    """The relations to walk, with the weights of the store under those of the settings.

    Raises:
        UsageError: a relation that was asked for is not known.
        GraphUnavailable: the table of relations is missing or damaged.
    """
    from .relations import known_relations, require_relations

    known = known_relations(store, settings)
    wanted = require_relations(settings.graph_edges, known) or list(known)
    unwanted = set(require_relations(settings.graph_exclude_edges, known))
    return {name: known[name] for name in wanted if name not in unwanted}


def _add_leg_scores(hit: Hit, found: Candidates) -> None:
    hit.rrf_score = _rounded(found.rrf.get(hit.id))
    hit.bm25_score = _rounded(found.legs.get("fulltext", {}).get(hit.id))
    hit.vector_score = _rounded(found.legs.get("vector", {}).get(hit.id))


def _describe(store: Store, settings: Settings, hits: list[Hit]) -> list[Hit]:
    """Fills in what the table of nodes says, and takes off what age costs."""
    rows = store.nodes.briefs([hit.id for hit in hits])
    hits = [hit for hit in hits if hit.id in rows]  # another process may have purged one
    for hit in hits:
        hit.type, hit.title, hit.file, hit.line_start, hit.line_end, age = rows[hit.id]
        fresh = recency(age, settings.recency_half_life)
        hit.recency_score = _rounded(fresh)
        hit.score = round(aged(hit.score, fresh, settings.recency_weight), 6)
    return hits


def _add_texts(store: Store, hits: list[Hit], found: Candidates, query: Query) -> None:
    for hit in hits:
        key = found.passage.get(hit.id)
        text = store.nodes.beginning(hit.id) if key is None else store.fulltext.passage(key)[1]
        hit.snippet = one_line(snippet(text, query))


def say_verdicts(store: Store, hits: list[Hit], notes: list[str]) -> None:
    """Writes into each hit whether what it is about still holds, as far as that is known."""
    try:
        anchors = store.nodes.anchored([hit.id for hit in hits])
    except apsw.SQLError as error:
        notes.append(f"the verdicts cannot be read ({error}): run 'lore doctor'")
        return
    if anchors:
        from .verdicts import add_verdicts

        add_verdicts(store, hits, anchors, notes)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


# --- what is said beside the results


def _say_how_it_matched(direct: list[Hit], notes: list[str], *, filtered: bool) -> None:
    ways = {hit.match for hit in direct}
    if not ways:
        within = " within these filters" if filtered else ""
        notes.append(f"nothing matches these words{within}")
    elif "all" not in ways:
        notes.append(
            "no record has all of these words; showing those that have some"
            if "some" in ways
            else "no record has these words; showing those with words that begin so"
            if "prefix" in ways
            else "no record has these words; showing those nearest in meaning"
        )


def _say_what_was_left_out(result: Walk, settings: Settings, notes: list[str]) -> None:
    if result.left_out:
        notes.append(
            f"{result.left_out} more connected nodes were left out: "
            f"graph_max_nodes is {settings.graph_max_nodes}"
        )
    if result.hubs:
        notes.append(
            f"the weaker edges of {len(result.hubs)} well-connected nodes were left out: "
            f"graph_fanout is {settings.graph_fanout}"
        )


def _explain(hits: list[Hit], found: Candidates, settings: Settings) -> None:
    ranks = {
        name: {id: rank for rank, id in enumerate(leg, start=1)} for name, leg in found.legs.items()
    }
    for hit in hits:
        explained = hit.explain or {}
        hit.explain = {
            "fusion": settings.fusion,
            "legs": {
                name: {"rank": ranks[name][hit.id], "score": round(leg[hit.id], 6)}
                for name, leg in found.legs.items()
                if hit.id in leg
            },
            "fused": _rounded(found.fused.get(hit.id)),
            "recency": {"score": hit.recency_score, "weight": settings.recency_weight},
            **explained,
        }


def _explain_walk(chain: list[Step], decay: float) -> dict[str, object]:
    return {
        "seed": chain[0].id,
        "seed_score": round(chain[0].score, 6),
        "hops": [
            {
                "from": step.before.id if step.before else None,
                "to": step.id,
                "relation": step.relation,
                "direction": "out" if step.outgoing else "in",
                "edge_weight": step.edge_weight,
                "relation_weight": step.relation_weight,
                "decay": decay,
            }
            for step in chain[1:]
        ],
    }
