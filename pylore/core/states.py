"""Order the states of a node or an edge, the same way on every machine.

A state's clock is the latest of its times (a hybrid logical clock: whatever changes a
state sets a time past the one before, so a state never beats one that it was made from).
Equal clocks are distinguished by what the states say, so the order is total: merging takes
the later one, and all stores that have seen the same states agree.
See Kulkarni et al., Logical Physical Clocks (2014).
"""

from __future__ import annotations

from .digests import sha256
from .json_plain import dumps
from .model import Node
from .times import later
from .vocabulary import STATUSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .model import Edge

    Order = tuple[str, str, int, str, str]
    """(clock, when it was forgotten, rank of its status, hash of what it says, when it was made)"""

NODE_STATE = (
    "title", "body", "status", "source", "confidence", "category", "tags", "file", "line_start",
    "line_end", "data", "updated_at", "invalidated_at",
)  # fmt: skip
"""Fields in which states of a node differ; ``updated_at`` alone makes no other state."""

EDGE_STATE = ("weight", "source", "status", "metadata", "invalidated_at")
"""Fields in which states of an edge differ."""

ANCESTORS = 16
"""Number of former states that a node is sent with: a store that is further behind is taken to
be merely old, and not to have changed on its own."""

_HASH_DIGITS = 10

_FORGOTTEN = "0000"
"""Prefix of the hash in the name of a forgotten state, and of no other one."""


def clock(state: Node | Edge) -> str:
    """Return the latest of the times of a state.

    >>> clock(Node("note-1", "note", updated_at="2026-01-31", invalidated_at="2026-02-01"))
    '2026-02-01'
    """
    made = state.updated_at if isinstance(state, Node) else state.created_at
    return max(made, state.changed_at or "", state.invalidated_at or "")


def set_clock(state: Node | Edge, at: str) -> None:
    """Give a state this clock; ``changed_at`` stays empty where another time says it."""
    state.changed_at = None
    state.changed_at = at if clock(state) < at else None


def next_clock(before: str, at: str) -> str:
    """Return the clock of a state that is made at this time out of one with the clock ``before``.

    >>> next_clock("2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z")
    '2026-01-31T12:00:01Z'
    """
    return at if at > before else later(before)


def order(state: Node | Edge) -> Order:
    """Return the order of a state: of two, the greater one is current."""
    rank = STATUSES.index(state.status) if state.status in STATUSES else -1
    made = state.updated_at if isinstance(state, Node) else ""
    return clock(state), state.invalidated_at or "", rank, _hash(state), made


def same(one: Node | Edge, other: Node | Edge) -> bool:
    """Return whether two states say the same, whenever they were made."""
    gone = (one.invalidated_at is None, other.invalidated_at is None)
    return gone[0] == gone[1] and _hash(one) == _hash(other)


def state_name(node: Node) -> str:
    """Return a name for a state of a node: its clock, and the beginning of a hash.

    The hash of a forgotten one begins with ``0000``, and so it can be told from its name.

    >>> state_name(Node("note-1", "note", body="a", updated_at="2026-01-31T12:00:00Z"))
    '2026-01-31T12:00:00Z 7bcd922640'
    """
    digits = _hash(node)
    if node.invalidated_at is not None:
        digits = _FORGOTTEN + digits
    elif digits.startswith(_FORGOTTEN):
        digits = "1" + digits[1:]
    return f"{clock(node)} {digits[:_HASH_DIGITS]}"


def lived_after(names: Iterable[str], at: str) -> bool:
    """Return whether a node with states of these names was forgotten at this time, and lived later.

    >>> lived_after(["2026-01-01T00:00:00Z 0000123456", "2026-01-02T00:00:00Z 5b8d4b947a"],
    ...             "2026-01-01T00:00:00Z")
    True
    """
    was_forgotten = lives = False
    for name in names:
        made, _, digits = name.partition(" ")
        if digits.startswith(_FORGOTTEN):
            was_forgotten = was_forgotten or made == at
        else:
            lives = lives or made > at
    return was_forgotten and lives


def latest(names: Iterable[str]) -> list[str]:
    """Return those of the names of states that a node is told with, the latest last."""
    return sorted(set(names))[-ANCESTORS:]


def descends(name: str, ancestors: Iterable[str]) -> bool:
    """Return whether a state comes after the one of this name, as far as its ancestors tell."""
    known = sorted(ancestors)
    return name in known or (len(known) >= ANCESTORS and name < known[0])


def _hash(state: Node | Edge) -> str:
    names = NODE_STATE if isinstance(state, Node) else EDGE_STATE
    fields = [
        _canonical(getattr(state, name)) if name in ("data", "metadata") else getattr(state, name)
        for name in names
        if name not in ("updated_at", "invalidated_at")
    ]
    return sha256(dumps(fields).encode("utf-8", "replace")).hexdigest()


def _canonical(text: str) -> str:
    if text == "{}":
        return text
    import json

    try:
        return json.dumps(json.loads(text), sort_keys=True, ensure_ascii=False)
    except ValueError:
        return text
