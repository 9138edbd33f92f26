"""Questions about the graph itself: what is around a node, and what shape it has."""

from __future__ import annotations

from .errors import LoreError
from .jsontext import Raw
from .model import Hits
from .search import walk_hits
from .store.scope import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from .settings import Settings
    from .store import Store


def related(
    store: Store,
    settings: Settings,
    ids: Sequence[str],
    *,
    types: tuple[str, ...] = (),
    excluded: Iterable[str] = (),
    explain: bool = False,
) -> Hits:
    """What the walk reaches from these nodes, as results; the nodes themselves are left out.

    ``settings.graph_depth`` says how far.
    """
    notes: list[str] = []
    if not settings.depth:
        return Hits([], ["graph_max_depth is 0: the graph is switched off"])
    hits = walk_hits(
        store, settings, dict.fromkeys(ids, 1.0), Scope(types=types), notes,
        excluded=frozenset(excluded), explain=explain,
    )  # fmt: skip
    for hit in hits:
        hit.snippet = " ".join(store.nodes.beginning(hit.id, 240).split())
    return Hits(hits, notes)


def shown(store: Store, id: str, *, history: bool = False) -> dict[str, Any]:
    """One node with all its fields and its live edges; with ``history``, their past too.

    Raises:
        LoreError: there is no such node.
    """
    node = store.nodes.get(id)
    if node is None:
        raise LoreError(f"no node '{id}': see 'lore list'")
    fields = node.to_dict()
    fields["tags"] = list(node.tags)
    fields["data"] = Raw(node.data)
    edges = []
    for edge in store.edges.of(id, forgotten=history):
        other = edge.to_id if edge.from_id == id else edge.from_id
        end = store.nodes.get(other)
        edges.append(
            {
                "direction": "out" if edge.from_id == id else "in",
                "relation": edge.relation,
                "id": other,
                "title": end.title if end else None,
                "weight": edge.weight,
                "status": edge.status,
                "source": edge.source,
                "metadata": Raw(edge.metadata),
                "created_at": edge.created_at,
                "invalidated_at": edge.invalidated_at,
                **({"history": _history(store, edge.key)} if history else {}),
            }
        )
    fields["edges"] = edges
    return fields


def _history(store: Store, key: tuple[str, str, str]) -> list[dict[str, object]]:
    return [
        {**state, "metadata": Raw(str(state["metadata"]))} for state in store.edges.history(key)
    ]


def stats(store: Store) -> dict[str, Any]:
    """Counts: nodes by type, edges by relation, degrees, orphans, components, dangling edges."""
    by_type = store.nodes.count_by_type()
    nodes = sum(by_type.values())
    relations = store.edges.count_by_relation()
    degrees = [(out + into, id) for id, out, into in store.edges.degrees()]
    dangling = store.edges.dangling()
    connected = store.nodes.count_connected()
    most, hub = max(degrees, default=(0, None))
    return {
        "nodes": nodes,
        "nodes_by_type": by_type,
        "edges": sum(relations.values()),
        "edges_by_relation": relations,
        "mean_degree": round(2 * sum(relations.values()) / nodes, 3) if nodes else 0.0,
        "max_degree": most,
        "max_degree_id": hub,
        "orphans": nodes - connected,
        "components": _count_components(store) + nodes - connected,
        "dangling_edges": len(dangling),
        "forgotten_nodes": store.nodes.count_forgotten(),
    }


def _count_components(store: Store) -> int:
    """Connected components among the nodes that have edges, by union-find with halving."""
    parent: dict[str, str] = {}

    def root(id: str) -> str:
        while parent.setdefault(id, id) != id:
            parent[id] = parent[parent[id]]
            id = parent[id]
        return id

    for from_id, to_id in store.edges.pairs():
        parent[root(from_id)] = root(to_id)
    return sum(1 for id in parent if parent[id] == id)
