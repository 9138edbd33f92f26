"""The shape of the whole graph: its counts, its hubs, its orphans, its relations."""

from __future__ import annotations

from ..store import ALL
from .relations import known_relations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..core.settings import Settings
    from ..store import Store


def stats(store: Store) -> dict[str, Any]:
    """Counts over live nodes and edges.

    ``nodes, nodes_by_type, edges, edges_by_relation, mean_degree, max_degree,
    max_degree_id, orphans, components, dangling_edges, forgotten_nodes``. An edge
    with an end that is not a live node is dangling: it counts for the degree of its
    other end, and connects nothing.

    Raises:
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    with store.graph_faults:
        return store.statistics.stats(lambda: _count(store))


def _count(store: Store) -> dict[str, Any]:
    numbers: dict[str, int] = {}
    by_type: dict[str, int] = {}
    for id, type in store.statistics.nodes():
        numbers[id] = len(numbers)
        by_type[type] = by_type.get(type, 0) + 1
    by_relation, degrees, components, dangling = _count_edges(store, numbers)
    most = max(degrees, default=0)
    hubs = (id for id, number in numbers.items() if degrees[number] == most) if most else ()
    return {
        "nodes": len(numbers),
        "nodes_by_type": dict(sorted(by_type.items())),
        "edges": sum(by_relation.values()),
        "edges_by_relation": dict(sorted(by_relation.items())),
        "mean_degree": round(sum(degrees) / len(degrees), 3) if degrees else 0.0,
        "max_degree": most,
        "max_degree_id": min(hubs, default=None),
        "orphans": degrees.count(0),
        "components": components,
        "dangling_edges": dangling,
        "forgotten_nodes": store.statistics.count_forgotten(),
    }


def _count_edges(
    store: Store, numbers: Mapping[str, int]
) -> tuple[dict[str, int], list[int], int, int]:
    """In one pass: edges by relation, degrees by number, components, dangling edges.

    Components by union-find with path halving; it is written into the loop, since
    a call for each edge would double the time.
    """
    by_relation: dict[str, int] = {}
    degrees = [0] * len(numbers)
    parents = list(range(len(numbers)))
    components, dangling = len(numbers), 0
    number_of = numbers.get
    for from_id, to_id, relation in store.statistics.edges():
        by_relation[relation] = by_relation.get(relation, 0) + 1
        a, b = number_of(from_id), number_of(to_id)
        if a is not None:
            degrees[a] += 1
        if b is not None:
            degrees[b] += 1
        if a is None or b is None:
            dangling += 1
            continue
        while parents[a] != a:
            parents[a] = a = parents[parents[a]]
        while parents[b] != b:
            parents[b] = b = parents[parents[b]]
        if a != b:
            parents[a] = b
            components -= 1
    return by_relation, degrees, components, dangling


def hubs(store: Store, limit: int) -> list[dict[str, Any]]:
    """The nodes with most edges, most first: ``{id, type, title, degree, out, in}``.

    Raises:
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    with store.graph_faults:
        rows = store.statistics.hubs(limit)
    return [
        {"id": id, "type": type, "title": title, "degree": out + into, "out": out, "in": into}
        for id, type, title, out, into in rows
    ]


def orphans(store: Store, types: Sequence[str] = (), limit: int = ALL) -> list[dict[str, Any]]:
    """The nodes without an edge, by id: ``{id, type, title}``.

    Raises:
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    with store.graph_faults:
        rows = store.statistics.orphans(types, limit)
    return [{"id": id, "type": type, "title": title} for id, type, title in rows]


def relations(store: Store, settings: Settings) -> list[dict[str, Any]]:
    """Every relation, by name, with its effective weights and the number of its edges.

    ``{name, weight, backward_weight, origin, description, edges}``; ``origin`` is
    ``store`` or ``setting``.

    Raises:
        GraphUnavailable: the graph's tables are missing or damaged.
    """
    known = known_relations(store, settings)
    with store.graph_faults:
        stored = store.relations.all()
        counts = store.statistics.count_by_relation()
    set_here = {*settings.edge_weights, *settings.edge_backward_weights}
    return [
        {
            "name": name,
            "weight": weight,
            "backward_weight": round(backward, 6),
            "origin": "setting" if name in set_here else "store",
            "description": stored[name][2] if name in stored else "",
            "edges": counts.get(name, 0),
        }
        for name, (weight, backward) in sorted(known.items())
    ]
