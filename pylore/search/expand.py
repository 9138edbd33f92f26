"""Nodes that the graph adds to a search, or around given nodes: walks, factors, paths.

The values of the setting ``expansion``:

accumulate  add up the values of several matches
best-path   keep the product along the best way from a match
"""

from __future__ import annotations

from math import sqrt

from ..core.errors import GraphUnavailable
from ..core.model import Hit, Hits
from ..core.scoring import best_first
from ..core.text import counted, one_line
from ..core.vocabulary import CODE_LIST, CODE_TYPES, DEFINES, FILE_IDS, RUN_IDS, list_of, path_of
from ..graph.relations import relation_weights, weight_notes
from ..graph.walk import Links, Step, spread
from ..store import ALL
from ..store.filter import Scope
from .legs import assemble, attach_verdicts, beyond_signature, describe, fuse, in_order, led, rated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..core.model import Factors
    from ..core.settings import Settings
    from ..graph.walk import Walk
    from ..store import Store
    from . import Near, ParsedQuery
    from .legs import Matches

LEAST_SEED = 0.1  # least score of a seed of ``accumulate``, the best match having 1

GRAPH_WEIGHT, OF_CODE = 2.0, 0.2
"""Weight of support relative to the match, and the share for code (docs/quality.md)."""

LENDING, LENT = 50, 0.7
"""Best passages that lend, and their weight. With 20 passages recall@5 on PEPs is a point lower,
with 100 nearly the same; more and less weight are worse there (docs/decisions/0014)."""

WIDE = (("graph_fanout", 200), ("graph_max_nodes", 500))
"""Caps of a walk around nodes, unless set; symbols of files do not count."""


def expanded(
    query: ParsedQuery, starts: Matches, found: Matches, direct: Sequence[Hit]
) -> tuple[list[Hit], dict[str, Step], Links]:
    """Return the ``direct`` hits of ``found`` with at most ``graph_limit`` nodes reached from
    ``starts``, best first; the ways to all reached nodes; and the links between.

    Raises:
        UsageError: unknown relation in the settings.
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    store, settings, hides = query.store, query.settings, query.scope.hides
    sums = settings.expansion == "accumulate"
    seeds: dict[str, float] = {}
    for matches in (found, starts) if sums else (starts,):
        for id in [*matches.fused][: settings.graph_seeds]:
            score = max(LEAST_SEED, matches.fused[id] / matches.best)
            seeds[id] = max(score, seeds.get(id, 0.0)) if sums else matches.fused[id]
    walked = reach(store, settings, seeds, query.notes, query.excluded, hides, adds=sums)
    if sums and store.positional_edges.any():
        add_passage_support(query, starts, walked)
    known = {hit.id for hit in direct}
    stands_for = {**starts.stands_for, **found.stands_for}
    known |= {stands_for[id] for id in known & stands_for.keys()}
    anything = Scope(types=query.scope.types, statuses=query.scope.statuses)
    among = within(store, walked, query.scope if query.filter_expanded else anything)
    others = [id for id in among if id not in known]
    say_caps(walked, len(others) - min(settings.graph_limit, settings.graph_max_nodes), query.notes)
    steps = [walked.reached[id] for id in others[: settings.graph_max_nodes]]
    reached = describe(store, settings, [led(Hit(step.id), step) for step in steps])
    if sums:
        found.support = walked.support
        matched = summed_factors(direct, reached, walked, found, settings)
    else:
        matched = {hit.id: found.factors(hit.id) for hit in direct}
        for step in steps:
            matched[step.id] = {"path": step.score, "confidence": found.confidence}
    hits = assemble([*direct, *assemble(reached, matched)[: settings.graph_limit]], matched)
    weights = relation_weights(store, settings)
    documents = store.documents.paths([hit.id for hit in direct])
    stands_for |= {id: FILE_IDS + path for id, path in documents.items()}
    links = Links(walked.reached.values(), weights, settings.hop_decay, stands_for)
    return hits, {id: walked.reached[id] for id in among}, links


def reach(
    store: Store,
    settings: Settings,
    seeds: Mapping[str, float],
    notes: list[str],
    excluded: frozenset[str],
    hides: tuple[str, ...] = (),
    *,
    adds: bool,
) -> Walk:
    """Walk from the seeds (id to score), but not into ``excluded`` nodes or statuses of ``hides``.

    With ``adds`` edges in a passage count less: the passage itself lends to linked nodes.

    Raises:
        UsageError: unknown relation in the settings.
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    notes += weight_notes(store, settings)
    hides = hides if hides and store.nodes.hidden(hides, 0) is None else ()
    return spread(
        store.edges,
        seeds,
        relation_weights(store, settings),
        adds=adds,
        depth=settings.depth,
        decay=settings.hop_decay,
        fanout=settings.graph_fanout,
        max_nodes=settings.graph_max_nodes,
        min_confidence=settings.min_confidence,
        barred=excluded,
        hidden=(lambda ids: store.nodes.hidden_among(ids, hides)) if hides else None,
        placed=store.positional_edges.touching if adds and store.positional_edges.any() else None,
    )


