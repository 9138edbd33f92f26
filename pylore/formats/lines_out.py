"""A store as JSON lines: what ``formats/jsonl.py`` reads.

A line says what differs from a default, its keys in one order, those of ``data`` and
``metadata`` sorted: the same knowledge is the same bytes, whichever store tells it.
"""

from __future__ import annotations

import json

from ..core.model import Edge, Node
from ..core.states import NODE_STATE, clock
from ..core.vocabulary import RELATIONS, TYPES
from ..records.canonical import KEY, told_edges, told_nodes, told_past, told_past_edges, withheld
from ..system.json_encode import harmless
from .lines_in import anchor_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

    from ..core.model import Past
    from ..store import Store

NODE_DEFAULTS: dict[str, Any] = {
    "title": "", "body": "", "status": "confirmed", "source": "user_edit", "confidence": 1.0,
    "category": None, "tags": [], "file": None, "line_start": None, "line_end": None, "data": {},
    "accessed_at": None, "access_count": 0, "invalidated_at": None, "changed_at": None,
}  # fmt: skip
EDGE_DEFAULTS: dict[str, Any] = {
    "source": "user_edit", "status": "confirmed", "metadata": {}, "accessed_at": None,
    "access_count": 0, "invalidated_at": None, "changed_at": None,
}  # fmt: skip

READS = ("accessed_at", "access_count")
"""The fields that say who has read it, which no state of a record or a link is told by."""


def export_lines(
    store: Store, types: Collection[str] = (), *, history: bool = True, shared: bool = False
) -> Iterator[str]:
    """Yield everything in the store as JSON lines, sorted: the same knowledge, the same lines.

    With ``types``, the nodes of these alone, with their anchors and all of their edges;
    without ``history``, what is now and not what was. ``shared``: as others are told, without
    what was forgotten here because they want it deleted for good.
    """
    left_out = withheld(store) if shared else frozenset()
    purged = store.history.purged()
    for id, at in store.history.proposed_purges().items():
        purged[id] = max(at, purged.get(id, ""))

    def kept(*ids: object) -> bool:
        if not left_out.isdisjoint(ids):
            return False
        return not types or any(str(id).partition("-")[0] in types for id in ids)

    for declared in declarations(store):
        yield line_of(declared)
    for id, at in sorted(purged.items()):
        if not types or id.partition("-")[0] in types:
            yield line_of({"purged": id, "at": at})
    for node, was in told_nodes(store):
        if kept(node.id):
            yield line_of(node_fields(node, was))
    for edge in told_edges(store):
        if kept(edge.from_id, edge.to_id):
            yield line_of(edge_fields(edge))
    if history:
        yield from (line_of(past_fields(past)) for past in told_past(store) if kept(past.node.id))
        for state in told_past_edges(store):
            if kept(state["from_id"], state["to_id"]):
                yield line_of(past_edge_fields(state))
    for fields in anchor_lines(store, history=history):
        if kept(fields.get("anchor_of") or fields.get("anchor_history_of")):
            yield line_of(fields)


def declarations(store: Store) -> Iterator[dict[str, Any]]:
    """Yield the types and relations that a store has otherwise than every store, as fields of a
    line."""
    for name, text in store.types.all().items():
        if TYPES.get(name) != text:
            yield {"declare_type": name, "description": text}
    for name, (weight, backward, text) in store.relations.all().items():
        if RELATIONS.get(name) != (weight, backward, text):
            weights = {"weight": weight, "backward_weight": backward}
            yield {"declare_relation": name, **weights, "description": text}


def node_fields(node: Node, was: list[str]) -> dict[str, Any]:
    """Return a node as a line has it; ``was`` names the states before it."""
    fields = _without_defaults(_plain(node.to_dict()), NODE_DEFAULTS)
    return {**fields, "was": was} if was else fields


def edge_fields(edge: Edge) -> dict[str, Any]:
    """Return an edge as a line has it."""
    return _without_defaults(_plain(edge.to_dict()), EDGE_DEFAULTS)


def past_fields(past: Past) -> dict[str, Any]:
    """Return a state that a node has left; ``made_at`` is its clock."""
    node = past.node
    state = _without_defaults(
        _plain({name: getattr(node, name) for name in NODE_STATE}), NODE_DEFAULTS
    )
    left = {"made_at": clock(node), "change": past.change, "changed_at": past.changed_at}
    return {"state_of": node.id, **state, **left}


def past_edge_fields(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state that an edge has left; ``made_at`` is left out where it is not known."""
    fields = _plain(state)
    key = [fields.pop(name) for name in KEY]
    if not fields["made_at"]:
        del fields["made_at"]
    return {"history_of": key, **fields}


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    fields = dict(fields)
    if "tags" in fields:
        fields["tags"] = list(fields["tags"])
    for name in ("data", "metadata"):
        text = fields.get(name, "{}")
        if text != "{}":
            fields[name] = json.loads(json.dumps(json.loads(text), sort_keys=True))
        elif name in fields:
            fields[name] = {}
    return fields


def _without_defaults(fields: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in fields.items()
        if name not in defaults or value != defaults[name]
    }


def line_of(fields: dict[str, Any]) -> str:
    """Return one line, with nothing in it that a terminal obeys."""
    return harmless(json.dumps(fields, ensure_ascii=False)) + "\n"
