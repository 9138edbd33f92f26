"""Order the states of a node or an edge, the same way on every machine.

A state's clock is the latest of its times (a hybrid logical clock: whatever changes a
state sets a time past the one before, so a state never beats one that it was made from).
Equal clocks are distinguished by what the states say, so the order is total: merging takes
the later one, and all stores that have seen the same states agree. Links are merged so, whole;
of records each field is (``stamps``). See Kulkarni et al., Logical Physical Clocks (2014).
"""

from __future__ import annotations

from .ids import sha256
from .json import dumps
from .model import Edge, Node
from .times import later
from .vocabulary import CODE_TYPES, STATUSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    State = TypeVar("State", Node, Edge)
    Order = tuple[str, str, int, str, str]
    """(clock, when it was forgotten, rank of its status, hash of what it says, when it was made)"""

NODE_STATE = (
    "title", "body", "status", "source", "confidence", "category", "tags", "file", "line_start",
    "line_end", "data", "updated_at", "invalidated_at",
)  # fmt: skip
"""Fields in which states of a node differ; ``updated_at`` alone makes no other state."""

EDGE_STATE = ("weight", "source", "status", "metadata", "ended_at")
"""Fields in which states of an edge differ."""

_HASH_DIGITS = 10


def clock(state: Node | Edge) -> str:
    """Return the latest of the times of a state.

    >>> clock(Node("note-1", "note", updated_at="2026-01-31", invalidated_at="2026-02-01"))
    '2026-02-01'
    """
    made, ended = state.created_at, _ended(state)
    if isinstance(state, Node):
        made = state.updated_at
    return max(made, state.changed_at or "", ended or "")


def _ended(state: Node | Edge) -> str | None:
    """Return when a state was ended by somebody: a link is out with each of its ends, too."""
    return state.invalidated_at if isinstance(state, Node) else state.ended_at


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
    made = state.updated_at if isinstance(state, Node) else state.created_at
    return clock(state), _ended(state) or "", rank, _hash(state), made


def count_reads(state: Node | Edge, *others: Node | Edge) -> None:
    """Let a state have been read as often, and as lately, as the one of these that was most."""
    state.access_count = max(one.access_count for one in others)
    state.accessed_at = max(one.accessed_at or "" for one in others) or None


def count_no_reads(state: Node | Edge) -> None:
    """Take away how often a state was read: nobody knows how often that was before a purge."""
    state.accessed_at, state.access_count = None, 0


def same(one: Node | Edge, other: Node | Edge) -> bool:
    """Return whether two states say the same, whenever they were made."""
    gone = (_ended(one) is None, _ended(other) is None)
    return gone[0] == gone[1] and _hash(one) == _hash(other)


def state_name(node: Node) -> str:
    """Return the stamp of a record that nobody has changed: its clock, and the beginning of a hash
    of what it says.

    >>> state_name(Node("note-1", "note", body="a", updated_at="2026-01-31T12:00:00Z"))
    '2026-01-31T12:00:00Z 214600e710'
    """
    return f"{clock(node)} {_hash(node)[:_HASH_DIGITS]}"


def _hash(state: Node | Edge) -> str:
    names = NODE_STATE if isinstance(state, Node) else EDGE_STATE
    fields = [
        _canonical(getattr(state, name)) if name in ("data", "metadata")
        else sorted(state.tags) if name == "tags" and isinstance(state, Node)
        else getattr(state, name)
        for name in names
        if name not in ("updated_at", "invalidated_at", "ended_at")
    ]  # fmt: skip
    return sha256(dumps(fields).encode("utf-8", "replace")).hexdigest()


def _canonical(text: str) -> str:
    if text == "{}":
        return text
    import json

    try:
        return json.dumps(json.loads(text), sort_keys=True, ensure_ascii=False)
    except ValueError:
        return text


def is_later(one: State, other: State) -> bool:
    """Return whether one state stands where both are known."""
    return order(one) > order(other)


def is_indexed(node: Node) -> bool:
    """Return whether the index of code made this state: it has the repository's own history."""
    return node.source == "file" and node.type in CODE_TYPES


def is_kept(state: Node | Edge) -> bool:
    """Return whether a state that another one takes the place of goes into the history."""
    return not is_indexed(state) if isinstance(state, Node) else state.source != "system"
