"""Show a node with all fields, edges and anchors. Every ``show`` imports this module: keep imports
light."""

from __future__ import annotations

from math import sqrt

from ..core.json import loads
from ..core.vocabulary import CHANGES, COMMIT_IDS, file_id, path_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..core.model import Edge, Node
    from ..core.stamps import Thing
    from ..store import Store


def shown(store: Store, id: str, *, history: bool = False) -> dict[str, Any]:
    """Return a node with all fields and live edges; with ``history``, also the past of both. Raise
    LoreError for an unknown node."""
    node = store.nodes.get(id)
    commit = _commit(store, id) if node is None and id.startswith(COMMIT_IDS) else None
    titles: dict[str, Any]
    if commit is not None:
        node, linked = commit
        titles = {edge.to_id: ("", path_of(edge.to_id)) for edge in linked}
    else:
        node = node or store.nodes.require(id)
        with store.graph_faults:
            linked = store.edges.of(id, forgotten=history)
        titles = store.nodes.briefs([end for edge in linked for end in edge.key[:2] if end != id])
    fields = node.to_dict()
    del fields["stamps"]
    fields |= {"tags": list(node.tags), "data": loads(node.data), "verdict": None, "anchors": []}
    if store.nodes.anchored([id]):
        from ..anchors.show import anchor_row, worst

        anchors = store.anchors.of(id)
        fields["verdict"] = worst([anchor.verdict for anchor in anchors])
        fields["anchors"] = [anchor_row(anchor) for anchor in anchors]
    fields["edges"] = [_edge(edge, id, titles) for edge in linked]
    if history:
        fields["anchor_history"] = [
            {"kind": one.kind, "path": one.path, "detail": one.detail, **past}
            for one in store.anchors.of(id, gone=True)
            for past in past_rows(store, one)
        ]
        for row, edge in zip(fields["edges"], linked, strict=True):
            row["history"] = past_rows(store, edge)
        fields["history"] = past_rows(store, node)
    return fields


def past_rows(store: Store, row: Thing) -> list[dict[str, Any]]:
    """Return the former states of a node, an edge or an anchor, the first state first.

    Each has ``number``, ``change`` (the command that ended it), ``made_at`` and ``changed_at``; of
    an edge or an anchor all fields, of a node only the fields that the next state changed.
    """
    from ..core.stamps import KINDS, clock

    kind, is_node = KINDS[type(row)], hasattr(row, "body")
    names = (*kind.hashed, kind.end, *kind.local)
    left = store.changes.of(row)
    states, rows = [*(past.row for past in left), row], []
    for number, past in enumerate(left, 1):
        was, after = past.row.to_dict(), states[number].to_dict()
        found = {name: was[name] for name in names if not is_node or was[name] != after[name]}
        found |= {name: loads(found[name]) for name in ("data", "metadata") if name in found}
        found |= {name: list(found[name]) for name in ("tags",) if name in found}
        about = {"number": number, "change": past.change, "made_at": clock(past.row)}
        rows.append({**about, "changed_at": past.changed_at, **found})
    return rows


def _edge(edge: Edge, id: str, titles: dict[str, Any]) -> dict[str, Any]:
    is_out = edge.from_id == id
    other = edge.to_id if is_out else edge.from_id
    row = {"direction": "out" if is_out else "in", "relation": edge.relation, "id": other}
    row["title"] = titles.get(other, ("", None))[1]
    fields = edge.to_dict()
    fields["metadata"] = loads(edge.metadata)
    names = ("weight", "status", "source", "metadata", "created_at", "invalidated_at")
    return row | {name: fields[name] for name in names}


def _commit(store: Store, id: str) -> tuple[Node, list[Edge]] | None:
    """Return a commit with edges to the changed files; None if missing."""
    commit = store.commits.get(id) if store.commits.is_there() else None
    if commit is None:
        return None
    from ..core.model import Edge
    from ..system.git import commit_node

    node = commit_node(*commit)
    files = [file_id(path) for path in store.commits.changed([id]).get(id, [])]
    weight = round(1 / sqrt(len(files) or 1), 4)
    at = node.created_at
    return node, [Edge(id, to, CHANGES, weight, "system", created_at=at) for to in files]