def within(store: Store, found: Walk, scope: Scope) -> list[str]:
    """Return the reached nodes within ``scope``, best first."""
    ids = list(found.reached)
    if "run" not in scope.types:  # they tie records to each other, and have no text
        ids = [id for id in ids if not id.startswith(RUN_IDS)]
    among = store.nodes.match(scope, ids)
    return [id for id in ids if id in among]


def say_caps(walked: Walk, more: int, notes: list[str]) -> None:
    """Add a note on the links and nodes that a walk left out, ``more`` of these by a limit."""
    hubs = len(walked.hubs)
    weaker = [f"weaker links of {counted(hubs, 'node')} not followed"] if hubs else []
    rest = [f"{counted(more, 'connected node')} not shown"] if more > 0 else []
    if said := ", ".join(weaker + rest):
        notes.append(said)


def summed_factors(
    direct: Sequence[Hit], reached: Sequence[Hit], walk: Walk, found: Matches, settings: Settings
) -> dict[str, Factors]:
    """Return the factors: ``match`` is the fused score + ``GRAPH_WEIGHT`` × support, the best match
    having 1. A symbol in the place of a file has the file's support, if that is more.

    A hit without a match that a single match led to has at most ``hop_decay`` of that match per
    hop. No hit exceeds the first direct match of the list. ``scale`` brings the sums to 0..1, and
    to the confidence of the search.
    """
    best = found.best
    match: dict[str, float] = {}
    highest: dict[str, float] = {}
    for hit in (*direct, *reached):
        own = found.fused.get(hit.id, 0.0) / best
        weight = GRAPH_WEIGHT * (OF_CODE if list_of(hit.id) == CODE_LIST else 1.0)
        file = found.stands_for.get(hit.id, hit.id)
        support = max(walk.support.get(hit.id, 0.0), walk.support.get(file, 0.0))
        value = own + weight * support
        if not own and hit.id in walk.roots:
            way = walk.reached[hit.id]
            value = min(value, way.steps()[0].score * settings.hop_decay**way.hop)
        match[hit.id] = value
        highest[list_of(hit.id)] = max(value, highest.get(list_of(hit.id), 0.0))
    for hit in direct:
        if (name := list_of(hit.id)) in highest:
            match[hit.id] = highest.pop(name) * (1 if name == CODE_LIST else 1.0001)  # no tie
    scale = best * found.confidence / max(1.0, *match.values()) if match else 0.0
    return {id: {"match": value, "scale": scale} for id, value in match.items()}


