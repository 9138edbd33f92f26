"""One node with all that is known of it. Every ``show`` imports this: nothing heavy here."""

from __future__ import annotations

from math import sqrt

from ..core.errors import LoreError
from ..core.json import Raw
from ..core.times import now
from ..core.vocabulary import CHANGES, COMMIT_IDS, file_id
from ..store.anchors import MOVED
from .fact_status import promote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from ..core.model import Anchor, Edge
    from ..core.settings import Settings
    from ..store import Store


def shown(store: Store, id: str, *, history: bool = False) -> dict[str, Any]:
    """Return one node with all its fields and its live edges; with ``history``, the past of both.

    Raises:
        LoreError: there is no such node.
    """
    node = store.nodes.get(id)
    if id.startswith(COMMIT_IDS):
        commit = commit_shown(store, id)
        if node is None and commit is not None:
            return commit
    node = node or store.nodes.require(id)
    fields = node.to_dict()
    del fields["stamps"]
    fields["tags"] = list(node.tags)
    fields["data"] = Raw(node.data)
    with store.graph_faults:
        linked = store.edges.of(id, forgotten=history)
    titles = store.nodes.briefs([_other_end(edge, id) for edge in linked])
    fields |= _anchors(store, id, history=history)
    fields["edges"] = [
        _edge(edge, id, titles.get(_other_end(edge, id), ("", None))[1])
        | ({"history": _history(store, edge)} if history else {})
        for edge in linked
    ]
    if history:
        from .undo import history_rows

        fields["history"] = history_rows(store, node)
    return fields


def _anchors(store: Store, id: str, *, history: bool) -> dict[str, Any]:
    fields: dict[str, Any] = {"verdict": None, "anchors": []}
    if store.nodes.anchored([id]):
        from ..anchors.show import anchor_row, worst

        anchors = store.anchors.of(id)
        fields["verdict"] = worst([anchor.verdict for anchor in anchors])
        fields["anchors"] = [anchor_row(anchor) for anchor in anchors]
    if history:
        fields["anchor_history"] = [
            state for anchor in store.anchors.of(id, gone=True)
            for state in _anchor_history(store, anchor)
        ]  # fmt: skip
    return fields


def _anchor_history(store: Store, anchor: Anchor) -> Iterator[dict[str, Any]]:
    """Yield the states that an anchor has left, each with what became of it."""
    left = store.changes.of(anchor)
    states = [*(past.row for past in left), anchor]
    for past, after in zip(left, states[1:], strict=True):
        if past.row.gone_at is None:
            gone = "relocated" if after.reason == MOVED else "removed"
            yield {
                "kind": anchor.kind, "path": anchor.path, "detail": anchor.detail,
                "verdict": past.row.verdict, "reason": past.row.reason,
                "change": gone if after.gone_at else "judged", "changed_at": past.changed_at,
            }  # fmt: skip


def _other_end(edge: Edge, id: str) -> str:
    return edge.to_id if edge.from_id == id else edge.from_id


def _edge(edge: Edge, id: str, title: str | None) -> dict[str, Any]:
    return {
        "direction": "out" if edge.from_id == id else "in",
        "relation": edge.relation,
        "id": _other_end(edge, id),
        "title": title,
        "weight": edge.weight,
        "status": edge.status,
        "source": edge.source,
        "metadata": Raw(edge.metadata),
        "created_at": edge.created_at,
        "invalidated_at": edge.invalidated_at,
    }


def _history(store: Store, edge: Edge) -> list[dict[str, Any]]:
    return [
        {
            "weight": past.row.weight, "source": past.row.source, "status": past.row.status,
            "metadata": Raw(past.row.metadata), "invalidated_at": past.row.ended_at,
            "change": past.change, "changed_at": past.changed_at,
        }
        for past in store.changes.of(edge)
    ]  # fmt: skip


def commit_shown(store: Store, id: str) -> dict[str, Any] | None:
    """Return the fields of a node, with the files that it changed as edges; None where it is not
    kept."""
    if not store.commits.is_there():
        return None
    commit = store.commits.get(id)
    if commit is None:
        return None
    from ..system.git import commit_node

    node = commit_node(*commit)
    paths = store.commits.changed([id]).get(id, [])
    fields = node.to_dict()
    del fields["stamps"]
    fields |= {"tags": [], "data": Raw(node.data), "verdict": None, "anchors": []}
    fields["edges"] = [
        {
            "direction": "out", "relation": CHANGES, "id": file_id(path), "title": path,
            "weight": round(1 / sqrt(len(paths)), 4), "status": "confirmed", "source": "system",
            "metadata": Raw("{}"), "created_at": node.created_at, "invalidated_at": None,
        }
        for path in paths
    ]  # fmt: skip
    return fields


def count_accesses(store: Store, settings: Settings, ids: Sequence[str]) -> list[str]:
    """Count one read of each node. Return a note for each staged record that this confirmed.

    Never fails, never waits: a store that is busy or cannot be written counts nothing. Call it
    when the output is out.
    """
    try:
        with store.faults:
            return _count(store, settings, list(dict.fromkeys(ids)))
    except LoreError:
        return []


def _count(store: Store, settings: Settings, ids: list[str]) -> list[str]:
    if not ids or not store.writable:
        return []
    with store.aside():
        store.review.count_access(ids, now())
        promoted = promote(store, settings, ids)
    return [f"confirmed, since it is read often: {what}" for what in promoted]
