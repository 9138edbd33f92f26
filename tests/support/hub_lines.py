"""Lines of an export, as a client sends them to a hub: with what they are beside them."""

from __future__ import annotations

import json
from typing import Any

from pylore.core.scopes import whose

AT = "2026-01-31T12:00:00Z"


def note(id: str, at: str = AT, kind: str = "node", **fields: Any) -> dict[str, str]:
    """A node, or (``state``) a state that one has left."""
    first = "id" if kind == "node" else "state_of"
    said = {first: id, "type": "note", "title": id, "created_at": AT, "updated_at": at, **fields}
    return sent(kind, id, id, at, said)


def edge(from_id: str, relation: str, to_id: str, at: str = AT, **fields: Any) -> dict[str, str]:
    said = {"from_id": from_id, "to_id": to_id, "relation": relation, "created_at": at, **fields}
    return sent("edge", from_id, f"{from_id}\x1f{to_id}\x1f{relation}", at, said)


def purged(id: str, at: str) -> dict[str, str]:
    return sent("purged", id, id, at, {"purged": id, "at": at})


def relation(name: str) -> dict[str, str]:
    return sent("relation", name, name, AT, {"declare_relation": name, "weight": 0.5})


def sent(kind: str, owner: str, key: str, at: str, said: dict[str, Any]) -> dict[str, str]:
    """A line of any kind; ``at`` is its clock."""
    return {"kind": kind, "owner": owner, "scope": whose(*key.split("\x1f")), "key": key,
            "order": f"{at} of this test", "line": json.dumps(said)}  # fmt: skip
