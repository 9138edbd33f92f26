"""The lines of an import under a scope: ids of common records stay, others become the scope's."""

from __future__ import annotations

from ..core.errors import LoreError
from ..core.ids import is_seen, own
from ..graph.relations import fold
from .lines import edge_key_from, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..store import Store
    from .lines import Fields

_OF_NODES = ("id", "state_of", "anchor_of", "anchor_history_of", "purged")


def scoped(store: Store, fields: Fields) -> list[Fields]:
    """Return a line as lines of the store's scope; empty for a line about a common record, which
    cannot be changed under a scope.

    Raises:
        LoreError: it belongs to another scope.
    """
    if "from_id" in fields or "history_of" in fields:
        return _edge(store, fields)
    for name in _OF_NODES:
        if name in fields:
            id = text(fields, name)
            named = _id(store, id)
            return [] if named == id != own(id, store.scope) else [{**fields, name: named}]
    if "declare_type" in fields:
        return [] if text(fields, "declare_type") in store.types.all() else [fields]
    if "declare_relation" in fields:
        name = _required(store, text(fields, "declare_relation"))
        if name in store.relations.all():
            return []
        return [{**fields, "declare_relation": own(name, store.scope)}]
    return [fields]


def _edge(store: Store, fields: Fields) -> list[Fields]:
    from_id, to_id, name = edge_key_from(fields)
    ends, relation = [_id(store, from_id), _id(store, to_id)], fold(_required(store, name))
    known, named = store.relations.all(), own(relation, store.scope)
    is_own = any(end == own(end, store.scope) for end in ends)
    is_common = not is_own and relation != named and "from_id" in fields
    if is_common and store.edges.get(ends[0], ends[1], relation):
        return []
    lines: list[Fields] = []
    if not is_own or relation not in known:
        if relation in known and named not in known:
            weight, backward, _ = known[relation]
            lines = [{"declare_relation": named, "weight": weight, "backward_weight": backward,
                      "description": "declared"}]  # fmt: skip
        relation = named
    if "history_of" in fields:
        return [*lines, {**fields, "history_of": [*ends, relation]}]
    return [*lines, {**fields, "from_id": ends[0], "to_id": ends[1], "relation": relation}]


def _id(store: Store, id: str) -> str:
    """Return the id of a node in the store: unchanged if there is a common node."""
    named = own(_required(store, id), store.scope)
    return id if store.nodes.get(id) is not None else named


def _required(store: Store, name: str) -> str:
    if not is_seen(name, store.scope):
        raise LoreError(f"'{name}' belongs to another scope: import it under that one, or under "
                        "none")  # fmt: skip
    return name
