"""Questions to the graph: the shortest way, counts, components. All raise GraphUnavailable if a
table of the graph is missing or damaged."""

from __future__ import annotations

from collections import Counter

from ..core.errors import GraphUnavailable
from ..core.ids import plain
from ..core.vocabulary import FROM_CODE
from ..store import ALL
from ..store.filter import Scope
from .relations import known_relations, relation_weights

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..core.settings import Settings
    from ..store import Store

    Step = tuple[float, str, str, float, bool]
    """(product so far, node before, relation, edge weight, True if the edge points forwards)"""


def path(
    store: Store, settings: Settings, from_id: str, to_id: str, max_hops: int | None = None
) -> dict[str, Any]:
    """Return the path with the fewest edges, walked in either direction, over live nodes.

    Of several, the path with the largest product of weights. ``{from, to, hops, path, edges}``, an
    edge as ``{from, to, relation, direction, weight}`` in the order of the path; ``hops`` is None
    without a path of at most ``max_hops`` edges.

    Raises:
        UsageError: unknown relation in the settings.
    """
    weights = relation_weights(store, settings)
    ends = frozenset((from_id, to_id))
    start, goal = _Side(from_id, ends, forwards=True), _Side(to_id, ends, forwards=False)
    meeting = start.frontier & goal.frontier
    while not meeting and start.frontier and goal.frontier:
        if max_hops is not None and start.depth + goal.depth >= max_hops:
            break
        side = min(start, goal, key=lambda side: len(side.frontier))
        side.advance(store, weights)
        meeting = start.frontier & goal.frontier
    # Only the two outermost layers can meet: a node further in would have met before.
    if not meeting:
        return {"from": from_id, "to": to_id, "hops": None, "path": [], "edges": []}
    middle = min(meeting, key=lambda id: (-start.product(id) * goal.product(id), id))
    edges = start.edges(middle)[::-1] + goal.edges(middle)
    ids = [from_id, *(edge["to"] for edge in edges)]
    return {"from": from_id, "to": to_id, "hops": len(edges), "path": ids, "edges": edges}


class _Side:
    """Half of the search, from an end: the best step to each node of every layer."""

    def __init__(self, end: str, ends: frozenset[str], *, forwards: bool) -> None:
        self.frontier = {end}
        self.depth = 0
        self._end = end
        self._ends = ends
        self._forwards = forwards
        self._steps: dict[str, Step] = {}

    def product(self, id: str) -> float:
        """Of the weights between the end and a node that has been reached."""
        return self._steps[id][0] if id in self._steps else 1.0

    def advance(self, store: Store, weights: Mapping[str, tuple[float, float]]) -> None:
        """Move to the next layer: each node by the best edge from this layer."""
        layer: dict[str, Step] = {}
        rows = store.edges.neighbours(sorted(self.frontier), [*weights], ALL)
        for node, other, relation, weight, outgoing in rows:
            if other in self._steps or other == self._end:
                continue
            leads_on = outgoing is self._forwards
            product = self.product(node) * weight * weights[relation][0 if leads_on else 1]
            if other not in layer or product > layer[other][0]:
                layer[other] = (product, node, relation, weight, leads_on)
        self.frontier = store.nodes.match(Scope(), [*layer]) | (layer.keys() & self._ends)
        self._steps.update((id, layer[id]) for id in self.frontier)
        self.depth += 1

    def edges(self, id: str) -> list[dict[str, Any]]:
        """Return the edges between a node and the end, from the node on."""
        found = []
        while id in self._steps:
            _, before, relation, weight, leads_on = self._steps[id]
            first, second = (before, id) if self._forwards else (id, before)
            row = {"from": first, "to": second, "relation": relation}
            found.append({**row, "direction": "out" if leads_on else "in", "weight": weight})
            id = before
        return found


def stats(store: Store) -> dict[str, Any]:
    """Return ``store.statistics.stats``: counts over live nodes and edges."""
    with store.graph_faults, store.snapshot():
        return store.statistics.stats()


def hubs(store: Store, limit: int, min_confidence: float = 0.0) -> list[dict[str, Any]]:
    """Return the nodes with most edges, most first: ``{id, type, title, degree, out, in}``.

    Edges from code count that are as sure as ``min_confidence``."""
    rows = store.statistics.hubs(limit, min_confidence, FROM_CODE)
    return [
        {"id": id, "type": type, "title": title, "degree": out + into, "out": out, "in": into}
        for id, type, title, out, into in rows
    ]


_MOST_COUNTED = 1000
"""Edges of a node that ``degrees`` counts at most, of a relation and direction."""


def degrees(store: Store, ids: Sequence[str]) -> dict[str, int]:
    """Return the numbers of edges of nodes; none without a graph."""
    try:
        rows = store.edges.neighbours(ids, [*store.relations.all()], _MOST_COUNTED)
    except GraphUnavailable:
        return {}
    return Counter(row[0] for row in rows)


def orphans(store: Store, types: Sequence[str] = (), limit: int = ALL) -> list[dict[str, Any]]:
    """Return the nodes without an edge, by id: ``{id, type, title}``."""
    rows = store.statistics.orphans(types, limit)
    return [{"id": id, "type": type, "title": title} for id, type, title in rows]


def relations(store: Store, settings: Settings) -> list[dict[str, Any]]:
    """Return the relations by name, with effective weights and the number of edges.

    ``{name, weight, backward_weight, origin, description, edges}``; ``origin`` is
    ``store`` or ``setting``."""
    known, stored = known_relations(store, settings), store.relations.all()
    counts = store.statistics.count_by_relation()
    return [
        {
            "name": name,
            "weight": weight,
            "backward_weight": round(backward, 6),
            "origin": "setting" if {name, plain(name)} & {*settings.edge_weights} else "store",
            "description": stored[name][2] if name in stored else "",
            "edges": counts.get(name, 0),
        }
        for name, (weight, backward) in sorted(known.items())
    ]


def within(store: Store, id: str, relations: Sequence[str], hops: int) -> set[str]:
    """Return the node and the live nodes at most ``hops`` edges of these relations away."""
    reached = frontier = {id}
    while frontier and hops > 0:
        edges = store.edges.neighbours(sorted(frontier), relations, ALL)
        frontier = store.nodes.match(Scope(), [*{edge[1] for edge in edges} - reached])
        reached = reached | frontier
        hops -= 1
    return reached
