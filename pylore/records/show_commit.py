"""A commit of the history, as ``show`` says of a node what is known of it."""

from __future__ import annotations

from math import sqrt

from ..core.vocabulary import CHANGES, file_id
from ..system.git import commit_node
from ..system.json_encode import Raw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..store import Store


def commit_shown(store: Store, id: str) -> dict[str, Any] | None:
    """Return the fields of a node, with the files that it changed as edges; None where it is not
    kept."""
    if not store.commits.is_there():
        return None
    commit = store.commits.get(id)
    if commit is None:
        return None
    node = commit_node(*commit)
    paths = store.commits.changed([id]).get(id, [])
    fields = node.to_dict()
    del fields["changed_at"]
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
