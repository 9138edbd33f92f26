"""Order the states of a node or an edge, the same way on every machine.

A state's clock is the latest of its times (a hybrid logical clock: whatever changes a
state sets a time past the one before, so a state never beats one that it was made from).
Equal clocks are distinguished by what the states say, so the order is total: merging takes
the later one, and all stores that have seen the same states agree.
See Kulkarni et al., Logical Physical Clocks (2014).
"""

from __future__ import annotations

from copy import copy

from .ids import sha256
from .json import dumps
from .model import Edge, Node
from .times import following, just_after, later
from .vocabulary import CODE_TYPES, STATUSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import TypeVar


if TYPE_CHECKING:
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


if TYPE_CHECKING:
    State = TypeVar("State", Node, Edge)
    Left = tuple[str, str]
    """(the clock of the state after it, the command by which it was left)"""


def outcome(
    ours: Node, known_here: Collection[str], theirs: Node, known_there: Collection[str]
) -> str:
    """Return what two states of a node are to each other: ``same``, ``newer``, ``older``,
    ``conflict``.

    ``newer``: theirs was made from ours; ``older``: ours from theirs. ``known_…`` are names of
    states that each side has been in (``states.latest``).
    """
    if same(ours, theirs) or (is_indexed(ours) and is_indexed(theirs)):
        return "same"
    if descends(state_name(ours), known_there):
        return "newer"
    return "older" if descends(state_name(theirs), known_here) else "conflict"


def is_later(one: State, other: State) -> bool:
    """Return whether one state stands where both are known."""
    return order(one) > order(other)


def joined(winner: State, loser: State) -> State:
    """Return the state that stands, with what no state alone says: since when it is, and
    accesses."""
    at, state = clock(winner), copy(winner)
    state.created_at = min(winner.created_at or loser.created_at,
                           loser.created_at or winner.created_at)  # fmt: skip
    state.access_count = max(winner.access_count, loser.access_count)
    state.accessed_at = max(winner.accessed_at or "", loser.accessed_at or "") or None
    set_clock(state, at)
    return state


def stands_again(edge: Edge, *ends: Iterable[str]) -> Edge | None:
    """Return the state of an edge that was ended with one of its ends, if that one has lived later.

    ``ends`` are names of states of each end. The state is made of the ended one alone and
    comes right after it, so it is the same wherever it is made; whatever else was made after
    the ended one takes its place.
    """
    at = edge.invalidated_at
    if at is None or at != clock(edge) or not is_kept(edge):
        return None
    if not any(lived_after(names, at) for names in ends):
        return None
    again = copy(edge)
    again.invalidated_at = None
    set_clock(again, just_after(at))
    return again


def is_gone(at: str, ended: object, purged: str) -> bool:
    """Return whether a state of an edge with the clock ``at`` goes with an end that was ``purged``.

    What ended at that very time goes, and with it the state that ``stands_again`` makes of it,
    so that it does not count whether that one had been made before the purge was heard of.

    >>> is_gone("2026-01-31", True, "2026-01-31"), is_gone("2026-02-01", False, "2026-01-31")
    (True, False)
    """
    return at <= purged or bool(purged and not ended and at == just_after(purged))


def told(state: State, purged: str = "") -> State:
    """Return a state as it is told to others: one form for one state.

    What was deleted for good (at ``purged``) and is there again was made after that, even
    within the same second; how often it was read stays untold, since that may count both.
    """
    at = clock(state)
    if purged and at <= purged:
        at = following(purged)
    if purged and state.created_at <= purged:
        state.created_at = min(following(purged), at)
    if purged:
        state.access_count, state.accessed_at = 0, None
    set_clock(state, at)
    return state


def left(changed_at: str, change: str) -> Left:
    """Return when and how a state was left; of two accounts of it the lesser one is kept."""
    return changed_at, "import" if change == "sync" else change


def is_indexed(node: Node) -> bool:
    """Return whether the index of code made this state: it has the repository's own history."""
    return node.source == "file" and node.type in CODE_TYPES


def is_kept(state: Node | Edge) -> bool:
    """Return whether a state that another one takes the place of goes into the history."""
    return not is_indexed(state) if isinstance(state, Node) else state.source != "system"


def greater(theirs: object, ours: object, default: object) -> bool:
    """Return whether their declaration of a type or a relation takes the place of ours.

    One that differs from lore's own ranks above that, and else the greater one.
    """
    return (theirs != default, theirs) > (ours != default, ours)
