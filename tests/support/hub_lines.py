"""Lines of an export, as a client sends them to a hub: [order_key, line]."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

AT = "2026-01-31T12:00:00Z"


def note(id: str, at: str = AT, kind: str = "id", **fields: Any) -> list[str]:
    """Return the line of a node, or of a former state (``kind="state_of"``)."""
    left = {} if kind == "id" else {"stamp": f"{at} 0123456789"}
    said = {kind: id, "type": id.partition("-")[0], "title": id, "created_at": AT,
            "updated_at": at, **left, **fields}  # fmt: skip
    return sent(at, said)


def edge(from_id: str, relation: str, to_id: str, at: str = AT, **fields: Any) -> list[str]:
    said = {"from_id": from_id, "to_id": to_id, "relation": relation, "created_at": at, **fields}
    return sent(at, said)


def purged(id: str, at: str) -> list[str]:
    return sent(at, {"purged": id, "at": at})


def relation(name: str) -> list[str]:
    return sent(AT, {"declare_relation": name, "weight": 0.5})


def sent(at: str, said: object) -> list[str]:
    """Return ``[order key, line]`` of an object; ``at`` is the clock of the line."""
    line = json.dumps(said)
    return [f"{at} {sha256(line.encode()).hexdigest()}", line]
