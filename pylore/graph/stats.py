"""The shape of the whole graph: its counts, its hubs, its orphans, its relations."""

from __future__ import annotations

from ..store import ALL
from .relations import known_relations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
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
        return store.statistics.stats()


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