def add_passage_support(query: ParsedQuery, found: Matches, walk: Walk) -> None:
    """Add the weight that passages lend to a walk's support, and nodes that only they reach.

    A citation belongs to a passage. Each of the best ``LENDING`` passages lends to linked nodes by
    the score ``b`` of the passage (the best has 1):

        support(j) = √(walk(j)² + Σ (LENT × b² × edge weight × relation weight)²)

    the sum over the passages with a link to ``j``, not thinned by the number of their links.

    Raises:
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    store, settings = query.store, query.settings
    lending = lending_passages(found, settings)
    rows = store.positional_edges.within([*lending])
    weights = relation_weights(store, settings)
    hidden = store.nodes.hidden_among([row[2] for row in rows], query.scope.hides)
    barred = query.excluded.union(hidden)
    squares: dict[str, float] = {}
    ways: dict[str, Step] = {}
    for key, relation, to, weight in rows:
        id, score = lending[key]
        if relation in weights and to not in barred and to != id:
            strength = weights[relation][0]
            value = LENT * score**2 * weight * strength
            squares[to] = squares.get(to, 0.0) + value**2
            if to not in ways or value > ways[to].score:
                ways[to] = Step(to, value, Step(id, score), relation, weight, strength)
    for to, way in ways.items():
        walk.support[to] = sqrt(walk.support.get(to, 0.0) ** 2 + squares[to])
        walk.roots.pop(to, None)
        walk.reached.setdefault(to, way).score = walk.support[to]
    best = best_first({to: step.score for to, step in walk.reached.items()})
    walk.reached = {to: walk.reached[to] for to in best}


def lending_passages(found: Matches, settings: Settings) -> dict[int, tuple[str, float]]:
    """Return the best ``LENDING`` passages: key to node and fused score, the best having 1."""
    owners = {key: id for rows in (*found.rows.values(), found.nearest) for key, id, _ in rows}
    words: dict[int, float] = {}
    for rows in found.rows.values():
        best = max([row[2] for row in rows], default=0.0) or 1.0
        words.update((key, score / best) for key, _, score in rows)
    near = {key: max(score, settings.vector_min) for key, _, score in found.nearest}
    fused = fuse(settings, {"fulltext": words, "vector": near})
    best = max(fused.values(), default=0.0) or 1.0
    return {key: (owners[key], fused[key] / best) for key in [*fused][:LENDING]}


def start_at_hits(hits: list[Hit], links: Links, found: Matches, settings: Settings) -> list[Hit]:
    """Return the hits, with paths of reached hits that begin at a direct match in the list.

    Below the limit, hits that only matches past it lead to are dropped. Paths from matches that are
    not shown, of other types or files at hand, stay.
    """
    starts = {hit.id: found.fused.get(hit.id, 0.0) for hit in hits if not hit.hops}
    past = found.fused.keys() - found.near.keys()
    ways = links.ways_from(starts, settings.depth)
    shown = []
    for place, hit in enumerate(hits):
        if hit.hops and hit.id in ways:
            led(hit, ways[hit.id])
        elif hit.hops and place >= settings.limit and hit.path[0] in past:
            continue
        shown.append(hit)
    return shown


def related(
    store: Store,
    settings: Settings,
    ids: Sequence[str],
    near: Near | None = None,
    *,
    types: tuple[str, ...] = (),
    excluded: Iterable[str] = (),
    explain: bool = False,
    symbols: bool = False,
) -> Hits:
    """Return the nodes around these nodes, up to ``settings.graph_depth``; for files ``near`` first
    the records tied to them and to neighbouring files, and records before code.

    The nodes, the files and, without ``symbols``, their symbols are not in the results.

    Raises:
        LoreError: as ``files_near`` does.
    """
    notes: list[str] = []
    scope = Scope(types=types, excluded=frozenset((*excluded, *ids)))
    hits: list[Hit] = []
    starts: dict[str, float] = {}
    if near is not None:
        from .file_context import of_files

        hits, starts = of_files(store, settings, near, scope, notes)
    shown = {hit.id for hit in hits}
    starts |= dict.fromkeys(ids, 1.0)
    symbols = symbols or "symbol" in types
    try:
        reached = _reached(store, settings, starts, scope, notes, symbols=symbols)
        hits += [hit for hit in reached if hit.id not in shown]
    except GraphUnavailable as error:
        if near is None:
            raise
        notes.append(f"{error}; what anchors say alone")
    hits = rated(store, settings, in_order(hits), notes)
    for hit in hits:
        text = store.nodes.beginning(hit.id, 240)
        hit.snippet = one_line(beyond_signature(text, hit.title) if hit.type == "symbol" else text)
    attach_verdicts(store, hits, notes)
    if explain:
        from .places import explain_ways

        explain_ways(hits, settings)
    if near is not None:
        hits.sort(key=lambda hit: hit.type in CODE_TYPES)
    return Hits(hits, notes)


def _reached(
    store: Store,
    settings: Settings,
    seeds: Mapping[str, float],
    scope: Scope,
    notes: list[str],
    *,
    symbols: bool,
) -> list[Hit]:
    """Return the results of the best paths from the seeds, within ``scope``, best first; without
    ``symbols`` of the files, which a note counts."""
    if not settings.depth:
        notes.append("graph_max_depth is 0: the graph is switched off")
        return []
    files = [] if symbols else [id for id in seeds if id.startswith(FILE_IDS)]
    rows = store.edges.neighbours(files, [DEFINES], ALL) if files else ()
    aside = {other for _, other, _, _, outgoing in rows if outgoing}
    if aside:
        whose = path_of(files[0]) if len(files) == 1 else counted(len(files), "file")
        notes.append(f"{counted(len(aside), 'symbol')} of {whose} not shown: add --type symbol")
    wide = settings.changed(
        [(name, str(most + len(aside))) for name, most in WIDE if name not in settings.origins],
        "default:related",
    )
    found = reach(store, wide, seeds, notes, scope.excluded, adds=False)
    among = [id for id in within(store, found, scope) if id not in aside]
    most = settings.graph_max_nodes
    say_caps(found, len(among) - most, notes)
    steps = [found.reached[id] for id in among[:most]]
    hits = [led(Hit(step.id), step) for step in steps]
    return assemble(describe(store, settings, hits), {one.id: {"path": one.score} for one in steps})
