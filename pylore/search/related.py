"""Questions about the graph itself: what is around a node."""

from __future__ import annotations

from math import sqrt

from ..core.errors import GraphUnavailable
from ..core.model import Hits
from ..core.text import counted
from ..core.vocabulary import CHANGES, CODE_TYPES, COMMIT_IDS, DEFINES, FILE_IDS, file_id, path_of
from ..graph.relations import relation_weights
from ..store import ALL
from ..store.filter import Scope
from .expand import walk_hits
from .score import attach_verdicts, best_first, explain_factors, rated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..core.model import Hit
    from ..core.settings import Settings
    from ..store import Store
    from .file_context import Near

SWITCHED_OFF = "graph_max_depth is 0: the graph is switched off"


def related(
    store: Store,
    settings: Settings,
    ids: Sequence[str],
    *,
    types: tuple[str, ...] = (),
    excluded: Iterable[str] = (),
    explain: bool = False,
    symbols: bool = False,
) -> Hits:
    """Return what the walk reaches from these nodes, as results; the nodes themselves are left out,
    and so are the symbols of files among them, unless ``symbols`` asks for them.

    ``settings.graph_depth`` says how far.
    """
    notes: list[str] = []
    if not settings.depth:
        return Hits([], [SWITCHED_OFF])
    aside = frozenset() if symbols or "symbol" in types else own_symbols(store, ids, notes)
    hits = walk_hits(
        store, settings, dict.fromkeys(ids, 1.0), Scope(types=types), notes,
        excluded=frozenset(excluded), explain=explain, aside=aside,
    )  # fmt: skip
    return _finished(store, settings, hits, notes, explain=explain)


def about_files(
    store: Store,
    settings: Settings,
    near: Near,
    ids: Sequence[str] = (),
    *,
    types: tuple[str, ...] = (),
    excluded: Iterable[str] = (),
    explain: bool = False,
    symbols: bool = False,
) -> Hits:
    """Return what is known about some files (and nodes), records first, then code.

    First what is tied to them, at hop 0, and to the files next to them, a hop away; then what
    the walk reaches from the files, from what is tied to them, and from the nodes. The files and
    the nodes themselves are left out, and the symbols of the files, unless ``symbols`` asks for
    them.

    Raises:
        LoreError: as ``Near.files`` does.
    """
    from .file_context import of_files

    notes: list[str] = []
    barred = frozenset(excluded)
    scope = Scope(types=types).without(barred)
    hits, starts = of_files(store, settings, near, scope, notes, explain=explain)
    shown = {hit.id for hit in hits} | {*ids}
    hits = [hit for hit in hits if hit.id not in ids]
    starts |= dict.fromkeys(ids, 1.0)
    try:
        if settings.depth:
            files = [id for id in starts if id.startswith(FILE_IDS)]
            aside = (
                frozenset() if symbols or "symbol" in types else own_symbols(store, files, notes)
            )
            hits += [
                hit
                for hit in walk_hits(store, settings, starts, scope, notes, excluded=barred,
                                     explain=explain, aside=aside)
                if hit.id not in shown
            ]  # fmt: skip
        else:
            notes.append(SWITCHED_OFF)
    except GraphUnavailable as error:
        notes.append(f"{error}; what anchors say alone")
    found = _finished(store, settings, best_first(hits), notes, explain=explain)
    found.hits.sort(key=lambda hit: hit.type in CODE_TYPES)
    return found


def own_symbols(store: Store, ids: Iterable[str], notes: list[str]) -> frozenset[str]:
    """Return the symbols that these files define, counted in a note."""
    files = [id for id in ids if id.startswith(FILE_IDS)]
    rows = store.edges.neighbours(files, [DEFINES], ALL) if files else ()
    found = frozenset(other for _, other, _, _, outgoing in rows if outgoing)
    if found:
        whose = path_of(files[0]) if len(files) == 1 else counted(len(files), "file")
        notes.append(f"{counted(len(found), 'symbol')} of {whose}: --symbols lists them")
    return found


def _finished(
    store: Store, settings: Settings, hits: list[Hit], notes: list[str], *, explain: bool
) -> Hits:
    """Results with what ratings, texts and verdicts say of them."""
    hits = rated(store, settings, hits, notes)
    for hit in hits:
        hit.snippet = " ".join(store.nodes.beginning(hit.id, 240).split())
    attach_verdicts(store, hits, notes, explain=explain)
    if explain:
        explain_factors(hits)
    return Hits(hits, notes)


def neighbours(
    store: Store, settings: Settings, id: str, direction: str = "both"
) -> tuple[list[dict[str, Any]], int]:
    """Every live node one edge away, strongest edge first, and how many edges end nowhere.

    ``direction`` is ``out`` (edges that lead away from the node), ``in``, or ``both``.
    ``strength`` is the edge's weight times its relation's, walked that way.

    Raises:
        UsageError: a relation of the settings is not known.
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    if id.startswith(COMMIT_IDS) and store.nodes.get(id) is None:
        return _changed_by(store, id, direction), 0
    weights = relation_weights(store, settings)
    edges = [
        (other, relation, outgoing, weight, weight * weights[relation][0 if outgoing else 1])
        for _, other, relation, weight, outgoing in store.edges.neighbours([id], [*weights], ALL)
        if direction in ("both", "out" if outgoing else "in")
    ]
    edges.sort(key=lambda edge: (-edge[4], edge[0], edge[1], not edge[2]))
    live = store.nodes.match(Scope(), [*{edge[0] for edge in edges}])
    briefs = store.nodes.briefs([*live])
    found = [
        {
            "id": other,
            "type": briefs[other][0],
            "title": briefs[other][1],
            "relation": relation,
            "direction": "out" if outgoing else "in",
            "weight": weight,
            "strength": round(strength, 6),
        }
        for other, relation, outgoing, weight, strength in edges
        if other in live
    ]
    return found, len(edges) - len(found)


def _changed_by(store: Store, id: str, direction: str) -> list[dict[str, Any]]:
    """Return the files that a commit of the history changed, as neighbours."""
    paths = store.commits.changed([id]).get(id, []) if direction in ("both", "out") else []
    weight = round(1 / sqrt(len(paths)), 4) if paths else 0.0
    return [
        {
            "id": file_id(path), "type": "file", "title": path, "relation": CHANGES,
            "direction": "out", "weight": weight, "strength": weight,
        }
        for path in paths
    ]  # fmt: skip


def within(store: Store, id: str, relations: Sequence[str], hops: int) -> set[str]:
    """Return the node and the live nodes at most ``hops`` edges of these relations away.

    Raises:
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    reached = frontier = {id}
    while frontier and hops > 0:
        edges = store.edges.neighbours(sorted(frontier), relations, ALL)
        frontier = store.nodes.match(Scope(), [*{edge[1] for edge in edges} - reached])
        reached = reached | frontier
        hops -= 1
    return reached
